// A game against motif: the board, what can be done now, and what has happened.

import { movesOf, playName, showCube, showHint, attempt } from "./advice.js";
import { get, post, remove, text, Problem } from "./api.js";
import { Board, offCounts, pipCounts } from "./board.js";
import { confirmed, say, undoable } from "./dialog.js";
import { announce, h, percent, saveAs, show } from "./dom.js";
import { turned, unmoved } from "./drawing.js";
import { useKeys } from "./keys.js";
import { objected } from "./objection.js";
import { pause } from "./pace.js";
import { preference } from "./preferences.js";
import { ResultCard, resultWords } from "./result.js";
import { play as sound } from "./sound.js";
import { formatOf, nameOf, newGame, showStart } from "./start.js";
import { diceOf, START, tell } from "./telling.js";
import { t } from "./texts.js";
import { Turn } from "./turn.js";

const LAST = "motif-game", TUTOR = "motif-tutor";
const RETRY = 1500;
/** Milliseconds after which a press on the board may roll: one that came late for a move may not. */
const SETTLED = 400;
const LIMIT = 0.05;

export async function showPlay(view, name) {
  const wanted = name || localStorage.getItem(LAST);
  const opened = (state) => open(view, state);
  if (!wanted) return showStart(view, opened);
  show(view, h("p", { class: "working" }, t("thinking")));
  try {
    const state = await get(`/api/v1/games/${encodeURIComponent(wanted)}`);
    if (!name) history.replaceState(null, "", `#/play/${wanted}`);
    return new Game(view, state).start();
  } catch (error) {
    if (error.status === 0) {
      show(view, h("p", { class: "fault", role: "alert" }, error.message));
      setTimeout(() => view.isConnected && showPlay(view, name), RETRY);
      return null;
    }
    if (localStorage.getItem(LAST) === wanted) localStorage.removeItem(LAST);
    return showStart(view, opened, name || error.status !== 404 ? error.message : "");
  }
}

/** Shows a game that has just begun, its opening roll first. */
function open(shown, state) {
  localStorage.setItem(LAST, state.game);
  history.pushState(null, "", `#/play/${state.game}`);
  const view = document.getElementById("view") ?? shown;
  return new Game(view, state).start(state.events);
}

class Game {
  constructor(view, state) {
    this.view = view;
    this.state = state;
    this.turn = null;
    this.busy = false;
    this.since = null;
    this.hidden = false;
    this.result = new ResultCard(this);
    localStorage.setItem(LAST, state.game);
  }

  get path() {
    return `/api/v1/games/${this.state.game}`;
  }

  get opponent() {
    return nameOf(this.state.opponent);
  }

  nameOf(who) {
    return who === "me" ? t("you") : this.opponent;
  }

  async start(events = []) {
    this.board = new Board({
      pressed: (place, event) => this.pressed(place, event),
      dragged: (from, to) => this.dragged(from, to),
      lands: (place) => (this.turn && !this.busy ? [...this.turn.ways(place).keys()] : []),
      diced: () => this.diced(),
      cubed: () => this.press("double"),
    });
    this.notice = h("div", { class: "notice", "aria-live": "assertive" });
    this.opponentBar = h("div", { class: "side-bar opponent" });
    this.ownBar = h("div", { class: "side-bar own" });
    this.last = h("p", { class: "last", id: "last" });
    this.message = h("p", { class: "message", id: "message" });
    this.actions = h("div", { class: "actions", role: "group", "aria-label": t("actions") });
    this.sheet = h("div", { class: "tutor", tabindex: -1 });
    this.advice = h("div", { class: "advice", "aria-live": "polite" });
    this.adviceButtons = h("div", { class: "buttons" });
    this.log = h("ol", { class: "log", tabindex: 0, "aria-label": t("log") });
    this.about = h("div", { class: "about" });
    this.tutor = h("input", { type: "checkbox", id: "tutor", checked: localStorage.getItem(TUTOR) === "on", onchange: () => localStorage.setItem(TUTOR, this.tutor.checked ? "on" : "off") });
    this.table = h("section", { class: "table", "aria-label": t("table") },
      this.opponentBar, this.board.element, this.ownBar, this.last, this.message, this.actions);
    this.panel = h("div", { class: "panel", tabindex: 0, role: "region", "aria-label": t("advice and record") },
      this.sheet,
      h("section", {}, h("h2", {}, t("advice")), this.adviceButtons, h("label", { class: "check" }, this.tutor, t("tutor")), this.advice),
      h("section", {}, h("h2", {}, t("record")), this.log, this.about));
    show(this.view, h("h1", { class: "unseen" }, t("game head")), this.notice, h("div", { class: "game" }, this.table, this.panel));
    useKeys((key, event) => this.key(key, event));
    addEventListener("preference", () => this.table.isConnected && !this.busy && this.draw());
    if (events.length) await this.tellAll(events, { board: START, cube: { value: 1, owner: "centre", offered: false } });
    this.settle();
    return this;
  }

