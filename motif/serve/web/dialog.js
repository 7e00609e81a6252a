// Dialogs, and short messages that can be undone.

import { announce, h } from "./dom.js";
import { t } from "./texts.js";

const TIME_TO_UNDO = 7000;

/** Shows a dialog with a heading; it is gone when it is closed. */
export function dialog(title, ...content) {
  const close = h("button", { type: "button", class: "close", "aria-label": t("close"), onclick: () => shown.close() }, "\u00d7");
  const shown = h("dialog", { "aria-label": title, onclose: () => shown.remove() },
    h("div", { class: "dialog-head" }, h("h2", {}, title), close), ...content);
  shown.addEventListener("click", (event) => {
    if (event.target === shown) shown.close();
  });
  document.body.append(shown);
  shown.showModal();
  return shown;
}

/** Asks before something that cannot be undone; resolves to whether it is to be done. */
export function confirmed(question, yes) {
  return new Promise((answer) => {
    let sure = false;
    const shown = dialog(question, h("div", { class: "buttons" },
      h("button", { type: "button", class: "primary", id: "yes", onclick: () => { sure = true; shown.close(); } }, yes),
      h("button", { type: "button", onclick: () => shown.close() }, t("cancel"))));
    shown.addEventListener("close", () => answer(sure));
  });
}

let waiting = null;

/** Says what is being done, which happens when the reader has not undone it in time. */
export function undoable(words, act, undone = () => {}) {
  waiting?.();
  const toast = h("div", { class: "toast", role: "status" }, h("span", {}, words),
    h("button", { type: "button", class: "small", id: "undo-delete", onclick: () => { settle(false); undone(); } }, t("undo")));
  const settle = (done) => {
    if (waiting !== finish) return;
    waiting = null;
    clearTimeout(timer);
    toast.remove();
    if (done) act();
  };
  const finish = () => settle(true);
  const timer = setTimeout(finish, TIME_TO_UNDO);
  waiting = finish;
  document.body.append(toast);
  announce(words);
}

addEventListener("pagehide", () => waiting?.());

/** A message that goes by itself. */
export function say(words) {
  const toast = h("div", { class: "toast", role: "status" }, words);
  document.body.append(toast);
  setTimeout(() => toast.remove(), TIME_TO_UNDO / 2);
}
