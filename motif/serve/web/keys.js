// Keyboard shortcuts that work wherever the focus is.

import { showHelp } from "./help.js";

let handler = null;

/** Sets the view's handler of keys; it returns whether it used the key. */
export function useKeys(handle) {
  handler = handle;
}

function isTyping(target) {
  return target.closest("textarea, select, input:not([type=checkbox], [type=radio])");
}

addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || event.defaultPrevented || isTyping(event.target)) return;
  const undo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
  if (!undo && (event.ctrlKey || event.metaKey || event.altKey)) return;
  if (event.key === "?") {
    event.preventDefault();
    showHelp();
    return;
  }
  const presses = event.key === "Enter" || event.key === " ";
  if (presses && event.repeat && handler) { // held down, they press once
    event.preventDefault();
    return;
  }
  if (presses && event.target.closest("button, a, summary, input, [role=button]")) return;
  const key = undo ? "ctrl-z" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (handler?.(key)) event.preventDefault();
});
