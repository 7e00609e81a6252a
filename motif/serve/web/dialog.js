// Dialogs, and short messages with Undo.

import { announce, button, buttons, h } from "./dom.js";
import { t } from "./texts.js";

const TIME_TO_UNDO = 7000;

export function dialog(title, ...content) {
  const close = button("×", () => shown.close(), { class: "close", "aria-label": t("close") });
  const shown = h("dialog", { "aria-label": title, onclose: () => shown.remove() },
    h("div", { class: "dialog-head" }, h("h2", title), close), ...content);
  shown.addEventListener("click", (event) => {
    if (event.target === shown && !shown.querySelector("form")) shown.close();
  });
  document.body.append(shown);
  shown.showModal();
  return shown;
}

export function confirmed(question, yes) {
  return new Promise((answer) => {
    let sure = false;
    const shown = dialog(question, buttons(
      button(yes, () => { sure = true; shown.close(); }, { class: "danger", id: "yes" }), button(t("cancel"), () => shown.close())));
    shown.addEventListener("close", () => answer(sure));
  });
}

let waiting = null;

function toast(...content) {
  const shown = h("div", { class: "toast", role: "status" }, ...content);
  document.body.append(shown);
  return shown;
}

/** Shows a message, and does `act` unless Undo is pressed in time. */
export function undoable(words, act, undone) {
  waiting?.();
  const settle = (done) => {
    waiting = null;
    clearTimeout(timer);
    shown.remove();
    done();
  };
  waiting = () => settle(act);
  const timer = setTimeout(waiting, TIME_TO_UNDO);
  const shown = toast(h("span", words), button(t("undo"), () => settle(undone), { small: true, id: "undo-delete" }));
  announce(words);
}

addEventListener("pagehide", () => waiting?.());

/** Returns whether `work` succeeds, or says why not. */
export function tried(work) {
  return work().then(() => true, (error) => say(error.message));
}

export function say(words) {
  const shown = toast(words);
  setTimeout(() => shown.remove(), TIME_TO_UNDO / 2);
}