  /** Shows the state as it is, and what can be done. */
  settle(quiet = false) {
    const { state } = this;
    this.settled = performance.now();
    Object.assign(this.table.dataset, { asks: state.asks, revision: state.revision });
    delete this.table.dataset.tells;
    this.turn = state.asks === "play" && !this.hidden ? new Turn(state.board, state.roll, state.tree) : null;
    this.lastMove = this.foundLastMove();
    this.draw();
    this.showBars();
    this.showActions();
    this.showRecord();
    show(this.adviceButtons,
      h("button", { type: "button", id: "hint-button", onclick: () => this.hint(), disabled: !this.turn, title: t("key", { key: "H" }) }, t("hint")),
      h("button", { type: "button", id: "cube-button", onclick: () => this.cubeAdvice(), disabled: !this.asksCube, title: t("key", { key: "C" }) }, t("cube advice")));
    show(this.advice);
    show(this.sheet);
    this.panel.scrollTop = 0;
    const words = this.words();
    show(this.message, words);
    show(this.last, this.lastWords());
    if (!quiet) announce(words);
    if (["next", "nothing"].includes(state.asks) && state.result) this.result.show(this.sheet);
    if (this.turn && preference("autobearoff") && this.turn.bearoff) this.bearOff();
  }

  get asksCube() {
    return ["roll", "answer", "raccoon"].includes(this.state.asks) && (this.state.can.double || this.state.cube.offered);
  }

  /** The opponent's last play, with the board that it was made on; null where something else came since. */
  foundLastMove() {
    const { state } = this;
    const last = state.log.at(-1);
    if (!last || last.do !== "play" || last.who !== "opponent" || !last.play) return null;
    const moves = movesOf(last.play);
    return { moves, roll: last.roll, board: turned(unmoved(turned(state.board), moves)) };
  }

  draw(more = {}) {
    const { state, turn } = this;
    const board = turn ? turn.board : state.board;
    const moves = this.lastMove && !turn?.path.length ? [{ ...this.lastMove, mine: false, kind: "last" }] : [];
    const waiting = this.lastMove && !turn ? diceOf(this.lastMove.roll, "opponent") : null;
    this.board.show({
      board, cube: state.rules.cube ? state.cube : null, canDouble: state.can.double && !this.busy, dice: turn ? turn.dice : waiting, by: "me",
      movable: turn && !this.busy ? turn.movable : [], arrows: moves, ...more,
    });
  }

  showBars() {
    const { state } = this;
    const board = this.turn ? this.turn.board : state.board;
    const pips = pipCounts(board), off = offCounts(board);
    const bar = (name, k, light) => [
      h("span", { class: `chip ${light ? "light" : "dark"}`, "aria-hidden": "true" }), h("strong", {}, name),
      h("span", {}, t("pips", { count: pips[k] })), off[k] > 0 && h("span", {}, t("off", { count: off[k] })),
      h("span", { class: "score" }, state.rules.length ? t("score of", { score: Math.min(state.score[k], state.rules.length), length: state.rules.length }) : t("points", { count: state.score[k] }))];
    show(this.opponentBar, bar(this.opponent, 1, false), state.crawford && h("span", { class: "tag" }, t("crawford")));
    show(this.ownBar, bar(state.name === "You" ? t("you") : state.name, 0, true));
  }

