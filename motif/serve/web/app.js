// The page: its views by address, its language and its look.

import { h, show } from "./dom.js";
import { LANGUAGES, language, loadTexts, t } from "./texts.js";

const VIEWS = {
  play: async (view, rest) => (await import("./play.js")).showPlay(view, rest),
  position: async (view, rest) => (await import("./setup.js")).showSetup(view, rest),
  analyse: async (view) => (await import("./analyse.js")).showAnalyse(view),
};
const LOOK = "motif-look";

function route() {
  const [, name = "", rest = ""] = /^#\/([a-z]*)\/?(.*)$/.exec(location.hash) ?? [];
  return [name in VIEWS ? name : "play", decodeURIComponent(rest)];
}

let visit = 0;

async function open(focus = true) {
  const [name, rest] = route();
  const number = ++visit;
  showHead(name);
  document.title = `${t(`view ${name}`)} \u2013 motif`;
  const view = h("main", { id: "view", tabindex: -1, class: `view-${name}` });
  document.getElementById("view").replaceWith(view);
  await VIEWS[name](view, rest);
  if (focus && number === visit && document.activeElement === document.body) view.focus({ preventScroll: true });
}

function showHead(name) {
  show(document.getElementById("views"), Object.keys(VIEWS).map((one) =>
    h("a", { href: `#/${one}`, "aria-current": one === name ? "page" : null }, t(`view ${one}`))));
  document.getElementById("views").setAttribute("aria-label", t("views"));
  const look = localStorage.getItem(LOOK) ?? "auto";
  const looks = h("select", { id: "looks", "aria-label": t("look"), onchange: () => {
    localStorage.setItem(LOOK, looks.value);
    setLook();
  } }, ["auto", "light", "dark"].map((one) => h("option", { value: one, selected: one === look }, t(`look ${one}`))));
  const languages = h("select", { id: "languages", "aria-label": t("language"), onchange: async () => {
    await loadTexts(languages.value);
    open(false);
  } }, Object.entries(LANGUAGES).map(([tag, word]) => h("option", { value: tag, selected: tag === language, lang: tag }, word)));
  show(document.getElementById("look"), languages, looks);
}

function setLook() {
  const look = localStorage.getItem(LOOK);
  if (look === "light" || look === "dark") document.documentElement.dataset.look = look;
  else delete document.documentElement.dataset.look;
}

setLook();
await loadTexts();
addEventListener("hashchange", () => open());
await open(false);
