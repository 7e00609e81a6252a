// A game against motif.

import { get, post, Problem, text } from "./api.js";
import { confirmed, tried } from "./dialog.js";
import { announce, button, buttons, checkbox, h, linkTo, live, percent, positionLink, said, saveAs, section, show, table } from "./dom.js";
import { offCounts, pipCounts, turned, unmoved } from "./drawing.js";
import { useKeys } from "./keys.js";
import { Mover } from "./mover.js";
import { pause } from "./pace.js";
import { CENTRED, diceOf, movesOf, nameOf, resultWords, rulesOf, scoreOf, START } from "./plays.js";
import { preference } from "./preferences.js";
import { play as sound } from "./sound.js";
import { newGame } from "./start.js";
import { lineOf, tell } from "./telling.js";
import { t } from "./texts.js";
import { forget, frame, player, retried } from "./view.js";

const LAST = "motif-game", TUTOR = "motif-tutor";
/** Milliseconds until presses on the board and Pass count; earlier ones were meant for what was there. */
const SETTLED = 400;
/** Smallest error warned of, in points. */
const LIMIT = 0.05;
const UNTUTORED = ["next", "undo", "resign"];
const OPENING = { board: START, cube: CENTRED };
const NAMED = { r: "roll", d: "double", t: "take", p: "drop", n: "next", b: "take-back", "ctrl-z": "take-back" };

export class Game {
  constructor(view, state) {
    Object.assign(this, { view, state, busy: false, since: null, hidden: false });
    localStorage.setItem(LAST, state.game);
  }

  get path() {
    return `games/${this.state.game}`;
  }

  get opponent() {
    return nameOf(this.state.opponent);
  }

  get turn() {
    return this.mover.turn;
  }

  nameOf(who) {
    return who === "me" ? t("you") : this.opponent;
  }

  async start(events = []) {
    this.mover = new Mover({ changed: () => this.changed(), pressed: (event) => this.pressed(event), cubed: () => this.press("double") });
    this.sheet = h("div", { class: "tutor", tabindex: -1 });
    this.advice = live("advice");
    this.adviceButtons = buttons();
    this.log = h("ol", { class: "log", tabindex: 0, "aria-label": t("record") });
    this.about = h("div", { class: "about" });
    const tutor = checkbox("tutor", t("tutor"), localStorage.getItem(TUTOR) === "on", (on) => localStorage.setItem(TUTOR, on ? "on" : "off"));
    Object.assign(this, frame(this.view, t("view play"), this.mover, "", t("advice")));
    show(this.panel, this.sheet, section(t("advice"), this.adviceButtons, tutor, this.advice), section(t("record"), this.log, this.about));
    this.tutor = tutor.firstChild;
    useKeys((key) => this.key(key));
    if (events.length) {
      this.showBars(START);
      await this.tellAll(events, OPENING);
    }
    this.settle();
    return this;
  }

  settle(quiet = false) {
    const { state } = this;
    this.settled = performance.now();
    Object.assign(this.table.dataset, { asks: state.asks, revision: state.revision });
    delete this.table.dataset.tells;
    this.show();
    this.showAdvisors();
    show(this.advice);
    show(this.sheet);
    this.panel.scrollTop = 0;
    const words = this.words();
    show(this.message, words);
    show(this.last, this.lastWords());
    this.last.hidden = Boolean(state.result);
    if (!quiet) announce(words);
    if (["next", "nothing"].includes(state.asks) && state.result) this.showResult();
    if (this.turn && preference("autobearoff") && state.tree.bearoff) this.bearOff();
  }

  showAdvisors() {
    const { busy, turn, asksCube } = this;
    show(this.adviceButtons, button(t("hint"), () => this.hint(), { id: "hint-button", disabled: busy || !turn, key: "H" }),
      button(t("cube advice"), () => this.cubeAdvice(), { id: "cube-button", disabled: busy || !asksCube, key: "C" }));
  }

  show() {
    const { state } = this;
    const last = this.lastMove();
    const shown = {
      board: state.board, cube: state.rules.cube ? state.cube : null, canDouble: state.can.double, by: "me",
      arrows: last ? [{ ...last, mine: false, kind: "last" }] : [],
    };
    if (state.asks === "play" && !this.hidden) this.mover.play(state, shown, (play) => this.decide("play", { play }));
    else this.mover.show({ ...shown, dice: last && diceOf(last.roll, "opponent") });
    this.changed();
    this.showRecord();
  }

