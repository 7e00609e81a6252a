// Questions to learn from: the reader's own errors, opening rolls and replies, bearoffs and doubles.  Those that
// were answered wrong come again soon, the others after more and more days.

import { actionWords, movesOf, playName, showCube, showWhy } from "./advice.js";
import { get, post } from "./api.js";
import { announce, figure, h, percent, show } from "./dom.js";
import { turned } from "./drawing.js";
import { useKeys } from "./keys.js";
import { Mover } from "./mover.js";
import { retried } from "./start.js";
import { diceOf } from "./telling.js";
import { t } from "./texts.js";

const KINDS = ["error", "opening", "reply", "bearoff", "cube"];
/** Points of equity that a right answer may give up. */
const RIGHT = 0.02;
const TO_TAKE = ["take", "pass", "drop", "beaver"];

export async function showLearn(view, rest) {
  const [kind, analysis] = rest.split("/");
  if (kind === "analysis") return new Quiz(view, "error", analysis).next();
  if (KINDS.includes(kind)) return new Quiz(view, kind).next();
  const place = h("div", { class: "trainers" });
  show(view, h("div", { class: "text" }, h("h1", {}, t("learn head")), h("p", { class: "lead" }, t("learn words")), place));
  return retried(place, async () => {
    const { progress } = await get("/api/v1/learn");
    show(place, KINDS.map((one) => trainer(one, progress[one])));
  });
}

function trainer(kind, { cards, due, asked, known, learned }) {
  const isEmpty = kind === "error" && !cards;
  const words = isEmpty ? t("no errors yet") : [t("cards due", { count: due }), asked ? t("cards right", { percent: percent(known / asked, 0), count: learned }) : t("cards none")].join(" ");
  return h("section", { class: "card" }, h("h2", {}, t(`trainer ${kind}`)), h("p", {}, t(`trainer ${kind} words`)), h("p", { class: "source" }, words),
    isEmpty ? h("a", { class: "button", href: "#/analyse" }, t("view analyse")) : h("a", { class: "button", id: `learn-${kind}`, href: `#/learn/${kind}` }, t("practise")));
}

class Quiz {
  constructor(view, kind, analysis = null) {
    Object.assign(this, { view, kind, analysis, skip: [], right: 0, asked: 0 });
    this.mover = new Mover({ changed: () => this.showActions() });
    this.bar = h("div", { class: "side-bar opponent" });
    this.message = h("p", { class: "message", id: "message" });
    this.actions = h("div", { class: "actions", role: "group", "aria-label": t("actions") });
    this.verdict = h("div", { class: "sheet", "aria-live": "polite", tabindex: -1 });
    this.why = h("div", { class: "advice", "aria-live": "polite" });
    show(view, h("h1", { class: "unseen" }, t(`trainer ${kind}`)),
      h("div", { class: "game" },
        this.table = h("section", { class: "table quiz", "aria-label": t("board") }, this.bar, this.mover.element, this.message, this.actions),
        this.panel = h("div", { class: "panel", tabindex: 0, role: "region", "aria-label": t(`trainer ${kind}`) }, this.verdict, h("section", { class: "card" }, this.why))));
    useKeys((key) => this.key(key));
  }

  async next() {
    show(this.why);
    show(this.actions);
    show(this.verdict, h("p", { class: "working" }, t("thinking")));
    await retried(this.verdict, async () => {
      const { card } = await post("/api/v1/learn/next", { kind: this.kind, analysis: this.analysis, skip: this.skip });
      if (!card) return this.end();
      const turn = card.question.is_play ? await post("/api/v1/turn", { id: card.question.id }) : null;
      return this.ask(card, turn);
    });
    return this;
  }

  end() {
    this.card = null;
    const head = this.asked ? t("quiz over", { right: this.right, count: this.asked }) : t("nothing due");
    show(this.verdict, h("h2", {}, head), this.asked > 0 && h("p", {}, t("quiz again")),
      h("div", { class: "buttons" }, h("a", { class: "button primary", id: "quiz-done", href: "#/learn" }, t("view learn")), this.analysis && h("a", { class: "button", href: `#/analyse/${this.analysis}` }, t("show errors of game"))));
    this.mover.show({ board: new Array(26).fill(0) });
    show(this.message, head);
    announce(head);
  }

  /** Whether the question is one of who was doubled. */
  get isTake() {
    return TO_TAKE.includes(this.card?.question.done);
  }

