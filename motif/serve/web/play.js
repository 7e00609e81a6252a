// A game against motif: the board, what can be done now, advice, and what has happened.

import { movesOf, playName, showCube, showHint, showWhy, actionWords, attempt } from "./advice.js";
import { get, post, remove, text, Problem } from "./api.js";
import { Board, offCounts, pipCounts } from "./board.js";
import { announce, figure, h, saveAs, show, signed, percent } from "./dom.js";
import { t } from "./texts.js";
import { Turn } from "./turn.js";
import { handOver } from "./handover.js";

const LAST = "motif-game", WISHES = "motif-wishes", TUTOR = "motif-tutor";
const RETRY = 1500;

export async function showPlay(view, name) {
  const wanted = name || localStorage.getItem(LAST);
  if (!wanted) return showStart(view);
  try {
    const state = await get(`/api/v1/games/${encodeURIComponent(wanted)}`);
    if (!name) history.replaceState(null, "", `#/play/${wanted}`);
    return new Game(view, state).start();
  } catch (error) {
    if (localStorage.getItem(LAST) === wanted) localStorage.removeItem(LAST);
    return showStart(view, name || error.status !== 404 ? error.message : "");
  }
}

async function showStart(view, message = "") {
  const wishes = JSON.parse(localStorage.getItem(WISHES) ?? "{}");
  show(view, h("p", { class: "working" }, t("thinking")));
  let opponents, kept;
  try {
    [{ opponents }, { games: kept }] = await Promise.all([get("/api/v1/games/opponents"), get("/api/v1/games")]);
  } catch (error) {
    show(view, h("p", { class: "fault", role: "alert" }, error.message));
    return null;
  }
  const field = (label, control, attributes = {}) => h("label", { class: "field", ...attributes }, h("span", {}, label), control);
  const check = (key, checked) => h("label", { class: "check" }, h("input", { type: "checkbox", name: key, checked }), t(key));
  const options = [];
  const byName = new Map(opponents.map((one) => [one.name, one]));
  for (const base of ["latest", ...opponents.map((one) => one.name).filter((one) => one !== "latest")]) {
    if (!byName.has(base)) continue;
    options.push(base, ...(byName.get(base).looks_ahead && base === "latest" ? [`${base}@1`, `${base}@2`] : []));
  }
  const named = (one) => {
    const key = `opponent ${one}`;
    return t(key) === key ? one : t(key);
  };
  const opponent = h("select", { name: "opponent", id: "opponent" }, options.map((one) => h("option", { value: one, selected: one === (wishes.opponent ?? "latest") }, named(one))));
  const kind = h("select", { name: "length", id: "length" }, [0, 1, 3, 5, 7, 9, 11, 15, 21].map((length) =>
    h("option", { value: length, selected: length === (wishes.length ?? 0) }, length ? t("match to", { count: length }) : t("money"))));
  const money = h("fieldset", { class: "checks" }, h("legend", {}, t("money rules")), check("cube", wishes.cube ?? true), check("jacoby", wishes.jacoby ?? true), check("beavers", wishes.beavers ?? false));
  const fits = () => { money.hidden = kind.value !== "0"; };
  kind.addEventListener("change", fits);
  fits();
  const seed = h("input", { name: "seed", inputmode: "numeric", pattern: "[0-9]*", autocomplete: "off", id: "seed", placeholder: t("new seed") });
  const fault = h("p", { class: "fault", role: "alert" }, message);
  const begin = async (event) => {
    event.preventDefault();
    const length = Number(kind.value);
    const box = (key) => money.querySelector(`[name=${key}]`).checked;
    const cube = length > 0 || box("cube");
    const wish = { opponent: opponent.value, length, cube, jacoby: !length && cube && box("jacoby"), beavers: !length && cube && box("beavers") };
    localStorage.setItem(WISHES, JSON.stringify({ opponent: wish.opponent, length, cube: box("cube"), jacoby: box("jacoby"), beavers: box("beavers") }));
    try {
      if (seed.value) wish.seed = Number(seed.value);
      open(view, await post("/api/v1/games", wish));
    } catch (error) {
      show(fault, error.message);
    }
  };
  const seat = h("select", { name: "seat", id: "seat" }, [0, 1].map((one) => h("option", { value: one }, t(`seat ${one}`))));
  const file = h("input", { type: "file", accept: ".mat,.txt", id: "load", onchange: async () => {
    try {
      const wish = { opponent: opponent.value, mat: await file.files[0].text(), seat: Number(seat.value) };
      open(view, await post("/api/v1/games/loaded", wish));
    } catch (error) {
      show(fault, error.message);
      file.value = "";
    }
  } });
  show(view,
    h("div", { class: "start" },
      h("section", {}, h("h1", {}, t("start head")), h("p", { class: "lead" }, t("start words")), fault,
        h("form", { onsubmit: begin },
          field(t("opponent"), opponent), field(t("for what"), kind), money, field(t("seed of the dice"), seed),
          h("button", { class: "primary" }, t("begin")))),
      h("section", { class: "side-note" },
        kept.length > 0 && [h("h2", {}, t("kept games")), h("ul", { class: "kept" }, kept.slice(0, 6).map((one) => h("li", {},
          h("a", { href: `#/play/${one.game}` }, t(one.length ? "kept match" : "kept money", { ...one, first: one.score[0], second: one.score[1] })),
          h("small", {}, one.asks === "nothing" ? t("over") : one.day))))],
        h("h2", {}, t("load head")), field(t("you are"), seat), field(t("mat file"), file))));
  return null;
}