  get isSettled() {
    return performance.now() - this.settled > SETTLED;
  }

  get asksCube() {
    return ["roll", "answer", "raccoon"].includes(this.state.asks) && (this.state.can.double || this.state.cube.offered);
  }

  /** The opponent's play, if it came last, and the board before it. */
  lastMove() {
    const { log, board } = this.state;
    const last = log.at(-1);
    if (last?.do !== "play" || last.who !== "opponent" || !last.play) return null;
    const moves = movesOf(last.play);
    return { moves, roll: last.roll, board: turned(unmoved(turned(board), moves)) };
  }

  changed() {
    this.showBars(this.turn?.board ?? this.state.board);
    this.showActions();
    if (!this.state.result) show(this.sheet); // a warning is about the play that was on the board
  }

  showBars(board) {
    const { state } = this;
    const pips = pipCounts(board), off = offCounts(board);
    const facts = (k) => ({ pips: pips[k], off: off[k], score: scoreOf(state.score[k], state.winner ? 0 : state.rules.length) });
    player(this.otherBar, false, this.opponent, { ...facts(1), tag: state.crawford && !state.result && t("crawford") });
    player(this.ownBar, true, nameOf(state.name), facts(0));
  }

  showActions() {
    const { asks, can, cube: { value } } = this.state;
    const act = (id, words, word, more) => button(words, () => this.decide(word), { id, ...more });
    const rolls = ["roll", "raccoon"].includes(asks), ended = ["next", "nothing"].includes(asks);
    show(this.actions,
      this.hidden ? button(t("roll"), () => this.reveal(), { primary: true, id: "roll", key: "R" }) : rolls && act("roll", t("roll"), "roll", { primary: true, key: "R" }),
      can.double && act("double", t("double to", { cube: 2 * value }), "double", { key: "D" }),
      asks === "raccoon" && act("raccoon", t("raccoon to", { cube: 2 * value }), "raccoon"),
      this.mover.buttons(),
      asks === "answer" && [act("take", t("take at", { cube: 2 * value }), "take", { primary: true, key: "T" }), button(t("pass"), () => this.isSettled && this.decide("drop"), { id: "drop", key: "P" }),
        can.beaver && act("beaver", t("beaver to", { cube: 4 * value }), "beaver")],
      asks === "next" && act("next", t("next game"), "next", { primary: true, key: "N" }),
      asks === "nothing" && button(t("new game"), newGame, { primary: true, id: "next", key: "N" }),
      ended && [linkTo(t("view analyse"), `#/analyse/game/${this.state.game}`, { id: "analyse" }), button(t("all rolls"), () => this.rolls(), { id: "rolls" })],
      can.undo && act("take-back", t("take back"), "undo", { key: "B", disabled: this.turn?.path.length > 0 }));
  }

  words() {
    const { state, opponent } = this;
    const { asks, cube: { value } } = state;
    if (this.hidden) return t("asks roll");
    switch (asks) {
      case "play": return t("asks play", { roll: state.roll.join("-") });
      case "roll": return t(state.can.double ? "asks roll or double" : "asks roll");
      case "answer": return t("asks answer", { opponent, cube: 2 * value, points: value });
      case "raccoon": return t("asks raccoon", { opponent });
      case "wait": return t("thinking");
      default: return resultWords(state, opponent);
    }
  }

  logged(one) {
    return lineOf(one, (who) => this.nameOf(who));
  }

  lastWords() {
    const { log } = this.state;
    const own = log.findLastIndex((one) => one.who === "me");
    const since = this.since !== null && this.since < log.length ? this.since : own + 1;
    return log.slice(since).slice(-4).map((one) => this.logged(one)).join("  ·  ");
  }

  resignation() {
    const { resign } = this.state.can;
    if (!resign.length) return null;
    const select = h("select", { id: "resign", "aria-label": t("resign"), onchange: () => {
      const lose = select.value;
      select.value = "";
      if (lose) this.askResign(lose);
    } }, h("option", { value: "" }, t("resign")), resign.map((one) => h("option", { value: one }, t(`result ${one}`))));
    return select;
  }

