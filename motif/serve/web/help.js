import { dialog } from "./dialog.js";
import { h, table } from "./dom.js";
import { capital } from "./plays.js";
import { known, t } from "./texts.js";

const KEYS = [["← ↑ → ↓", "help arrows"], ["Enter", "help enter"], ["Shift + Enter", "help shift"], ["U, Ctrl+Z", "undo checker"], ["Esc", "help escape"], ["R", "roll"], ["D", "cube double"], ["T, P", "help answer"],
  ["S", "swap"], ["B", "take back"], ["H", "hint"], ["C", "cube advice"], ["N", "help next"], ["W", "help new"], ["← →", "help steps"], ["↑ ↓", "help list"], ["?", "help help"]];
const PRESSES = ["press checker", "press point", "press drag", "press dice", "press cube", "press board"];
const GLOSSARY = ["equity", "pr", "error rate", "luck", "ply", "rollout", "blot", "anchor", "prime", "shot", "pips", "gammon", "crawford", "jacoby", "beaver", "take point", "window", "mwc"];

export function showHelp() {
  const shown = dialog(t("help and keys"), h("h3", t("help mouse")), h("ul", PRESSES.map((one) => h("li", t(one)))),
    h("h3", t("help keys")), table(t("help keys"), null, KEYS.map(([key, words]) => [h("kbd", key), capital(t(words))])),
    h("h3", t("glossary")), h("dl", { class: "glossary" }, GLOSSARY.map((one) => [h("dt", capital(known(`term ${one}`, t(one)))), h("dd", t(`meaning ${one}`))])));
  shown.classList.add("help");
}
