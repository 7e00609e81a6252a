// The page: its views by address.

import { button, fault, h, show } from "./dom.js";
import { showHelp } from "./help.js";
import { useKeys } from "./keys.js";
import { apply } from "./preferences.js";
import { showSettings } from "./settings.js";
import { loadTexts, t } from "./texts.js";
import { leave, still } from "./visit.js";

/** The module of each view, which exports `open(view, rest)`. */
const VIEWS = { play: "start", position: "setup", analyse: "analyse", learn: "learn", from: "practice", history: "history" };
const SHOWN = ["play", "position", "analyse", "learn", "history"];

function route() {
  const [, name = "", rest = ""] = /^#\/([a-z]*)\/?(.*)$/.exec(location.hash) ?? [];
  if (name === "start") localStorage.removeItem("motif-game");
  try {
    return [name in VIEWS ? name : "play", decodeURIComponent(rest)];
  } catch {
    return ["play", ""];
  }
}

async function open(focus = true) {
  const [name, rest] = route();
  leave();
  document.querySelector("dialog[open]")?.close();
  showHead(name);
  document.title = `${t(`view ${name}`)} – motif`;
  const view = h("main", { id: "view", tabindex: -1, class: `view-${name}` });
  document.getElementById("view").replaceWith(view);
  useKeys(null);
  try {
    await (await still(import(`./${VIEWS[name]}.js`))).open(view, rest);
  } catch (error) {
    if (!/module|import/i.test(error.message)) throw error;
    show(view, fault(t("fault away")), button(t("try now"), () => location.reload()));
  }
  if (focus && view.isConnected && document.activeElement === document.body) view.focus({ preventScroll: true });
}

/** Opens the view in another language, with what was typed. */
async function openAgain() {
  const typed = document.querySelectorAll("#view :is(input:not([type=file]), select, textarea)[id]");
  await open(false);
  for (const { id, value, checked } of typed) {
    const found = document.getElementById(id);
    if (!found || (found.value === value && found.checked === checked)) continue;
    Object.assign(found, { value, checked });
    found.dispatchEvent(new Event("change"));
  }
}

function showHead(name) {
  const views = document.getElementById("views");
  show(views, SHOWN.map((one) => h("a", { href: `#/${one}`, "aria-current": one === name ? "page" : null }, t(`view ${one}`))));
  const icon = (id, sign, words, act) => button(sign, act, { class: "icon", id, "aria-label": words, title: words });
  show(document.getElementById("look"), icon("help", "?", t("help and keys"), showHelp), icon("settings", "\u2699\ufe0e", t("settings"), showSettings));
}

apply();
await loadTexts();
addEventListener("hashchange", () => open());
addEventListener("language", openAgain);
await open(false);
if ("serviceWorker" in navigator) navigator.serviceWorker.register("sw.js").catch(() => {});
