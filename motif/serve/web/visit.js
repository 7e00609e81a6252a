// What a view waits for never comes once it has been left.

let visit = 0;

export function leave() {
  visit += 1;
}

/** Tells whether the view of this moment is still shown. */
export function here() {
  const now = visit;
  return () => now === visit;
}

export async function still(promise) {
  const isHere = here();
  try {
    return await promise;
  } finally {
    if (!isHere()) await new Promise(() => {});
  }
}

/** Waits, by default before another try. */
export function wait(time = 1500) {
  return still(new Promise((done) => { setTimeout(done, time); }));
}
