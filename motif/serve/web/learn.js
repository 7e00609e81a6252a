// Quizzes: own errors, opening rolls, replies, bearoffs and cube decisions.

import { costWords, showCube, showWhy } from "./advice.js";
import { get, post } from "./api.js";
import { announce, button, buttons, fault, h, linkTo, live, percent, positionLink, said, show, source, working } from "./dom.js";
import { pipCounts, turned } from "./drawing.js";
import { useKeys } from "./keys.js";
import { Mover } from "./mover.js";
import { actionWords, diceOf, formatOf, movesOf, otherOwner, playName, scoreOf, START } from "./plays.js";
import { t } from "./texts.js";
import { frame, player, retried } from "./view.js";

const KINDS = ["error", "opening", "reply", "bearoff", "cube"];

export async function open(view, rest) {
  const [kind, analysis] = rest.split("/");
  if (kind === "analysis") return new Quiz(view, "error", analysis).next();
  if (KINDS.includes(kind)) return new Quiz(view, kind).next();
  const place = h("div", { class: "trainers" });
  show(view, h("div", { class: "text" }, h("h1", t("view learn")), h("p", { class: "lead" }, t("learn words")), place));
  return retried(place, async () => {
    const { progress } = await get("learn");
    show(place, KINDS.map((one) => trainer(one, progress[one])));
  });
}

function trainer(kind, { cards, due, asked, known, learned }) {
  const isEmpty = kind === "error" && !cards;
  const words = isEmpty ? t("no errors yet") : [due > 0 ? t("cards due", { count: due }) : kind === "error" && `${t("nothing due")}.`, asked ? t("cards right", { percent: percent(known / asked, 0), count: learned }) : t("cards none")].filter(Boolean).join(" ");
  return h("section", { class: "card" }, h("h2", t(`trainer ${kind}`)), h("p", t(`trainer ${kind} words`)), source(words),
    isEmpty ? linkTo(t("view analyse"), "#/analyse") : linkTo(t("practise"), `#/learn/${kind}`, { id: `learn-${kind}` }));
}

/** The quiz that goes on after its view was left. */
let begun = null;

class Quiz {
  constructor(view, kind, analysis = null) {
    const { skip = [], right = 0, asked = 0, card = null, answered } = begun?.kind === kind && begun.analysis === analysis ? begun : {};
    Object.assign(this, { view, kind, analysis, skip, right, asked, card, answered });
    begun = this;
    this.mover = new Mover({ changed: () => this.showActions() });
    this.verdict = live("sheet");
    this.why = live("advice");
    Object.assign(this, frame(view, t(`trainer ${kind}`), this.mover, "quiz"));
    this.last.remove();
    show(this.panel, this.verdict, h("section", { class: "card" }, this.why));
    useKeys((key) => this.key(key));
  }

  async next() {
    if (this.answered) this.card = null;
    this.answered = false;
    show(this.why);
    show(this.actions);
    show(this.verdict, working());
    await retried(this.verdict, async () => {
      const { card } = this.card ? this : await post("learn/next", { kind: this.kind, analysis: this.analysis, skip: this.skip.slice(-500) });
      if (!card) return this.end();
      const turn = card.question.is_play ? await post("turn", { id: card.question.id }) : null;
      return this.ask(card, turn);
    });
    return this;
  }

  end() {
    begun = null;
    const head = this.asked ? t("quiz over", { right: this.right, count: this.asked }) : t("nothing due");
    show(this.verdict, h("h2", head), this.asked > 0 && h("p", t("quiz again")),
      buttons(linkTo(t("view learn"), "#/learn", { id: "quiz-done" }), this.analysis && linkTo(t("show analysis"), `#/analyse/${this.analysis}`)));
    this.mover.show({ board: START });
    show(this.message, head);
    announce(head);
  }

  get isTake() {
    return this.card?.question.kind === "take";
  }