function open(view, state) {
  localStorage.setItem(LAST, state.game);
  history.pushState(null, "", `#/play/${state.game}`);
  return new Game(view, state).start();
}

class Game {
  constructor(view, state) {
    this.view = view;
    this.state = state;
    this.turn = null;
    this.busy = false;
    this.preview = null;
    localStorage.setItem(LAST, state.game);
  }

  get path() {
    return `/api/v1/games/${this.state.game}`;
  }

  start() {
    this.board = new Board({
      pressed: (place, event) => this.pressed(place, event),
      dragged: (from, to) => this.dragged(from, to),
      lands: (place) => (this.turn && !this.busy ? [...this.turn.ways(place).keys()] : []),
    });
    this.board.drawing.addEventListener("click", (event) => {
      if (event.target.closest?.(".die") && this.turn) this.swap();
    });
    this.notice = h("div", { class: "notice", "aria-live": "assertive" });
    this.opponentBar = h("div", { class: "side-bar" });
    this.ownBar = h("div", { class: "side-bar" });
    this.message = h("p", { class: "message", id: "message" });
    this.actions = h("div", { class: "actions", role: "group", "aria-label": t("actions") });
    this.tutorPlace = h("div", { class: "tutor", tabindex: -1 });
    this.advice = h("div", { class: "advice", "aria-live": "polite" });
    this.adviceButtons = h("div", { class: "buttons" });
    this.log = h("ol", { class: "log", tabindex: 0, "aria-label": t("log") });
    this.about = h("div", { class: "about" });
    this.tutor = h("input", { type: "checkbox", id: "tutor", checked: localStorage.getItem(TUTOR) === "on", onchange: () => localStorage.setItem(TUTOR, this.tutor.checked ? "on" : "off") });
    const table = this.table = h("section", { class: "table", "aria-label": t("table"), onkeydown: (event) => this.key(event) },
      this.opponentBar, this.board.element, this.ownBar, this.message, this.actions, this.tutorPlace);
    show(this.view, h("h1", { class: "unseen" }, t("game head")), this.notice,
      h("div", { class: "game" }, table,
        h("aside", { class: "panel", "aria-label": t("advice and record") },
          h("section", {}, h("h2", {}, t("advice")), this.adviceButtons,
            h("label", { class: "check" }, this.tutor, t("tutor")), this.advice),
          h("section", {}, h("h2", {}, t("record")), this.log, this.about))));
    this.settle();
    return this;
  }

  /** Shows the state as it is, and what can be done. */
  settle(quiet = false) {
    const { state } = this;
    Object.assign(this.table.dataset, { asks: state.asks, revision: state.revision });
    this.turn = state.asks === "play" ? new Turn(state.board, state.roll, state.tree) : null;
    this.draw();
    this.showBars();
    this.showActions();
    this.showRecord();
    show(this.adviceButtons,
      h("button", { type: "button", id: "hint-button", onclick: () => this.hint(), disabled: !["play"].includes(state.asks) }, t("hint")),
      h("button", { type: "button", id: "cube-button", onclick: () => this.cubeAdvice(), disabled: !this.asksCube }, t("cube advice")));
    show(this.advice);
    show(this.tutorPlace);
    const words = this.words();
    show(this.message, words);
    if (!quiet) announce(words);
  }

