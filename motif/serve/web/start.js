// Before a game: a board ready to play, the dialog for a new game, and the games that can be resumed.

import { get, post, remove } from "./api.js";
import { Board } from "./board.js";
import { dialog, say, undoable } from "./dialog.js";
import { figure, h, show } from "./dom.js";
import { useKeys } from "./keys.js";
import { START } from "./telling.js";
import { knows, t } from "./texts.js";

const WISHES = "motif-wishes";
const LENGTHS = [0, 1, 3, 5, 7, 9, 11, 15, 21];
const SHOWN = 6;

function wishes() {
  try {
    return { opponent: "latest", length: 0, cube: true, jacoby: true, beavers: false, ...JSON.parse(localStorage.getItem(WISHES) ?? "{}") };
  } catch {
    return { opponent: "latest", length: 0, cube: true, jacoby: true, beavers: false };
  }
}

/** What a player is called on the page. */
export function nameOf(opponent) {
  return knows(`name ${opponent}`) ? t(`name ${opponent}`) : opponent;
}

export function formatOf(rules) {
  return rules.length ? t("match to", { count: rules.length }) : t("money");
}

/** Begins the game that is wished for; `opened(state)` shows it. */
async function begin(wish, opened) {
  const { length } = wish;
  const cube = length > 0 || wish.cube;
  const asked = { opponent: wish.opponent, length, cube, jacoby: !length && cube && wish.jacoby, beavers: !length && cube && wish.beavers };
  if (wish.seed) asked.seed = Number(wish.seed);
  opened(await post("/api/v1/games", asked));
}

/** A board ready to play: the last opponent and format, one press away. */
export async function showStart(view, opened, message = "") {
  const wish = wishes();
  const board = new Board();
  board.show({ board: START, cube: { value: 1, owner: "centre", offered: false } });
  const fault = h("p", { class: "fault", role: "alert" }, message);
  const start = async () => {
    try {
      await begin(wish, opened);
    } catch (error) {
      show(fault, error.message);
    }
  };
  const kept = h("div");
  const other = h("button", { type: "button", id: "new-game", onclick: () => newGame(opened) }, t("other game"));
  show(view, h("div", { class: "game ready" },
    h("section", { class: "table", "aria-label": t("table") },
      h("div", { class: "side-bar opponent" }, h("span", { class: "chip dark", "aria-hidden": "true" }), h("strong", {}, nameOf(wish.opponent)), h("span", { class: "score" }, formatOf(wish))),
      board.element,
      h("div", { class: "side-bar own" }, h("span", { class: "chip light", "aria-hidden": "true" }), h("strong", {}, t("you"))),
      h("div", { class: "actions" }, h("button", { type: "button", class: "primary", id: "start", onclick: start }, t("begin")), other)),
    h("div", { class: "panel", tabindex: 0, role: "region", "aria-label": t("kept games") },
      h("section", {}, h("h1", {}, t("start head")), h("p", { class: "lead" }, t("start words")), fault),
      kept)));
  useKeys((key) => {
    if (key === "Enter" || key === " ") start();
    else if (key === "n") newGame(opened);
    else return false;
    return true;
  });
  await retried(kept, async () => {
    const { games } = await get("/api/v1/games");
    const open = games.filter((one) => one.asks !== "nothing").slice(0, SHOWN);
    show(kept, open.length > 0 && h("section", {}, h("h2", {}, t("kept games")), gameList(open)));
  });
}

const AGAIN = 1500;

/** Does `work`, again and again while the server is away, which `place` says. */
export async function retried(place, work) {
  try {
    await work();
  } catch (error) {
    show(place, h("p", { class: "fault", role: "alert" }, error.message));
    if (error.status === 0) setTimeout(() => place.isConnected && retried(place, work), AGAIN);
  }
}

/** Games as a list, each with its time and a way to delete it. */
export function gameList(games) {
  return h("ul", { class: "kept" }, games.map((one) => {
    const line = h("li", {},
      h("a", { href: `#/play/${one.game}` }, t(one.length ? "kept match" : "kept money", { ...one, opponent: nameOf(one.opponent), first: one.score[0], second: one.score[1] }),
        h("small", {}, ` ${one.asks === "nothing" ? t("over") : ""} ${when(one.changed)}`)),
      h("button", { type: "button", class: "small", "aria-label": t("delete this", { name: nameOf(one.opponent) }), onclick: () => {
        line.hidden = true;
        undoable(t("game deleted"), () => remove(`/api/v1/games/${one.game}`).catch((error) => say(error.message)), () => { line.hidden = false; });
      } }, t("delete")));
    return line;
  }));
}

