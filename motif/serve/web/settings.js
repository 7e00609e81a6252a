import { dialog } from "./dialog.js";
import { button, buttons, checkbox, choice, field, h } from "./dom.js";
import { showHelp } from "./help.js";
import { prefer, preference } from "./preferences.js";
import { LANGUAGES, language, loadTexts, t } from "./texts.js";

const CHOICES = { speed: ["slow", "normal", "fast", "off"], home: ["right", "left"], board: ["wood", "green", "slate", "dark"], theme: ["auto", "light", "dark"] };
const SWITCHES = ["autoroll", "autobearoff", "sound"];

export function showSettings() {
  const choices = Object.entries(CHOICES).map(([name, values]) => field(t(`set ${name}`),
    choice(`prefer-${name}`, values.map((one) => [one, t(`${name} ${one}`)]), preference(name), (value) => prefer(name, value))));
  const languages = field(t("language"), choice("languages", Object.entries(LANGUAGES), language, async (tag) => {
    await loadTexts(tag);
    shown.close();
    dispatchEvent(new Event("language"));
    document.getElementById("settings").focus();
    showSettings();
  }));
  const shown = dialog(t("settings"), h("div", { class: "preferences" }, choices, languages),
    SWITCHES.map((name) => checkbox(`prefer-${name}`, t(`set ${name}`), preference(name), (value) => prefer(name, value))),
    buttons(button(t("help and keys"), () => { shown.close(); showHelp(); }),
      button(t("done"), () => shown.close(), { primary: true })));
}