  get asksCube() {
    return ["roll", "answer", "raccoon"].includes(this.state.asks) && (this.state.can.double || this.state.cube.offered);
  }

  draw(more = {}) {
    const { state, turn } = this;
    const board = turn ? turn.board : state.board;
    const dice = turn ? turn.dice : null;
    this.board.show({ board, cube: state.rules.cube ? state.cube : null, dice, by: "me", movable: turn && !this.busy ? turn.movable : [], ...more });
  }

  showBars() {
    const { state } = this;
    const board = this.turn ? this.turn.board : state.board;
    const pips = pipCounts(board), off = offCounts(board);
    const bar = (name, k, light) => [
      h("span", { class: `chip ${light ? "light" : "dark"}`, "aria-hidden": "true" }), h("strong", {}, name),
      h("span", { class: "score" }, state.rules.length ? t("score of", { score: state.score[k], length: state.rules.length }) : t("points", { count: state.score[k] })),
      h("span", {}, t("pips", { count: pips[k] })), off[k] > 0 && h("span", {}, t("off", { count: off[k] }))];
    const crawford = state.crawford && h("span", { class: "tag" }, t("crawford"));
    show(this.opponentBar, bar(state.opponent, 1, false), crawford);
    show(this.ownBar, bar(state.name === "You" ? t("you") : state.name, 0, true));
  }

  button(text, act, { primary = false, disabled = false, id = null } = {}) {
    return h("button", { type: "button", class: primary ? "primary" : "", disabled, id, onclick: act }, text);
  }

  showActions() {
    const { state, turn } = this;
    const cube = state.cube.value;
    const buttons = [];
    if (state.asks === "roll" || state.asks === "raccoon") buttons.push(this.button(t("roll"), () => this.decide("roll"), { primary: true, id: "roll" }));
    if (state.can.double) buttons.push(this.button(t("double to", { cube: 2 * cube }), () => this.decide("double"), { id: "double" }));
    if (state.asks === "raccoon") buttons.push(this.button(t("raccoon to", { cube: 2 * cube }), () => this.decide("raccoon")));
    if (state.asks === "play") {
      buttons.push(this.button(t("ok"), () => this.commit(), { primary: true, disabled: !(turn.play !== null), id: "ok" }));
      if (state.roll[0] !== state.roll[1]) buttons.push(this.button(t("swap"), () => this.swap(), { disabled: turn.path.length > 0, id: "swap" }));
      buttons.push(this.button(t("undo"), () => this.undoMove(), { disabled: !turn.path.length, id: "undo" }));
    }
    if (state.asks === "answer") {
      buttons.push(this.button(t("take at", { cube: 2 * cube }), () => this.decide("take"), { primary: true, id: "take" }));
      buttons.push(this.button(t("pass"), () => this.decide("drop"), { id: "drop" }));
      if (state.can.beaver) buttons.push(this.button(t("beaver to", { cube: 4 * cube }), () => this.decide("beaver")));
    }
    if (state.asks === "next") buttons.push(this.button(t("next game"), () => this.decide("next"), { primary: true, id: "next" }));
    if (state.asks === "next" || state.asks === "nothing") {
      buttons.push(this.button(t("analyse this"), () => this.analyse(), { id: "analyse" }));
      buttons.push(this.button(t("all rolls"), () => this.rolls(), { id: "rolls" }));
    }
    if (state.asks === "nothing") buttons.push(this.button(t("new game"), () => this.leave(), { primary: true }));
    if (state.can.undo) buttons.push(this.button(t("take back"), () => this.decide("undo"), { id: "take-back" }));
    if (state.can.resign.length) {
      const select = h("select", { id: "resign", "aria-label": t("resign"), onchange: () => {
        const lose = select.value;
        select.value = "";
        if (lose) this.askResign(lose);
      } }, h("option", { value: "" }, t("resign")), state.can.resign.map((one) => h("option", { value: one }, t(`lose ${one}`))));
      buttons.push(select);
    }
    show(this.actions, buttons);
  }