  showRecord() {
    const { state } = this;
    show(this.log, state.log.map((one) => h("li", { class: one.who }, this.logged(one))));
    this.log.scrollTop = this.log.scrollHeight;
    show(this.about,
      h("p", `${rulesOf(state.rules)}. ${t("game number", { number: state.number })}`),
      buttons(this.resignation(), button(t("new game"), newGame, { id: "new-game" }), linkTo(t("all games"), "#/start"),
        positionLink(state.xgid), button(t("save mat"), () => this.save(), { id: "save" })),
      h("p", `${t("dice seed")}: `, h("code", { id: "seed-shown" }, String(state.seed))),
      h("div", { class: "buttons apart" }, button(t("forget game"), () => this.forget(), { id: "forget" })));
  }

  press(id) {
    const found = this.actions.querySelector(`#${id}`);
    if (!found || found.disabled || this.busy) return false;
    found.click();
    return true;
  }

  pressed(event) {
    if (event.type === "click" && !this.isSettled) return;
    if (["click", "keydown"].includes(event.type) && !["Delete", "Backspace"].includes(event.key)) this.press("roll");
  }

  reveal() {
    this.hidden = false;
    sound("dice");
    this.settle();
    this.moveFocus();
  }

  async bearOff() {
    const { game, revision, tree } = this.state;
    this.mover.take(tree.bearoff);
    await pause("dice");
    if (this.state.game === game && this.state.revision === revision) this.mover.confirm();
  }

  async askResign(lose) {
    if (await confirmed(t("resign sure", { what: t(`result ${lose}`), points: t("points", { count: (this.state.can.resign.indexOf(lose) + 1) * this.state.cube.value }) }), t("yes resign"))) this.decide("resign", { lose });
  }

  key(key) {
    if (this.mover.key(key)) return true;
    if (NAMED[key] && this.press(NAMED[key])) return true;
    if (key === "Enter" || key === " ") this.actions.querySelector("button.primary:not(:disabled)")?.click();
    else if (key === "Escape") show(this.sheet.querySelector(".result-card") ? this.advice : this.sheet);
    else if (key === "h" && this.turn) this.hint();
    else if (key === "c" && this.asksCube) this.cubeAdvice();
    else return false;
    return true;
  }

  async decide(word, detail = {}, tutor = this.tutor.checked) {
    if (this.busy) return;
    this.busy = true;
    const waits = setTimeout(() => show(this.message, t("thinking")), 250);
    const asked = { do: word, revision: this.state.revision, ...detail };
    if (tutor && !UNTUTORED.includes(word)) asked.tutor = LIMIT;
    try {
      const before = word === "next" ? OPENING : { board: this.turn?.board ?? this.state.board, cube: this.state.cube };
      const known = this.state.log.length;
      const state = await post(this.path, asked);
      clearTimeout(waits);
      show(this.notice);
      if (state.objection) return await this.object(state.objection, word, detail);
      this.since = word === "next" ? 0 : known + (["play", "double", "take", "drop", "beaver"].includes(word) ? 1 : 0);
      this.state = state;
      await this.tellAll(state.events, before);
      this.busy = false;
      this.settle(state.events.length > 0 && state.asks === "wait");
      if (state.declined) show(this.message, t("declined", { opponent: this.opponent }));
      this.moveFocus();
    } catch (error) {
      clearTimeout(waits);
      if (!(error instanceof Problem)) throw error;
      this.complain(error);
    } finally {
      this.busy = false;
    }
  }

  /** Shows events; without auto-roll, the reader's roll waits for a press. */
  async tellAll(events, before) {
    const { state } = this;
    this.busy = true;
    this.showAdvisors();
    this.mover.show({ ...this.mover.shown, board: before.board, arrows: [], dice: null });
    this.table.dataset.tells = "";
    for (const place of [this.actions, this.sheet, this.advice, this.last]) show(place);
    await tell(this.mover.board, events, {
      before: before.board, cube: state.rules.cube ? before.cube : null, names: (who) => this.nameOf(who), message: (words) => show(this.message, words), seen: (board) => this.showBars(board),
    });
    const rolled = events.at(-1)?.do === "roll" && events.at(-1).who === "me" && events.length > 1;
    this.hidden = rolled && state.asks === "play" && !preference("autoroll");
    this.busy = false;
  }