  ask(card, turn) {
    this.card = card;
    this.answered = false;
    const { question } = card;
    const board = this.isTake ? turned(question.board) : question.board;
    const owner = this.isTake && question.owner !== "centre" ? { me: "opponent", opponent: "me" }[question.owner] : question.owner ?? "centre";
    this.shown = { board, by: "me", cube: { value: question.cube ?? 1, owner, offered: this.isTake }, dice: null };
    show(this.verdict, h("h2", {}, t(`trainer ${this.kind}`)), h("p", {}, t(question.is_play ? "ask play" : this.isTake ? "ask take" : "ask double")),
      this.asked > 0 && h("p", { class: "source" }, t("quiz so far", { right: this.right, count: this.asked })));
    show(this.bar, h("strong", {}, t(`trainer ${this.kind}`)), h("span", { class: "score" }, question.score && question.is_play ? `${question.score[0]}\u2013${question.score[1]}` : t("money")));
    if (question.is_play) this.mover.play(turn, this.shown, (play, after) => this.judge(play, after));
    else this.mover.show(this.shown);
    this.showActions();
    const words = question.is_play ? t("asks play", { roll: question.dice.join("-") }) : t(this.isTake ? "ask take" : "ask double");
    show(this.message, words);
    announce(words);
  }

  showActions() {
    if (!this.card) return show(this.actions);
    const button = (id, words, act, primary = false) => h("button", { type: "button", id, class: primary ? "primary" : "", onclick: act }, words);
    if (this.answered) {
      return show(this.actions, button("next-question", t("next question"), () => this.next(), true), button("quiz-why", t("why"), () => this.explain()),
        h("a", { class: "button", href: `#/position/${encodeURIComponent(this.card.question.id)}` }, t("set up decision")));
    }
    if (this.card.question.is_play) return show(this.actions, this.mover.buttons());
    const choices = this.isTake ? ["take", "pass"] : this.kind === "error" ? ["double", "no double"] : ["no double", "double, take", "double, pass"];
    return show(this.actions, choices.map((one) => button(`answer-${one.replaceAll(/[^a-z]+/g, "-")}`, actionWords(one), () => this.judgeCube(one))));
  }

  key(key) {
    if (this.answered && (key === "Enter" || key === " " || key === "n")) this.next();
    else if (this.answered && key === "w") this.explain();
    else if (!this.answered && this.card?.question.is_play) return this.mover.key(key);
    else return false;
    return true;
  }

  /** What a play gives up: by the analysis where it knows the play, else by asking. */
  async costOf(play) {
    const { question } = this.card;
    const known = question.candidates?.find((one) => one.done === play);
    if (known) return { cost: Math.max(0, question.candidates[0].equity - known.equity), best: question.best };
    const { plays } = await post("/api/v1/hint", { id: question.id });
    const own = plays.find((one) => one.notation === play) ?? plays.at(-1);
    return { cost: Math.max(0, plays[0].equity - own.equity), best: question.best ?? plays[0].notation };
  }

  async judge(play, after) {
    this.mover.show({ ...this.shown, board: after });
    await this.told(async () => {
      const { cost, best } = await this.costOf(play);
      this.pair = [best, play];
      const { board } = this.card.question;
      const arrows = [{ moves: movesOf(play), board, kind: cost < RIGHT ? "better" : "played" }];
      if (cost >= RIGHT) arrows.push({ moves: movesOf(best), board, kind: "better" });
      this.mover.show({ ...this.shown, board, dice: diceOf(this.card.question.dice, "me"), arrows });
      return { cost, best: playName(best), made: playName(play) };
    });
  }

  async judgeCube(answer) {
    await this.told(async () => {
      const { question } = this.card;
      const cube = await post("/api/v1/cube", { id: question.id });
      const { no_double: none, double_take: taken, double_pass: passed } = cube;
      const best = Math.max(none, Math.min(taken, passed));
      const doubled = Math.min(taken, passed);
      const cost = { take: taken - passed, pass: passed - taken, double: best - doubled, "no double": best - none,
        "double, take": best - doubled + Math.max(0, taken - passed), "double, pass": best - doubled + Math.max(0, passed - taken) }[answer];
      this.pair = null;
      return { cost: Math.max(0, cost), best: actionWords(cube.action), made: actionWords(answer) };
    });
  }

  /** Says whether the answer was right, and keeps that. */
  async told(work) {
    const { card } = this;
    show(this.actions);
    try {
      const { cost, best, made } = await work();
      const isRight = cost < RIGHT;
      const kept = await post("/api/v1/learn", { key: card.key, kind: this.kind, question: card.question, right: isRight });
      this.answered = true;
      this.asked += 1;
      this.right += isRight;
      this.skip.push(card.key);
      const words = t(isRight ? (cost < 0.0005 ? "quiz best" : "quiz right") : "quiz wrong", { made, best, cost: figure(cost, 3) });
      show(this.verdict, h("h2", { class: isRight ? "right" : "wrong" }, t(isRight ? "right" : "wrong")), h("p", {}, words),
        h("p", { class: "source" }, t(isRight ? "comes again" : "comes soon", { count: kept.days })));
      show(this.message, words);
      announce(words);
      this.showActions();
      if (!isRight) this.explain();
    } catch (error) {
      show(this.verdict, h("p", { class: "fault", role: "alert" }, error.message), h("button", { type: "button", onclick: () => this.next() }, t("try now")));
    }
  }

  explain() {
    const { id } = this.card.question;
    if (!this.pair) return showCube(this.why, { id });
    const [best, play] = this.pair;
    return showWhy(this.why, { id }, best, best === play ? undefined : play);
  }
}