  words() {
    const { state } = this;
    const cube = state.cube.value;
    switch (state.asks) {
      case "play": return t("asks play", { roll: state.roll.join("-") });
      case "roll": return t(state.can.double ? "asks roll or double" : "asks roll");
      case "answer": return t("asks answer", { opponent: state.opponent, cube: 2 * cube, points: cube });
      case "raccoon": return t("asks raccoon", { opponent: state.opponent });
      case "wait": return t("thinking");
      default: return this.resultWords();
    }
  }

  resultWords() {
    const { result, winner, score, rules } = this.state;
    if (!result) return "";
    const who = result.winner === "me" ? t("you win") : t("opponent wins", { opponent: this.state.opponent });
    const how = result.dropped ? t("result dropped") : result.resigned ? t("result resigned") : t(`result ${result.kind}`);
    const match = winner ? ` ${t(winner === "me" ? "you win match" : "opponent wins match", { opponent: this.state.opponent, first: Math.max(...score), second: Math.min(...score) })}` : "";
    return `${who} ${t("result points", { count: result.points })} (${how}${result.jacoby ? `; ${t("result jacoby")}` : ""}).${match}`;
  }

  showRecord() {
    const { state } = this;
    const line = (one) => {
      const who = one.who === "me" ? t("you") : state.opponent;
      if (one.do === "play") return `${who} ${one.roll.join("-")}: ${playName(one.play)}`;
      return `${who}: ${t(`did ${one.do}`)}`;
    };
    show(this.log, state.log.map((one) => h("li", { class: one.who }, line(one))));
    this.log.scrollTop = this.log.scrollHeight;
    const rules = state.rules.length ? t("match to", { count: state.rules.length })
      : [t("money"), !state.rules.cube && t("no cube"), state.rules.jacoby && t("jacoby"), state.rules.beavers && t("beavers")].filter(Boolean).join(", ");
    show(this.about,
      h("p", {}, `${rules}. ${t("game number", { number: state.number })}`),
      h("p", {}, t("seed shown"), " ", h("code", { id: "seed-shown" }, String(state.seed)), h("br"), h("small", {}, t("seed words"))),
      h("div", { class: "buttons" },
        this.button(t("save mat"), () => this.save(), { id: "save" }),
        h("a", { class: "button", href: `#/position/${encodeURIComponent(state.xgid)}` }, t("set up this")),
        this.button(t("new game"), () => this.leave(), { id: "new-game" }),
        this.button(t("forget game"), () => this.forget())));
  }

  // --- What the reader does

  pressed(place, event) {
    if (this.busy || !this.turn) return;
    if (event.type === "keydown" && (event.key === "Delete" || event.key === "Backspace")) return this.undoMove();
    const before = this.turn.path.length;
    this.turn.press(place, event.shiftKey);
    this.afterMove(before);
  }

  dragged(from, to) {
    if (this.busy || !this.turn) return;
    const before = this.turn.path.length;
    this.turn.drag(from, to);
    this.afterMove(before);
  }

  afterMove(before) {
    const steps = this.turn.path.slice(before);
    this.draw();
    this.showBars();
    this.showActions();
    if (!steps.length) return;
    const from = steps[0].start === 25 ? t("board bar") : steps[0].start;
    const to = steps.at(-1).end === 0 ? t("board off") : steps.at(-1).end;
    announce(t("moved", { from, to }) + (this.turn.play !== null ? ` ${t("complete", { play: playName(this.turn.play) })}` : ""));
  }

  undoMove() {
    if (!this.turn?.back()) return;
    this.draw();
    this.showBars();
    this.showActions();
    announce(t("undone"));
  }

  swap() {
    this.turn.swap();
    this.draw();
    announce(t("first die", { die: this.turn.dice[0].value }));
  }

  commit() {
    if (this.turn?.play !== null && !this.busy) this.decide("play", { play: this.turn.play });
  }

  askResign(lose) {
    const yes = this.button(t("yes resign"), () => this.decide("resign", { lose }), { primary: true, id: "yes-resign" });
    show(this.tutorPlace, h("p", {}, t("resign sure", { what: t(`lose ${lose}`) })), h("div", { class: "buttons" }, yes, this.button(t("no"), () => show(this.tutorPlace))));
    yes.focus();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, textarea")) return;
    const key = event.key.toLowerCase();
    const on = { r: "roll", d: "double", u: "undo", o: "ok", t: "take", p: "drop", n: "next", b: "take-back" }[key];
    const button = on && this.actions.querySelector(`#${on}`);
    if (button && !button.disabled) {
      event.preventDefault();
      button.click();
    } else if (key === "h" && this.turn) {
      event.preventDefault();
      this.hint();
    } else if (key === "s" && this.turn) {
      this.swap();
    }
  }

