// A match that one view gives to another: the text of a .mat file.

let match = null;

export function handOver(text) {
  match = text;
}

export function handedOver() {
  const text = match;
  match = null;
  return text;
}
