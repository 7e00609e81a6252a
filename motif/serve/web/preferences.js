const KEPT = "motif-preferences";
const DEFAULTS = { speed: "normal", home: "right", board: "wood", theme: "auto", sound: false, autoroll: true, autobearoff: false };

function read() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

let chosen = read();

export function preference(name) {
  return chosen[name];
}

export function prefer(name, value) {
  chosen = { ...read(), [name]: value };
  localStorage.setItem(KEPT, JSON.stringify(chosen));
  apply();
  dispatchEvent(new CustomEvent("preference", { detail: name }));
}

export function apply() {
  const { dataset } = document.documentElement;
  dataset.board = chosen.board;
  dataset.look = chosen.theme;
}