  async decide(word, detail = {}, tutor = this.tutor.checked) {
    if (this.busy) return;
    this.busy = true;
    const waits = setTimeout(() => show(this.message, t("thinking")), 250);
    const asked = { do: word, revision: this.state.revision, ...detail };
    if (tutor && ["play", "roll", "double", "take", "drop", "beaver"].includes(word)) asked.tutor = 0.05;
    try {
      const before = this.turn ? this.turn.board : this.state.board;
      const state = await post(this.path, asked);
      clearTimeout(waits);
      show(this.notice);
      if (state.objection) return this.object(state.objection, word, detail);
      this.state = state;
      await this.tell(state.events, before);
      this.busy = false;
      this.settle(state.events.length > 0 && state.asks === "wait");
      if (state.declined) show(this.message, t("declined", { opponent: state.opponent }));
      this.moveFocus();
    } catch (error) {
      clearTimeout(waits);
      if (!(error instanceof Problem)) throw error;
      this.complain(error);
    } finally {
      this.busy = false;
    }
  }

  /** The button that was pressed is gone: the focus goes to what is asked next. */
  moveFocus() {
    if (document.activeElement !== document.body && document.activeElement !== null) return;
    if (this.turn) this.board.target(this.turn.movable[0] ?? 24) && this.board.focus(this.turn.movable[0] ?? 24);
    else this.actions.querySelector("button")?.focus();
  }

  /** Shows what has happened, step by step. */
  async tell(events, before) {
    const { opponent } = this.state;
    let shown = before;
    for (const one of events) {
      const who = one.who === "me" ? t("you") : opponent;
      const cube = this.state.rules.cube ? this.state.cube : null;
      if (one.do === "play" && (one.who === "opponent" || one.forced)) {
        const dice = one.roll[0] === one.roll[1] ? Array(4).fill(one.roll[0]) : one.roll;
        this.board.show({ board: shown, cube, dice: dice.map((value) => ({ value, used: false })), by: one.who });
        announce(t(one.forced && one.who === "me" ? "told forced" : "told play", { who, roll: one.roll.join("-"), play: playName(one.play) }));
        await this.board.animate(shown, one.moves, one.who === "me");
      } else if (one.do === "begin") {
        announce(t("told begin", { opponent, mine: one.dice[0], theirs: one.dice[1] }));
      } else if (!["play", "roll", "undo"].includes(one.do)) {
        announce(`${who}: ${t(`did ${one.do}`)}.`);
      }
      shown = one.board;
    }
  }

  complain(error) {
    if (error.status === 409) {
      const again = this.button(t("show as it stands"), () => this.reload(), { primary: true, id: "reload" });
      show(this.notice, h("p", {}, t("went on elsewhere")), again);
    } else if (error.status === 404) {
      localStorage.removeItem(LAST);
      show(this.notice, h("p", {}, error.message), this.button(t("new game"), () => this.leave(), { primary: true }));
    } else if (error.status === 0) {
      show(this.notice, h("p", {}, error.message));
      setTimeout(() => this.retry(), RETRY);
    } else {
      show(this.notice, h("p", {}, error.message));
    }
    this.settleActions();
  }

