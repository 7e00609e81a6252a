// A position that is pasted or set up by hand, judged and shared.

import { showCube, showHint } from "./advice.js";
import { post, text } from "./api.js";
import { Board } from "./board.js";
import { tried } from "./dialog.js";
import { announce, button, buttons, checkbox, choice, fault, field, h, linkTo, live, radio, reveal, said, saveAs, section, show } from "./dom.js";
import { BAR, OFF, offCounts, OPPONENT_BAR, pipCounts, turned } from "./drawing.js";
import { useKeys } from "./keys.js";
import { capital, diceOf, movesOf, rulesOf, scoreOf, START } from "./plays.js";
import { rolloutButton } from "./rollout.js";
import { t } from "./texts.js";
import { frame, retried } from "./view.js";
import { leave } from "./visit.js";

const OPENING = "4HPwATDgc/ABMA", LAST = "motif-position";
const RULES = ["crawford", "jacoby", "beavers"];
const CUBES = Array.from({ length: 16 }, (_, k) => [1 << k, 1 << k]);

/** An address, and the board left there that is no position yet. */
let left = [];

export async function open(view, id) {
  const setup = new Setup(view), [address, board] = left;
  await setup.read({ text: id || sessionStorage.getItem(LAST) || OPENING }, Boolean(id));
  if (address === location.hash) setup.put(board);
}

