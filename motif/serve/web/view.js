// Parts of views: the frame around a board, lists of games, and retries.

import { remove } from "./api.js";
import { tried, undoable } from "./dialog.js";
import { button, fault, h, said, show } from "./dom.js";
import { t } from "./texts.js";
import { wait } from "./visit.js";

/** Returns what `work` does, retried while the server is away; `refused(error)` gets refusals. */
export async function retried(place, work, refused = (error) => show(place, fault(said(error)))) {
  do {
    try {
      return await work();
    } catch (error) {
      if (error.status === undefined) throw error;
      if (error.status) return refused(error);
      show(place, fault(t("server retry")));
      await wait();
    }
  } while (place.isConnected);
  return null;
}

/** Does `work` of a `pressed` button once at a time; shows in `told` why it fails. */
export async function once(pressed, told, work) {
  pressed.disabled = true;
  await work().catch((error) => show(told, said(error)));
  pressed.disabled = false;
}

/** Shows a `board` between its players, with messages and actions below, and a panel. */
export function frame(view, title, board, kind = "", panelName = title) {
  const parts = {
    notice: h("div", { class: "notice", "aria-live": "assertive" }),
    otherBar: h("div", { class: "side-bar opponent" }), ownBar: h("div", { class: "side-bar own" }),
    last: h("p", { class: "last", id: "last" }), message: h("p", { class: "message", id: "message" }),
    actions: h("div", { class: "actions", role: "group", "aria-label": t("actions") }),
    panel: h("div", { class: "panel", tabindex: 0, role: "region", "aria-label": panelName }),
  };
  const { notice, otherBar, ownBar, last, message, actions, panel } = parts;
  parts.table = h("section", { class: `table ${kind}`, "aria-label": t("table") }, otherBar, board.element, ownBar, last, message, actions);
  show(view, h("h1", { class: "unseen" }, title), notice, h("div", { class: `game ${kind}` }, parts.table, panel));
  return parts;
}

export function player(bar, isLight, name, { pips, off, score, tag } = {}) {
  show(bar, h("span", { class: `chip ${isLight ? "light" : "dark"}`, "aria-hidden": "true" }), h("strong", name), pips !== undefined && h("span", t("pips", { count: pips })),
    off > 0 && h("span", t("off", { count: off })), score && h("span", { class: "score" }, score), tag && h("span", { class: "tag" }, tag));
}

/** Paths of what is deleted, unless that is undone. */
export const deleted = new Set();

/** Deletes what is at `path` unless that is `undone` or `failed`. */
export function forget(path, name, undone, failed = undone) {
  const back = (then) => then(deleted.delete(path));
  deleted.add(path);
  undoable(t("deleted", { name }), async () => await tried(() => remove(path)) || back(failed), () => back(undone));
}

/** A list of {href, words, more, path}. */
export function keptList(kept) {
  return h("ul", { class: "kept" }, kept.filter(({ path }) => !deleted.has(path)).map(({ href, words, more, path }) => {
    const line = h("li", h("a", { href }, words, h("small", more)),
      button(t("delete"), () => {
        line.hidden = true;
        forget(path, words, () => { line.hidden = false; });
      }, { small: true, "aria-label": t("delete this", { name: words }) }));
    return line;
  }));
}

export function when(seconds) {
  const { lang } = document.documentElement;
  return new Date(1000 * seconds).toLocaleString(navigator.languages.find((tag) => tag.startsWith(lang)) ?? lang, { dateStyle: "medium", timeStyle: "short" });
}