  settleActions() {
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
      show(this.notice);
      this.settle();
    } catch (error) {
      this.complain(error);
    }
  }

  /** The tutor's objection, with both plays, and why. */
  object(objection, word, detail) {
    this.busy = false;
    show(this.message, this.words());
    const anyway = this.button(t("anyway"), () => this.decide(word, detail, false), { id: "anyway" });
    const why = h("div", { class: "why", "aria-live": "polite" });
    const better = objection.plays ? playName(objection.better) : actionWords(objection.better);
    const words = t("tutor says", { cost: figure(objection.cost, 3), better });
    const showing = (one) => ({
      onpointerenter: () => this.point(one), onpointerleave: () => this.point(null),
      onfocus: () => this.point(one), onblur: () => this.point(null),
    });
    const rows = objection.plays?.map((one) => h("li", {}, h("button", { type: "button", class: "plain play", ...showing(one) }, playName(one.notation)), ` ${signed(one.equity)}`));
    const about = { id: this.state.id, dice: this.state.roll };
    const tell = () => (objection.plays ? showWhy(why, about, objection.plays[0].notation, objection.plays[1].notation) : showCube(why, about));
    show(this.tutorPlace,
      h("h2", {}, t("tutor head")), h("p", {}, words), rows && h("ul", { class: "two-plays" }, rows),
      h("div", { class: "buttons" },
        this.button(t("think again"), () => { show(this.tutorPlace); this.undoAll(); }, { primary: true, id: "think-again" }), anyway,
        this.button(t("why"), tell, { id: "tutor-why" })), why);
    this.tutorPlace.focus();
    announce(words);
  }

  undoAll() {
    if (!this.turn) return;
    this.turn.path = [];
    this.draw();
    this.showBars();
    this.showActions();
  }

  /** Draws a play as arrows on the board as it was before the roll; null ends it. */
  point(one) {
    if (this.busy) return;
    if (one) this.draw({ board: this.state.board, arrows: movesOf(one.notation), movable: [] });
    else this.draw();
  }

  async hint() {
    const about = { id: this.state.id, dice: this.state.roll };
    await showHint(this.advice, about, {
      point: (one) => this.point(one), pick: (one) => this.take(one.notation), made: this.turn?.play ?? null, madeKey: "on the board",
    });
  }

  /** Moves the checkers as a play says, to be looked at, taken back or confirmed. */
  take(notation) {
    const { tree } = this.turn;
    const goal = tree.plays.indexOf(notation);
    const known = new Map([[0, []]]);
    const queue = [0];
    while (queue.length && !known.has(goal)) {
      const node = queue.shift();
      for (const step of this.turn.stepsAt(node)) {
        if (known.has(step.node)) continue;
        known.set(step.node, [...known.get(node), step]);
        queue.push(step.node);
      }
    }
    this.turn.path = known.get(goal) ?? [];
    this.draw();
    this.showBars();
    this.showActions();
    announce(t("complete", { play: playName(notation) }));
  }

  cubeAdvice() {
    const { rules } = this.state;
    return showCube(this.advice, { id: this.state.id }, rules.beavers ? { beavers: true } : {});
  }

  async save() {
    try {
      saveAs(`motif-${this.state.game}.mat`, await text(`${this.path}/mat`));
    } catch (error) {
      this.complain(error);
    }
  }

  async analyse() {
    try {
      handOver(await text(`${this.path}/mat`));
      location.hash = "#/analyse";
    } catch (error) {
      this.complain(error);
    }
  }

  async rolls() {
    await attempt(this.advice, async () => {
      const rolls = await get(`${this.path}/rolls`);
      const faces = ["me", "opponent"].map((who) => {
        const count = rolls.faces[who].reduce((sum, one) => sum + one, 0) || 1;
        return [who === "me" ? t("you") : this.state.opponent, ...rolls.faces[who].map((one) => `${one} (${percent(one / count, 0)})`),
          `${rolls.doubles[who]} / ${rolls.rolls[who]}`];
      });
      const heads = ["", "1", "2", "3", "4", "5", "6", t("doubles of rolls")];
      show(this.advice, h("section", {}, h("h3", {}, t("all rolls")), h("p", {}, t("fair words", { seed: rolls.seed })),
        h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": t("all rolls") }, h("table", { id: "faces" },
          h("caption", { class: "unseen" }, t("all rolls")),
          h("thead", {}, h("tr", {}, heads.map((one) => one ? h("th", { scope: "col" }, one) : h("td")))),
          h("tbody", {}, faces.map(([who, ...cells]) => h("tr", {}, h("th", { scope: "row" }, who), cells.map((one) => h("td", {}, one))))))),
        rolls.games.map((game, k) => [h("h4", {}, t("game number", { number: k + 1 })),
          h("p", { class: "rolls" }, game.map(([who, high, low]) => `${who === "me" ? t("you") : this.state.opponent} ${high}${low}`).join(", "))])));
    });
  }

  leave() {
    localStorage.removeItem(LAST);
    if (location.hash === "#/play") showPlay(this.view, "");
    else location.hash = "#/play";
  }

  async forget() {
    try {
      await remove(this.path);
      this.leave();
    } catch (error) {
      this.complain(error);
    }
  }
}