  button(words, act, { primary = false, disabled = false, id = null, key = null } = {}) {
    return h("button", { type: "button", class: primary ? "primary" : "", disabled, id, onclick: act, title: key && t("key", { key }) }, words);
  }

  showActions() {
    const { state, turn } = this;
    const cube = state.cube.value;
    const buttons = [];
    if (this.hidden) buttons.push(this.button(t("roll"), () => this.reveal(), { primary: true, id: "roll", key: "R" }));
    else if (state.asks === "roll" || state.asks === "raccoon") buttons.push(this.button(t("roll"), () => this.decide("roll"), { primary: true, id: "roll", key: "R" }));
    if (state.can.double) buttons.push(this.button(t("double to", { cube: 2 * cube }), () => this.decide("double"), { id: "double", key: "D" }));
    if (state.asks === "raccoon") buttons.push(this.button(t("raccoon to", { cube: 2 * cube }), () => this.decide("raccoon")));
    if (turn) {
      buttons.push(this.button(t("ok"), () => this.commit(), { primary: true, disabled: turn.play === null, id: "ok", key: "Enter" }));
      buttons.push(this.button(t("undo checker"), () => this.undoMove(), { disabled: !turn.path.length, id: "undo", key: "U" }));
      if (state.roll[0] !== state.roll[1]) buttons.push(this.button(t("swap"), () => this.swap(), { disabled: turn.path.length > 0, id: "swap", key: "S" }));
    }
    if (state.asks === "answer") {
      buttons.push(this.button(t("take at", { cube: 2 * cube }), () => this.decide("take"), { primary: true, id: "take", key: "T" }));
      buttons.push(this.button(t("pass"), () => this.decide("drop"), { id: "drop", key: "P" }));
      if (state.can.beaver) buttons.push(this.button(t("beaver to", { cube: 4 * cube }), () => this.decide("beaver")));
    }
    if (state.asks === "next") buttons.push(this.button(t("next game"), () => this.decide("next"), { primary: true, id: "next", key: "N" }));
    if (state.asks === "nothing") buttons.push(this.button(t("new game"), () => this.begin(), { primary: true, id: "next", key: "N" }));
    if (state.asks === "next" || state.asks === "nothing") {
      buttons.push(this.button(t("analyse this"), () => this.analyse(), { id: "analyse" }), this.button(t("all rolls"), () => this.rolls(), { id: "rolls" }));
    }
    if (state.can.undo) buttons.push(this.button(t("take back"), () => this.decide("undo"), { id: "take-back", key: "B" }));
    show(this.actions, buttons);
  }

  words() {
    const { state } = this;
    const cube = state.cube.value;
    if (this.hidden) return t("asks roll");
    switch (state.asks) {
      case "play": return t("asks play", { roll: state.roll.join("-") });
      case "roll": return t(state.can.double ? "asks roll or double" : "asks roll");
      case "answer": return t("asks answer", { opponent: this.opponent, cube: 2 * cube, points: cube });
      case "raccoon": return t("asks raccoon", { opponent: this.opponent });
      case "wait": return t("thinking");
      default: return resultWords(state, this.opponent);
    }
  }

  logged(one) {
    const who = this.nameOf(one.who);
    if (one.do === "play") return `${who} ${one.roll.join("-")}: ${playName(one.play)}`;
    return `${who}: ${t(`did ${one.do}`)}`;
  }

  /** What has happened since the reader decided: the opponent's turn, and what left no choice. */
  lastWords() {
    const { log } = this.state;
    const own = log.findLastIndex((one) => one.who === "me");
    const since = this.since !== null && this.since < log.length ? this.since : own + 1;
    return log.slice(since).slice(-4).map((one) => this.logged(one)).join("  \u00b7  ");
  }

