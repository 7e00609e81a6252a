import { get, post } from "./api.js";
import { dialog } from "./dialog.js";
import { button, buttons, checkbox, choice, fault, field, figure, h, radio, show } from "./dom.js";
import { capital, formatOf, nameOf } from "./plays.js";
import { begin, openGame, wishes } from "./start.js";
import { known, t } from "./texts.js";
import { once, retried } from "./view.js";

/** Points of a match; 0 is a money game. */
const LENGTHS = Array.from({ length: 65 }, (_, k) => k);
const RULES = ["cube", "jacoby", "beavers"];

export async function showNewGame() {
  const wish = wishes();
  const told = fault();
  const levels = h("fieldset", { class: "levels" }, h("legend", t("opponent")));
  const opponent = choice("opponent", [], null, (name) => {
    for (const one of levels.querySelectorAll("input")) one.checked = one.value === name;
  });
  const length = choice("length", LENGTHS.map((one) => [one, formatOf({ length: one })]), wish.length, (value) => { money.hidden = value !== "0"; });
  const money = h("fieldset", { hidden: wish.length > 0 }, h("legend", t("money rules")), RULES.map((key) => checkbox(`rule-${key}`, known(`rule ${key}`, capital(t(key))), wish[key])));
  const seed = h("input", { id: "seed", inputmode: "numeric", autocomplete: "off", placeholder: t("new seed"), "aria-describedby": "seed-fault" });
  const seedFault = h("small", { class: "fault", id: "seed-fault" });
  const attempt = (work) => once(start, told, async () => {
    await work();
    shown.close();
  });
  const start = h("button", { class: "primary", id: "begin" }, t("begin"));
  const submit = (event) => {
    event.preventDefault();
    const wanted = seed.value.trim();
    show(seedFault, /^\d*$/.test(wanted) && Number.isSafeInteger(+wanted) ? "" : t("seed fault"));
    if (seedFault.textContent) return seed.focus();
    const rules = Object.fromEntries(RULES.map((key) => [key, money.querySelector(`#rule-${key}`).checked]));
    return attempt(() => begin({ opponent: opponent.value, length: Number(length.value), ...rules, seed: wanted }));
  };
  const seat = choice("seat", [0, 1].map((one) => [one, t(`seat ${one}`)]), 0);
  const file = h("input", { type: "file", accept: ".mat,.txt", id: "load", onchange: () => attempt(async () => {
    const mat = await file.files[0].text();
    file.value = "";
    await openGame(await post("games/loaded", { opponent: opponent.value, mat, seat: Number(seat.value) }));
  }) });
  const shown = dialog(t("new game"), h("form", { id: "wish", onsubmit: submit }, levels, field(t("for what"), length), money,
    h("details", { id: "more" }, h("summary", t("more")), field(t("all opponents"), opponent), field(t("dice seed"), seed, seedFault),
      h("h3", t("load head")), field(t("you are"), seat), field(t("mat file"), file)),
    told, buttons(start, button(t("cancel"), () => shown.close()))));
  await retried(told, async () => {
    const answer = await get("games/opponents");
    show(told);
    levels.append(...answer.levels.map((one) => radio("level", one.name, one.name === wish.opponent, () => { opponent.value = one.name; },
      h("span", h("strong", t(`level ${one.level}`)), h("small", t("level words", { name: nameOf(one.name), rate: figure(one.error_rate, 1) }))))));
    const names = answer.opponents.flatMap((one) => (one.name === "latest" ? ["latest", "latest@1", "latest@2"] : [one.name]));
    show(opponent, names.map((one) => h("option", { value: one, selected: one === wish.opponent }, known(`opponent ${one}`, nameOf(one)))));
  });
}