  moveFocus() {
    if (document.activeElement !== document.body && document.activeElement !== null) return;
    const place = this.turn && (this.turn.movable[0] ?? 24);
    if (place) this.mover.board.focus(place);
    else this.actions.querySelector("button")?.focus({ preventScroll: true });
  }

  complain(error) {
    if (error.status === 409) {
      show(this.notice, h("p", t("went on elsewhere")), button(t("show current"), () => this.reload(), { primary: true, id: "reload" }));
    } else if (error.status === 404) {
      localStorage.removeItem(LAST);
      show(this.notice, h("p", error.message), button(t("new game"), newGame, { primary: true }));
    } else if (error.status) {
      show(this.notice, h("p", said(error)));
    } else {
      this.reload();
    }
    this.busy = false;
    show(this.message, this.words());
    this.mover.unlock();
  }

  /** Shows the server's game. */
  reload() {
    return retried(this.notice, async () => {
      const state = await get(this.path);
      show(this.notice);
      announce(t("server back"));
      if (state.revision === this.state.revision) return;
      Object.assign(this, { state, hidden: false });
      this.settle();
    }, (error) => this.complain(error));
  }

  async object(objection, word, detail) {
    this.busy = false;
    show(this.message, this.words());
    this.mover.unlock();
    const { objected } = await import("./objection.js");
    if (this.turn?.play !== detail.play) return;
    objected(this, objection, {
      anyway: () => this.decide(word, detail, false),
      again: () => { show(this.sheet); this.mover.undo(true); },
    });
  }

  async showResult() {
    const { showResult } = await import("./result.js");
    if (this.state.result) showResult(this, this.sheet);
  }

  point(one) {
    if (this.busy) return;
    const { board, roll } = this.state;
    this.mover.draw(one ? { board, dice: diceOf(roll, "me"), arrows: [{ moves: movesOf(one.notation), board }], movable: [] } : {});
  }

  async advise(work) {
    const { state } = this, advice = await import("./advice.js");
    if (state === this.state) await work(advice);
  }

  hint() {
    return this.advise(({ showHint }) => showHint(this.advice, { id: this.state.id, dice: this.state.roll }, {
      point: (one) => this.point(one), pick: (one) => this.mover.pick(one.notation), made: this.turn?.play ?? null, madeKey: "on the board",
    }));
  }

  cubeAdvice(place = this.advice, known = undefined) {
    return this.advise(({ showCube }) => {
      const names = [t("you"), this.opponent], { cube: { offered }, id } = this.state;
      return showCube(place, { id }, { names: offered ? names.toReversed() : names, known, isAnswer: offered });
    });
  }

  save() {
    return tried(async () => saveAs(`motif-${this.state.game}.mat`, await text(`${this.path}/mat`)));
  }

  rolls() {
    return this.advise(({ attempt }) => attempt(this.advice, async () => {
      const { faces, doubles, rolls, games, seed } = await get(`${this.path}/rolls`);
      const row = (name, words) => [name, words("me"), words("opponent")];
      const rows = faces.me.map((_, k) => row(String(k + 1), (who) => `${faces[who][k]} (${percent(faces[who][k] / (2 * rolls[who] || 1), 0)})`));
      return [h("h3", t("all rolls")), h("p", t("fair words", { seed })),
        table(t("all rolls"), row("", (who) => this.nameOf(who)), [...rows, row(t("doubles of rolls"), (who) => `${doubles[who]} / ${rolls[who]}`)], { id: "faces" }),
        games.map((game, k) => [h("h4", t("game number", { number: k + 1 })),
          h("p", { class: "rolls" }, game.map(([who, high, low]) => `${this.nameOf(who)} ${high}-${low}`).join(", "))])];
    }));
  }

  forget() {
    forget(this.path, `${this.opponent}, ${rulesOf(this.state.rules)}`, () => { location.hash = `#/play/${this.state.game}`; }, () => {});
    localStorage.removeItem(LAST);
    location.hash = "#/play";
  }
}
