const KEPT = "motif-preferences";
const DEFAULTS = { speed: "normal", home: "right", board: "wood", theme: "auto", sound: false, autoroll: true, autobearoff: false };

/** What is stored as `key`, completed by the `usual` values. */
export function stored(key, usual) {
  try {
    return { ...usual, ...JSON.parse(localStorage.getItem(key)) };
  } catch {
    return usual;
  }
}

let chosen = stored(KEPT, DEFAULTS);

export function preference(name) {
  return chosen[name];
}

export function prefer(name, value) {
  chosen = { ...stored(KEPT, DEFAULTS), [name]: value };
  localStorage.setItem(KEPT, JSON.stringify(chosen));
  apply();
  dispatchEvent(new Event("preference"));
}

export function apply() {
  const { dataset } = document.documentElement;
  dataset.board = chosen.board;
  dataset.look = chosen.theme;
}