class Setup {
  constructor(view) {
    Object.assign(this, { placing: "mine", shown: START });
    this.board = new Board({ pressed: (place, event) => this.pressed(place, event) });
    this.board.drawing.addEventListener("contextmenu", (event) => {
      const place = event.target.dataset?.place;
      if (place === undefined) return;
      event.preventDefault();
      this.change(Number(place), -1);
    });
    this.id = h("textarea", { id: "id", rows: 1, autocomplete: "off", spellcheck: "false", "aria-describedby": "id-fault", onkeydown: (event) => {
      if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); this.paste(); }
    }, onpaste: () => setTimeout(() => this.paste(), 0) });
    this.fault = fault("", { id: "id-fault" });
    this.boardFault = fault();
    this.matchFault = fault("", { id: "match-fault" });
    this.ids = h("dl", { class: "ids" });
    this.advice = live("advice");
    this.rolled = live("rolled");
    this.needs = h("small", { id: "hint-needs" });
    this.advisors = buttons();
    this.fields = this.matchFields();
    const places = ["mine", "theirs", "none"].map((key) => radio("placing", key, key === this.placing, () => { this.placing = key; }, t(`place ${key}`)));
    const fill = (key, board) => button(t(key), () => this.put(board()));
    const { panel, message, actions, last } = frame(view, t("view position"), this.board, "setup", t("advice"));
    this.counts = message;
    last.replaceWith(this.boardFault);
    actions.replaceWith(h("fieldset", { class: "placing" }, h("legend", t("placing")), places),
      buttons(fill("start position", () => null), fill("clear board", () => new Array(26).fill(0)), fill("other side", () => turned(this.shown))));
    show(panel,
      h("section", h("form", { class: "id-form", onsubmit: (event) => { event.preventDefault(); this.paste(); } },
        field(t("paste id"), this.id), h("button", { class: "primary", id: "show-id" }, t("show"))), this.fault),
      section(t("advice"), this.advisors, this.needs, this.rolled, this.advice),
      section(t("match and cube"), h("div", { class: "match-fields" }, Object.values(this.fields))),
      section(t("share"), this.ids));
    useKeys((key) => {
      const found = this.advisors.querySelector({ h: "#setup-hint", c: "#setup-cube", r: ".roll-out" }[key] ?? "none");
      if (found && !found.disabled) found.click();
      return Boolean(found);
    });
  }

  matchFields() {
    const asks = () => this.ask();
    const number = (name, most) => h("input", { type: "number", min: 0, max: most, id: `set-${name}`, value: 0, onchange: asks });
    const dice = [["", t("no roll")], ...[1, 2, 3, 4, 5, 6].flatMap((high) => Array.from({ length: high }, (_, k) => [`${high}${k + 1}`, `${high}-${k + 1}`]))];
    const owners = ["centre", "me", "opponent"].map((one) => [one, t(`owner ${one}`)]);
    this.controls = { dice: choice("set-dice", dice, "", asks), length: number("length", 64), own: number("own", 63), other: number("other", 63), cube: choice("set-cube", CUBES, 1, asks), owner: choice("set-owner", owners, "centre", asks) };
    const fields = Object.fromEntries(Object.entries(this.controls).map(([name, control]) => [name, field(t(`set ${name}`), control)]));
    for (const name of RULES) {
      fields[name] = checkbox(`set-${name}`, capital(t(name)), false, asks);
      this.controls[name] = fields[name].firstChild;
    }
    return fields;
  }

  paste() {
    return this.read({ text: this.id.value }, true);
  }

  read(asked, inAddress) {
    this.clear();
    return retried(this.fault, () => this.accept(asked, inAddress), async (error) => {
      if (!this.place && asked.text !== OPENING) await this.read({ text: OPENING }, false);
      show(this.fault, said(error));
    });
  }

  clear() {
    leave();
    for (const one of [this.fault, this.boardFault, this.matchFault, this.advice, this.rolled]) show(one);
  }

  /** Shows the server's view of a position. */
  async accept(asked, inAddress) {
    const place = await post("position", asked);
    this.place = place;
    this.shown = place.board;
    left = [];
    this.clear();
    const { controls } = this, { length, score: [own, other], cube, owner } = place;
    for (const [name, value] of Object.entries({ dice: place.dice?.join("") ?? "", length, own, other, cube, owner })) controls[name].value = value;
    for (const name of RULES) controls[name].checked = place[name];
    this.fit();
    this.draw();
    this.showAdvisors();
    this.showIds();
    if (inAddress) this.address();
  }

  showAdvisors(isFaulty = false) {
    const { place = {} } = this, disabled = isFaulty || place.over;
    const rollOut = rolloutButton(this.rolled, () => ({ id: place.xgid }), Boolean(place.dice));
    rollOut.disabled = disabled;
    show(this.advisors,
      button(t("hint"), () => this.hint(), { primary: true, id: "setup-hint", key: "H", disabled: disabled || !place.dice, "aria-describedby": "hint-needs" }),
      button(t("cube advice"), () => showCube(this.advice, { id: place.xgid }), { id: "setup-cube", key: "C", disabled }), rollOut,
      !disabled && linkTo(t("view from"), `#/from/${encodeURIComponent(place.xgid)}`, { id: "play-here", title: t("practice words") }));
    show(this.needs, isFaulty ? "" : place.over ? t("needs game") : place.dice ? "" : t("needs roll"));
  }

  fit() {
    const inMatch = Number(this.controls.length.value) > 0;
    for (const name of ["own", "other", "crawford"]) this.fields[name].hidden = !inMatch;
    for (const name of ["jacoby", "beavers"]) this.fields[name].hidden = inMatch;
  }

  draw(more = {}) {
    const { dice, doubled } = this.place ?? {};
    this.board.show({
      board: this.shown, bothBars: true, cube: { value: Number(this.controls.cube.value), owner: this.controls.owner.value, offered: doubled },
      dice: dice && diceOf(dice), by: "me", ...more,
    });
    const [mine, theirs] = pipCounts(this.shown);
    show(this.counts, mine + theirs ? t("setup counts", { mine, theirs }) : t("setup empty"), doubled && ` ${t("setup doubled")}`);
  }

  pressed(place, event) {
    const back = event.shiftKey || event.key === "Delete" || event.key === "Backspace";
    this.change(place, back || this.placing === "none" ? -1 : 1);
  }

  change(place, by) {
    if (place === OFF) return;
    const index = place === OPPONENT_BAR ? 0 : place;
    const board = [...this.shown];
    if (by < 0) {
      board[index] -= Math.sign(board[index]);
    } else {
      const mine = place === BAR || (place !== OPPONENT_BAR && this.placing !== "theirs"), sign = mine ? 1 : -1;
      const [off, gone] = offCounts(board);
      if (Math.sign(board[index]) === -sign) board[index] = 0;
      if ((mine ? off : gone) < 1) return;
      board[index] += sign;
    }
    this.put(board);
  }

  async put(board) {
    if (board === null) return this.read({ text: OPENING }, true);
    this.shown = board;
    this.draw();
    return this.ask();
  }

  async ask() {
    const { controls } = this;
    this.fit();
    const [length, own, other, cube] = ["length", "own", "other", "cube"].map((name) => Number(controls[name].value));
    const asked = { board: this.shown, length, cube, owner: controls.owner.value };
    if (controls.dice.value) asked.dice = controls.dice.value;
    if (length) Object.assign(asked, { score: [own, other], crawford: controls.crawford.checked });
    else Object.assign(asked, { jacoby: controls.jacoby.checked, beavers: controls.beavers.checked });
    this.clear();
    if (this.shown.every((count) => !count)) return this.refuse();
    const points = Math.max(own, other);
    if (length > 0 && points >= length) {
      this.refuse();
      return this.blame(own >= length ? "own" : "other", t("score fault", { points, length }));
    }
    const refused = (error) => {
      this.refuse();
      throw error;
    };
    return retried(this.fault, () => this.accept(asked, true).catch(refused), (error) => this.blame(error.fields[0], said(error)));
  }

  refuse() {
    left = [location.hash, this.shown];
    this.showAdvisors(true);
    show(this.ids);
  }

  /** Shows a fault of the board, or below a field of the match. */
  blame(name, words) {
    const place = name === "board" ? this.boardFault : this.matchFault;
    if (place === this.matchFault) (this.fields[name] ?? this.fields.length).append(place);
    show(place, words);
    reveal(place);
  }

  address() {
    sessionStorage.setItem(LAST, this.place.xgid);
    history.replaceState(null, "", `#/position/${encodeURIComponent(this.place.xgid)}`);
  }

  showIds() {
    const { xgid, id, ogid } = this.place;
    const link = `${location.href.split("#")[0]}#/position/${encodeURIComponent(xgid)}`;
    const svg = () => text(`diagram?${new URLSearchParams([["id", xgid], ...this.captions().map((words) => ["caption", words])])}`);
    const rows = [["XGID", xgid], ["GNUbg ID", id], ["OGID", ogid], [t("link"), link]].filter(([, value]) => value);
    show(this.ids, rows.map(([name, value]) => [h("dt", name), h("dd", h("code", value), button(t("copy"), (event) => copy(event.target, name, value), { small: true, "aria-label": t("copy this", { name }) }))]),
      h("dt", t("picture")), h("dd", { class: "buttons" },
        button("SVG", () => tried(async () => saveAs("position.svg", await svg(), "image/svg+xml")), { small: true, id: "save-svg" }),
        button("PNG", () => tried(async () => savePng(await svg())), { small: true, id: "save-png" })));
    this.id.value = xgid;
    this.id.scrollLeft = 0;
  }

  /** What the picture says: dark, the rules, light, the roll. */
  captions() {
    const { place, shown } = this, { length, dice } = place;
    const [light, dark] = pipCounts(shown).map((count, k) => t(k ? "picture dark" : "picture light", { pips: t("pips", { count }) }) + (length ? `, ${scoreOf(place.score[k], length)}` : ""));
    return [dark, rulesOf(place), light, dice ? t("rolled", { roll: dice.join("-") }) : ""];
  }

  hint() {
    let picked = {};
    const arrows = (one) => ({ arrows: [{ moves: movesOf(one.notation), board: this.shown }] });
    return showHint(this.advice, { id: this.place.xgid }, {
      point: (one) => this.draw(one ? arrows(one) : picked), pick: (one) => this.draw(picked = arrows(one)),
    });
  }
}

async function copy(pressed, name, value) {
  try {
    await navigator.clipboard.writeText(value);
    announce(t("copied", { name }));
    pressed.textContent = t("copied short");
    setTimeout(() => { pressed.textContent = t("copy"); }, 2000);
  } catch {
    // Pages of other machines may not copy.
    getSelection().selectAllChildren(pressed.parentNode.querySelector("code"));
    announce(t("selected", { name }));
  }
}

async function savePng(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = h("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  canvas.toBlob((blob) => saveAs("position.png", blob, "image/png"));
}
