// Visits of views: what a view waits for ends when it is left.

let visit = 0;

export function leave() {
  visit += 1;
}

/** Whether the view of this moment is still shown, whenever asked. */
export function here() {
  const now = visit;
  return () => now === visit;
}

/** What `promise` brings, to a view that is still shown; one that has been left waits for ever. */
export async function still(promise) {
  const isHere = here();
  try {
    return await promise;
  } finally {
    if (!isHere()) await new Promise(() => {});
  }
}