  /** What can be resigned, to be chosen; null where nothing can. */
  resignation() {
    const { resign } = this.state.can;
    if (!resign.length) return null;
    const select = h("select", { id: "resign", "aria-label": t("resign"), onchange: () => {
      const lose = select.value;
      select.value = "";
      if (lose) this.askResign(lose);
    } }, h("option", { value: "" }, t("resign")), resign.map((one) => h("option", { value: one }, t(`lose ${one}`))));
    return select;
  }

  showRecord() {
    const { state } = this;
    show(this.log, state.log.map((one) => h("li", { class: one.who }, this.logged(one))));
    this.log.scrollTop = this.log.scrollHeight;
    const { rules } = state;
    const words = rules.length ? formatOf(rules)
      : [t("money"), !rules.cube && t("no cube"), rules.jacoby && t("jacoby"), rules.beavers && t("beavers")].filter(Boolean).join(", ");
    show(this.about,
      h("p", {}, `${words}. ${t("game number", { number: state.number })}`),
      h("div", { class: "buttons" },
        this.resignation(), this.button(t("new game"), () => this.begin(), { id: "new-game" }),
        h("a", { class: "button", href: "#/start" }, t("all games")),
        h("a", { class: "button", href: `#/position/${encodeURIComponent(state.xgid)}` }, t("set up this")),
        this.button(t("save mat"), () => this.save(), { id: "save" })),
      h("p", {}, t("seed shown"), " ", h("code", { id: "seed-shown" }, String(state.seed)), h("br"), h("small", {}, t("seed words"))),
      h("div", { class: "buttons apart" }, this.button(t("forget game"), () => this.forget(), { id: "forget" })));
  }

  // --- What the reader does

  press(id) {
    const button = this.actions.querySelector(`#${id}`);
    if (!button || button.disabled || this.busy) return false;
    button.click();
    return true;
  }

  pressed(place, event) {
    if (this.busy) return;
    if (!this.turn) {
      if (event.type === "click" && performance.now() - this.settled < SETTLED) return;
      if (event.type === "click" || event.key === "Enter" || event.key === " ") this.press("roll");
      return;
    }
    if (event.type === "keydown" && (event.key === "Delete" || event.key === "Backspace")) return this.undoMove();
    if (event.type === "keydown" && !this.turn.steps.length) return this.commit();
    const before = this.turn.path.length;
    this.turn.press(place, event.shiftKey);
    this.afterMove(before);
  }

  /** A press on the dice: rolls, confirms, or changes which is played first. */
  diced() {
    if (!this.turn) this.press("roll");
    else if (this.turn.play !== null) this.commit();
    else if (!this.turn.path.length) this.swap();
  }

  dragged(from, to) {
    if (this.busy || !this.turn) return;
    const before = this.turn.path.length;
    this.turn.drag(from, to);
    this.afterMove(before);
  }

  redraw() {
    this.draw();
    this.showBars();
    this.showActions();
  }

  afterMove(before) {
    const steps = this.turn.path.slice(before);
    this.redraw();
    if (!steps.length) return;
    sound("checker");
    const from = steps[0].start === 25 ? t("board bar") : steps[0].start;
    const to = steps.at(-1).end === 0 ? t("board off") : steps.at(-1).end;
    announce(t("moved", { from, to }) + (this.turn.play !== null ? ` ${t("complete", { play: playName(this.turn.play) })}` : ""));
  }

  undoMove() {
    if (!this.turn?.back()) return;
    this.redraw();
    announce(t("undone"));
  }

  undoAll() {
    if (!this.turn) return;
    this.turn.path = [];
    this.redraw();
  }

  swap() {
    if (!this.turn || this.turn.path.length) return;
    this.turn.swap();
    this.draw();
    announce(t("first die", { die: this.turn.dice[0].value }));
  }

  commit() {
    if (this.turn && this.turn.play !== null && !this.busy) this.decide("play", { play: this.turn.play });
  }

  /** Shows the roll that has been thrown already. */
  reveal() {
    this.hidden = false;
    sound("dice");
    this.settle();
    this.moveFocus();
  }

