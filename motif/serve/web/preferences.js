// What the reader prefers, kept in this browser, and the dialog in which it is chosen.

import { h } from "./dom.js";
import { dialog } from "./dialog.js";
import { LANGUAGES, language, loadTexts, t } from "./texts.js";

const KEPT = "motif-preferences";
const DEFAULTS = { speed: "normal", home: "right", board: "wood", theme: "auto", sound: false, autoroll: true, autobearoff: false };
export const CHOICES = { speed: ["slow", "normal", "fast", "off"], home: ["right", "left"], board: ["wood", "green", "slate"], theme: ["auto", "light", "dark"] };
const SWITCHES = ["autoroll", "autobearoff", "sound"];

function read() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

let chosen = read();

export function preference(name) {
  return chosen[name];
}

/** Keeps a preference, and lets every view that shows it know: the event `preference` of the window. */
export function prefer(name, value) {
  chosen = { ...read(), [name]: value };
  localStorage.setItem(KEPT, JSON.stringify(chosen));
  apply();
  dispatchEvent(new CustomEvent("preference", { detail: name }));
}

/** The look of the page, by what is preferred. */
export function apply() {
  const { dataset } = document.documentElement;
  dataset.board = chosen.board;
  if (chosen.theme === "light" || chosen.theme === "dark") dataset.look = chosen.theme;
  else delete dataset.look;
}

export function showPreferences() {
  const choice = (name) => h("label", { class: "field" }, h("span", {}, t(`set ${name}`)),
    h("select", { id: `prefer-${name}`, onchange: (event) => prefer(name, event.target.value) },
      CHOICES[name].map((one) => h("option", { value: one, selected: one === chosen[name] }, t(`${name} ${one}`)))));
  const box = (name) => h("label", { class: "check" },
    h("input", { type: "checkbox", id: `prefer-${name}`, checked: chosen[name], onchange: (event) => prefer(name, event.target.checked) }), t(`set ${name}`));
  const languages = h("label", { class: "field" }, h("span", {}, t("language")),
    h("select", { id: "languages", onchange: async (event) => {
      await loadTexts(event.target.value);
      shown.close();
      dispatchEvent(new CustomEvent("language"));
    } }, Object.entries(LANGUAGES).map(([tag, word]) => h("option", { value: tag, selected: tag === language, lang: tag }, word))));
  const shown = dialog(t("settings"), h("div", { class: "preferences" }, choice("speed"), choice("board"), choice("home"), choice("theme"), languages),
    SWITCHES.map(box), h("div", { class: "buttons" },
      h("button", { type: "button", onclick: () => { shown.close(); dispatchEvent(new CustomEvent("help")); } }, t("help and keys")),
      h("button", { type: "button", class: "primary", onclick: () => shown.close() }, t("done"))));
  return shown;
}
