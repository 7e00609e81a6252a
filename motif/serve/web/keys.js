// Keyboard shortcuts that work wherever the focus is.

import { showHelp } from "./help.js";

let handler = null;

/** Sets the handler of keys, which returns whether it used one. */
export function useKeys(handle) {
  handler = handle;
}

function isTyping(target) {
  return target.closest("textarea, select, input:not([type=checkbox], [type=radio])");
}

addEventListener("keydown", (event) => {
  const { key, target } = event, control = event.ctrlKey || event.metaKey;
  if (document.querySelector("dialog[open]") || event.defaultPrevented || isTyping(target)) return;
  const undo = control && key.toLowerCase() === "z";
  if (!undo && (control || event.altKey)) return;
  const presses = key === "Enter" || key === " ";
  if (event.repeat && !key.startsWith("Arrow")) { // held down, a key presses once
    if (presses && handler) event.preventDefault();
    return;
  }
  if (key === "?") {
    event.preventDefault();
    showHelp();
    return;
  }
  if (presses && target.closest("button, a, summary, input, [role=button]")) return;
  if (handler?.(undo ? "ctrl-z" : key.length === 1 ? key.toLowerCase() : key)) event.preventDefault();
});