/** Seconds since 1970 as a day and time of the reader. */
export function when(seconds) {
  return new Date(1000 * seconds).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
}

/** The dialog for a new game. */
export async function newGame(opened) {
  const wish = wishes();
  const fault = h("p", { class: "fault", role: "alert" });
  const levels = h("fieldset", { class: "levels" }, h("legend", {}, t("opponent")));
  const opponent = h("select", { id: "opponent", onchange: () => {
    for (const one of levels.querySelectorAll("input")) one.checked = one.value === opponent.value;
  } });
  const length = h("select", { id: "length", onchange: () => fits() }, LENGTHS.map((one) =>
    h("option", { value: one, selected: one === wish.length }, formatOf({ length: one }))));
  const box = (key) => h("label", { class: "check" }, h("input", { type: "checkbox", name: key, checked: wish[key] }), t(key));
  const money = h("fieldset", { class: "checks" }, h("legend", {}, t("money rules")), ["cube", "jacoby", "beavers"].map(box));
  const fits = () => { money.hidden = length.value !== "0"; };
  const seed = h("input", { id: "seed", inputmode: "numeric", autocomplete: "off", placeholder: t("new seed"), "aria-describedby": "seed-fault" });
  const seedFault = h("small", { class: "fault", id: "seed-fault" });
  const field = (label, control, ...more) => h("label", { class: "field" }, h("span", {}, label), control, ...more);
  const submit = async (event) => {
    event.preventDefault();
    show(seedFault, /^\d*$/.test(seed.value.trim()) ? "" : t("seed fault"));
    if (seedFault.textContent) return seed.focus();
    const rule = (key) => money.querySelector(`[name=${key}]`).checked;
    const made = { opponent: opponent.value, length: Number(length.value), cube: rule("cube"), jacoby: rule("jacoby"), beavers: rule("beavers") };
    localStorage.setItem(WISHES, JSON.stringify(made));
    await attempt(() => begin({ ...made, seed: seed.value.trim() }, taken));
  };
  const attempt = async (work) => {
    try {
      await work();
    } catch (error) {
      show(fault, error.message);
    }
  };
  const seat = h("select", { id: "seat" }, [0, 1].map((one) => h("option", { value: one }, t(`seat ${one}`))));
  const file = h("input", { type: "file", accept: ".mat,.txt", id: "load", onchange: () => attempt(async () => {
    const mat = await file.files[0].text();
    file.value = "";
    taken(await post("/api/v1/games/loaded", { opponent: opponent.value, mat, seat: Number(seat.value) }));
  }) });
  const taken = (state) => {
    shown.close();
    opened(state);
  };
  const shown = dialog(t("new game"), h("form", { id: "wish", onsubmit: submit }, levels, field(t("for what"), length), money,
    h("details", { id: "more" }, h("summary", {}, t("more")), field(t("all opponents"), opponent), field(t("seed of the dice"), seed, seedFault),
      h("h3", {}, t("load head")), field(t("you are"), seat), field(t("mat file"), file)),
    fault, h("div", { class: "buttons" }, h("button", { class: "primary", id: "begin" }, t("begin")), h("button", { type: "button", onclick: () => shown.close() }, t("cancel")))));
  fits();
  await retried(fault, async () => {
    const answer = await get("/api/v1/games/opponents");
    show(fault);
    levels.append(...answer.levels.map((one) => h("label", { class: "level" },
      h("input", { type: "radio", name: "level", value: one.name, checked: one.name === wish.opponent, onchange: () => { opponent.value = one.name; } }),
      h("span", {}, h("strong", {}, t(`level ${one.level}`)), h("small", {}, t("level words", { name: nameOf(one.name), rate: figure(one.error_rate, 1) }))))));
    const names = answer.opponents.flatMap((one) => (one.name === "latest" ? ["latest", "latest@1", "latest@2"] : [one.name]));
    show(opponent, names.map((one) => h("option", { value: one, selected: one === wish.opponent }, knows(`opponent ${one}`) ? t(`opponent ${one}`) : one)));
  });
}