  async bearOff() {
    const game = this.state.game, { revision } = this.state;
    this.turn.take(this.turn.bearoff);
    this.redraw();
    await pause("dice");
    if (this.state.game === game && this.state.revision === revision && this.table.isConnected) this.commit();
  }

  async askResign(lose) {
    if (await confirmed(t("resign sure", { what: t(`lose ${lose}`) }), t("yes resign"))) this.decide("resign", { lose });
  }

  key(key, event) {
    if (event.target.closest(".board") && key.startsWith("Arrow")) return false;
    const named = { r: "roll", d: "double", u: "undo", "ctrl-z": "undo", Backspace: "undo", o: "ok", t: "take", p: "drop", n: "next", b: "take-back" }[key];
    if (named && this.press(named)) return true;
    if (key === "ctrl-z") return this.press("take-back");
    if (key === "Enter" || key === " ") return Boolean(this.actions.querySelector("button.primary:not(:disabled)")?.click()) || true;
    if (key === "Escape") {
      if (this.turn?.path.length) this.undoAll();
      else show(this.sheet.querySelector(".result-card") ? this.advice : this.sheet);
      return true;
    }
    if (key === "h" && this.turn) this.hint();
    else if (key === "c" && this.asksCube) this.cubeAdvice();
    else if (key === "s") this.swap();
    else if (key === "w") this.begin();
    else if (key.startsWith("Arrow")) this.board.focus(this.board.focused);
    else return false;
    return true;
  }