  ask(card, turn) {
    this.card = card;
    const { question } = card;
    const board = this.isTake ? turned(question.board) : question.board;
    const owner = question.owner ?? "centre";
    this.shown = { board, by: "me", cube: { value: question.cube ?? 1, owner: this.isTake ? otherOwner(owner) : owner, offered: this.isTake }, dice: null };
    const length = Number(question.xgid?.split(":")[8] ?? 0), score = this.isTake ? question.score?.toReversed() : question.score;
    this.facts = [0, 1].map((k) => (length ? { score: scoreOf(score[k], length) } : {}));
    show(this.verdict, h("h2", t(`trainer ${this.kind}`)), h("p", formatOf({ length })), this.asked > 0 && source(t("quiz so far", { right: this.right, count: this.asked })));
    if (question.is_play) this.mover.play(turn, this.shown, (play, after) => this.judge(play, after));
    else this.mover.show(this.shown);
    this.showActions();
    const words = question.is_play ? t("asks play", { roll: question.dice.join("-") }) : t(this.isTake ? "ask take" : "ask double");
    show(this.message, words);
    announce(words);
  }

  showActions() {
    if (!this.card) return show(this.actions);
    const pips = pipCounts(this.mover.turn?.board ?? this.mover.shown.board);
    player(this.otherBar, false, t("opponent"), { pips: pips[1], ...this.facts[1] });
    player(this.ownBar, true, t("you"), { pips: pips[0], ...this.facts[0] });
    if (this.answered) {
      return show(this.actions, button(t("next question"), () => this.next(), { id: "next-question", key: "N", primary: true }), button(t("why"), () => this.explain(), { id: "quiz-why", key: "W" }),
        positionLink(this.card.question.id));
    }
    if (this.card.question.is_play) return show(this.actions, this.mover.buttons());
    const choices = this.isTake ? ["take", "pass", "beaver"].slice(0, this.card.question.candidates?.length || 2) : this.kind === "error" ? ["double", "no double"] : ["no double", "double, take", "double, pass"];
    return show(this.actions, choices.map((one) => button(actionWords(one), () => this.judge(one), { id: `answer-${one.replaceAll(/[^a-z]+/g, "-")}` })));
  }

  key(key) {
    if (this.answered && (key === "Enter" || key === " " || key === "n")) this.next();
    else if (this.answered && key === "w") this.explain();
    else if (!this.answered && this.card?.question.is_play) return this.mover.key(key);
    else return false;
    return true;
  }

  /** Judges a play, which led to a `board`, or a cube action. */
  async judge(answer, board = null) {
    const { key, question } = this.card, { is_play: isPlay } = question;
    if (board) this.mover.show({ ...this.shown, board });
    show(this.actions);
    await retried(this.verdict, async () => {
      const { right, cost, best, days, source: from, se, known } = await post("learn", { key, kind: this.kind, question, answer });
      this.answered = true;
      this.asked += 1;
      this.right += right;
      this.skip.push(key);
      Object.assign(this, { known, se });
      if (isPlay) {
        const arrow = (play, kind) => ({ moves: movesOf(play), board: question.board, kind });
        this.mover.show({ ...this.shown, dice: diceOf(question.dice, "me"), arrows: right ? [arrow(answer, "better")] : [arrow(answer, "played"), arrow(best, "better")] });
      }
      const name = isPlay ? playName : actionWords;
      const made = name(answer), lost = costWords(cost, from, se), isClose = right && cost >= 0.02;
      const words = t(isClose ? "cube too close" : !right ? "quiz wrong" : cost < 0.0005 ? "quiz best" : "quiz right", { made, best: name(best), cost: lost, name: made, done: lost });
      show(this.verdict, h("h2", { class: right ? "right" : "wrong" }, t(right ? "right" : "wrong")), source(t(days ? "comes again" : "comes soon", { count: days })));
      show(this.message, words);
      announce(words);
      this.showActions();
      if (!right) this.explain(false);
    }, (error) => show(this.verdict, fault(said(error)), button(t("try now"), () => this.next())));
  }

  explain(isRevealed) {
    const { known, se, isTake, card: { player, question: { id, is_play: isPlay } } } = this, about = { id, player };
    const names = [t("you"), t("opponent")];
    return isPlay ? showWhy(this.why, about, ...(known ?? [null, null]), se, isRevealed) : showCube(this.why, about, { known, isAnswer: isTake, isRevealed, names: isTake ? names.reverse() : names });
  }
}
