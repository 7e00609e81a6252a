// The page: its views by address, its language and its look.

import { h, show } from "./dom.js";
import { useKeys } from "./keys.js";
import { apply, showPreferences } from "./preferences.js";
import { loadTexts, t } from "./texts.js";

const VIEWS = {
  play: async (view, rest) => (await import("./play.js")).showPlay(view, rest),
  position: async (view, rest) => (await import("./setup.js")).showSetup(view, rest),
  analyse: async (view, rest) => (await import("./analyse.js")).showAnalyse(view, rest),
  learn: async (view, rest) => (await import("./learn.js")).showLearn(view, rest),
  from: async (view, rest) => (await import("./practice.js")).showPractice(view, rest),
  history: async (view) => (await import("./history.js")).showHistory(view),
};
const SHOWN = ["play", "position", "analyse", "learn", "history"];
const OLD_LOOK = "motif-look";

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

let visit = 0;

async function open(focus = true) {
  const [name, rest] = route();
  const number = ++visit;
  showHead(name);
  document.title = `${t(`view ${name}`)} \u2013 motif`;
  const view = h("main", { id: "view", tabindex: -1, class: `view-${name}` });
  document.getElementById("view").replaceWith(view);
  useKeys(null);
  try {
    await VIEWS[name](view, rest);
  } catch (error) {
    // A module that cannot be loaded: the server is away.
    if (!/module|import/i.test(error.message)) throw error;
    show(view, h("p", { class: "fault", role: "alert" }, t("server away")), h("button", { type: "button", onclick: () => location.reload() }, t("try now")));
  }
  if (focus && number === visit && document.activeElement === document.body) view.focus({ preventScroll: true });
}

function showHead(name) {
  show(document.getElementById("views"), SHOWN.map((one) =>
    h("a", { href: `#/${one}`, "aria-current": one === name ? "page" : null }, t(`view ${one}`))));
  document.getElementById("views").setAttribute("aria-label", t("views"));
  const icon = (id, sign, words, act) => h("button", { type: "button", class: "icon", id, "aria-label": words, title: words, onclick: act }, sign);
  show(document.getElementById("look"), icon("help", "?", t("help and keys"), showHelp), icon("settings", "\u2699\ufe0e", t("settings"), showPreferences));
}

async function showHelp() {
  (await import("./help.js")).showHelp();
}

const oldLook = localStorage.getItem(OLD_LOOK);
if (oldLook) {
  const { prefer } = await import("./preferences.js");
  prefer("theme", oldLook);
  localStorage.removeItem(OLD_LOOK);
}
apply();
await loadTexts();
addEventListener("hashchange", () => open());
addEventListener("language", () => open(false));
addEventListener("help", () => showHelp());
await open(false);
if ("serviceWorker" in navigator && location.protocol !== "file:") navigator.serviceWorker.register("sw.js").catch(() => {});