  async decide(word, detail = {}, tutor = this.tutor.checked) {
    if (this.busy) return;
    this.busy = true;
    const waits = setTimeout(() => show(this.message, t("thinking")), 250);
    const asked = { do: word, revision: this.state.revision, ...detail };
    if (tutor && ["play", "roll", "double", "take", "drop", "beaver"].includes(word)) asked.tutor = LIMIT;
    try {
      const before = { board: this.turn ? this.turn.board : this.state.board, cube: this.state.cube };
      const known = this.state.log.length;
      const state = await post(this.path, asked);
      clearTimeout(waits);
      show(this.notice);
      if (state.objection) return this.object(state.objection, word, detail);
      this.since = word === "next" ? 0 : known + (["play", "double", "take", "drop", "beaver"].includes(word) ? 1 : 0);
      this.state = state;
      await this.tellAll(state.events, word === "next" ? { board: START, cube: { value: 1, owner: "centre", offered: false } } : before);
      this.busy = false;
      if (!this.table.isConnected) return;
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

  /** Shows what has happened; with auto-roll off, the reader's own roll waits for a press. */
  async tellAll(events, before) {
    const { state } = this;
    this.busy = true;
    this.turn = null;
    this.table.dataset.tells = "";
    show(this.actions);
    show(this.sheet);
    show(this.advice);
    show(this.last);
    await tell(this.board, events, {
      before: before.board, cube: state.rules.cube ? before.cube : null, names: (who) => this.nameOf(who), message: (words) => show(this.message, words),
    });
    const rolled = events.at(-1)?.do === "roll" && events.at(-1).who === "me" && events.length > 1;
    this.hidden = rolled && state.asks === "play" && !preference("autoroll");
    this.busy = false;
  }

  /** The button that was pressed is gone: the focus goes to what is asked next. */
  moveFocus() {
    if (document.activeElement !== document.body && document.activeElement !== null) return;
    if (this.turn) this.board.target(this.turn.movable[0] ?? 24) && this.board.focus(this.turn.movable[0] ?? 24);
    else this.actions.querySelector("button")?.focus({ preventScroll: true });
  }

  complain(error) {
    if (error.status === 409) {
      const again = this.button(t("show as it stands"), () => this.reload(), { primary: true, id: "reload" });
      show(this.notice, h("p", {}, t("went on elsewhere")), again);
    } else if (error.status === 404) {
      localStorage.removeItem(LAST);
      show(this.notice, h("p", {}, error.message), this.button(t("new game"), () => this.begin(), { primary: true }));
    } else {
      show(this.notice, h("p", {}, error.message));
      if (error.status === 0) setTimeout(() => this.retry(), RETRY);
    }
    this.busy = false;
    show(this.message, this.words());
    this.draw();
    this.showActions();
  }

  /** Asks until the server is there again; then shows the game as it stands. */
  async retry() {
    if (!this.notice.isConnected) return;
    try {
      const state = await get(this.path);
      show(this.notice);
      if (state.revision !== this.state.revision) {
        this.state = state;
        this.settle();
      }
      announce(t("server back"));
    } catch (error) {
      this.complain(error);
    }
  }

  async reload() {
    try {
      this.state = await get(this.path);
      this.hidden = false;
      show(this.notice);
      this.settle();
    } catch (error) {
      this.complain(error);
    }
  }

  object(objection, word, detail) {
    this.busy = false;
    show(this.message, this.words());
    objected(this, objection, {
      anyway: () => this.decide(word, detail, false),
      again: () => { show(this.sheet); this.undoAll(); },
    });
  }

  /** Draws a play as arrows on the board as it was before the roll; null ends it. */
  point(one) {
    if (this.busy) return;
    if (one) this.draw({ board: this.state.board, arrows: [{ moves: movesOf(one.notation), board: this.state.board }], movable: [] });
    else this.draw();
  }

  async hint() {
    this.panel.scrollTop = 0;
    await showHint(this.advice, { id: this.state.id, dice: this.state.roll }, {
      point: (one) => this.point(one), pick: (one) => this.take(one.notation), made: this.turn?.play ?? null, madeKey: "on the board",
    });
  }

  /** Moves the checkers as a play says, to be looked at, taken back or confirmed. */
  take(notation) {
    if (!this.turn) return;
    this.turn.take(notation);
    this.redraw();
    announce(t("complete", { play: playName(notation) }));
  }

  cubeAdvice() {
    const { rules } = this.state;
    this.panel.scrollTop = 0;
    return showCube(this.advice, { id: this.state.id }, rules.beavers ? { beavers: true } : {});
  }

  async save() {
    try {
      saveAs(`motif-${this.state.game}.mat`, await text(`${this.path}/mat`));
    } catch (error) {
      this.complain(error);
    }
  }

  analyse() {
    location.hash = `#/analyse/game/${this.state.game}`;
  }

  async rolls() {
    await attempt(this.advice, async () => {
      const rolls = await get(`${this.path}/rolls`);
      const faces = ["me", "opponent"].map((who) => {
        const count = rolls.faces[who].reduce((sum, one) => sum + one, 0) || 1;
        return [this.nameOf(who), ...rolls.faces[who].map((one) => `${one} (${percent(one / count, 0)})`), `${rolls.doubles[who]} / ${rolls.rolls[who]}`];
      });
      const heads = ["", "1", "2", "3", "4", "5", "6", t("doubles of rolls")];
      show(this.advice, h("section", {}, h("h3", {}, t("all rolls")), h("p", {}, t("fair words", { seed: rolls.seed })),
        h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": t("all rolls") }, h("table", { id: "faces" },
          h("caption", { class: "unseen" }, t("all rolls")),
          h("thead", {}, h("tr", {}, heads.map((one) => one ? h("th", { scope: "col" }, one) : h("td")))),
          h("tbody", {}, faces.map(([who, ...cells]) => h("tr", {}, h("th", { scope: "row" }, who), cells.map((one) => h("td", {}, one))))))),
        rolls.games.map((game, k) => [h("h4", {}, t("game number", { number: k + 1 })),
          h("p", { class: "rolls" }, game.map(([who, high, low]) => `${this.nameOf(who)} ${high}${low}`).join(", "))])));
    });
  }

  begin() {
    newGame((state) => open(this.view, state));
  }

  leave() {
    localStorage.removeItem(LAST);
    if (location.hash === "#/play") showPlay(this.view, "");
    else location.hash = "#/play";
  }

  /** Deletes the game, unless the reader takes that back. */
  forget() {
    const { game } = this.state;
    undoable(t("game deleted"), () => remove(`/api/v1/games/${game}`).catch((error) => say(error.message)), () => { location.hash = `#/play/${game}`; });
    this.leave();
  }
}
