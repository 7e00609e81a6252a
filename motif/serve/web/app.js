// The page: its views by address.

import { button, fault, h, show } from "./dom.js";
import { useKeys } from "./keys.js";
import { apply } from "./preferences.js";
import { loadTexts, t } from "./texts.js";
import { leave, still } from "./visit.js";

const VIEWS = {
  play: ["start", "showPlay"], position: ["setup", "showSetup"], analyse: ["analyse", "showAnalyse"],
  learn: ["learn", "showLearn"], from: ["practice", "showPractice"], history: ["history", "showHistory"],
};
const SHOWN = ["play", "position", "analyse", "learn", "history"];

function route() {
  const [, name = "", rest = ""] = /^#\/([a-z]*)\/?(.*)$/.exec(location.hash) ?? [];
  if (name === "start") {
    localStorage.removeItem("motif-game");
    history.replaceState(null, "", "#/play");
  }
  try {
    return [name in VIEWS ? name : "play", decodeURIComponent(rest)];
  } catch {
    return ["play", ""];
  }
}

/** Does `work`, which imports a module; calls `failed` if the server is away. */
async function loading(work, failed) {
  try {
    await work();
  } catch (error) {
    if (!/module|import/i.test(error.message)) throw error;
    failed();
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
  const [file, shown] = VIEWS[name];
  await loading(async () => (await still(import(`./${file}.js`)))[shown](view, rest), () => show(view, fault(t("server away")), button(t("try now"), () => location.reload())));
  if (focus && view.isConnected && document.activeElement === document.body) view.focus({ preventScroll: true });
}

function showHead(name) {
  const views = document.getElementById("views");
  show(views, SHOWN.map((one) => h("a", { href: `#/${one}`, "aria-current": one === name ? "page" : null }, t(`view ${one}`))));
  const icon = (id, sign, words, act) => button(sign, act, { class: "icon", id, "aria-label": words, title: words });
  show(document.getElementById("look"), icon("help", "?", t("help and keys"), showHelp), icon("settings", "\u2699\ufe0e", t("settings"), showSettings));
}

async function unloadable() {
  (await import("./dialog.js")).say(t("server away"));
}

function showHelp() {
  return loading(async () => (await import("./help.js")).showHelp(), unloadable);
}

function showSettings() {
  return loading(async () => (await import("./settings.js")).showSettings(), unloadable);
}

apply();
await loadTexts();
addEventListener("hashchange", () => open());
addEventListener("language", () => open(false));
addEventListener("help", showHelp);
await open(false);
if ("serviceWorker" in navigator && location.protocol !== "file:") navigator.serviceWorker.register("sw.js").catch(() => {});
