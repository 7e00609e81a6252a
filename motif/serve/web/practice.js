// A game from any position against motif; it is not saved.

import { post } from "./api.js";
import { button, buttons, h, linkTo, section, show } from "./dom.js";
import { moved, offCounts, pipCounts, turned } from "./drawing.js";
import { useKeys } from "./keys.js";
import { Mover } from "./mover.js";
import { movesOf, otherOwner, resultWords, rulesOf, scoreOf } from "./plays.js";
import { play as sound } from "./sound.js";
import { lineOf, tell } from "./telling.js";
import { t } from "./texts.js";
import { frame, player, retried } from "./view.js";
import { leave } from "./visit.js";

const NAMED = { r: "roll", d: "double", t: "take", p: "drop", Enter: "roll", " ": "roll" };

/** The game that goes on after its view was left: at its last roll. */
let begun = null;

export function open(view, id) {
  return new Practice(view, id).start(begun?.id === id ? begun : {});
}

function thrown() {
  const [first, second] = crypto.getRandomValues(new Uint32Array(2)).map((one) => 1 + one % 6);
  return [Math.max(first, second), Math.min(first, second)];
}

class Practice {
  constructor(view, id) {
    Object.assign(this, { id, mine: true, log: [] });
    this.mover = new Mover({ changed: () => this.changed(), pressed: () => this.press("roll"), cubed: () => this.press("double") });
    this.about = h("p");
    this.record = h("ol", { class: "log", tabindex: 0, "aria-label": t("record") });
    const title = t("view from"), back = `#/position/${encodeURIComponent(id)}`;
    Object.assign(this, frame(view, title, this.mover, "practice", t("record")));
    show(this.panel,
      section(title, this.about, buttons(linkTo(t("back to position"), back, { id: "back" }), button(t("start again"), () => this.start(), { id: "restart" }))),
      section(t("record"), this.record));
    useKeys((key) => this.mover.key(key) || (NAMED[key] ? this.press(NAMED[key]) : key === "Escape" && Boolean(location.hash = back)));
  }

  press(id) {
    const found = this.actions.querySelector(`#${id}`);
    found?.click();
    return Boolean(found);
  }

  async start(kept = {}) {
    leave();
    Object.assign(this, { log: [], mine: true, arrows: [], place: null, ended: null }, kept);
    show(this.last, this.log.at(-1)?.[1]);
    if (!this.place) await retried(this.message, async () => { this.place = await post("position", { id: this.id }); });
    if (!this.place) return null;
    show(this.about, `${rulesOf(this.place)}. ${t("practice words")}`);
    return this.turn(kept.place ? kept.dice : this.place.dice);
  }

  keep(dice) {
    const { id, log, mine, arrows, place } = this;
    begun = { id, log: [...log], mine, arrows, place, dice };
  }

  /** The reader's points and motif's. */
  get score() {
    return this.mine ? this.place.score : this.place.score.toReversed();
  }

  get board() {
    return this.mine ? this.place.board : turned(this.place.board);
  }

  get cube() {
    const { cube, owner } = this.place;
    return { value: cube, owner: this.mine ? owner : otherOwner(owner), offered: false };
  }

  draw(more = {}) {
    this.mover.show({ board: this.board, cube: this.cube, by: "opponent", arrows: this.arrows, ...more });
    show(this.actions);
    this.changed();
  }

  changed() {
    const board = this.mover.turn?.board ?? this.board;
    const pips = pipCounts(board), off = offCounts(board);
    const { length, crawford } = this.place, { score: scores, winner } = this.ended ?? { score: this.score };
    const facts = (k) => ({ pips: pips[k], off: off[k], score: length > 0 && scoreOf(scores[k], winner ? 0 : length) });
    player(this.otherBar, false, "motif", { ...facts(1), tag: crawford && !this.ended && t("crawford") });
    player(this.ownBar, true, t("you"), facts(0));
    show(this.record, this.log.map(([who, words]) => h("li", { class: who }, words)));
    if (this.mover.turn) show(this.actions, this.mover.buttons());
  }

  say(words) {
    show(this.message, words);
  }

  /** Records events of the player on roll, or `who`, and shows them. */
  async tell(...events) {
    const { board, cube } = this, names = (who) => (who === "me" ? t("you") : "motif");
    const told = events.map((one) => ({ who: this.mine ? "me" : "opponent", board, ...one }));
    for (const one of told.filter((each) => each.do !== "roll")) this.log.push([one.who, lineOf(one, names)]);
    show(this.last, this.log.at(-1)[1]);
    this.arrows = [];
    this.draw();
    await tell(this.mover.board, told, { before: board, cube, names, message: (words) => this.say(words) });
  }

  async turn(dice = null) {
    if (this.place.over) return this.end(1);
    this.keep(dice);
    this.draw();
    if (this.place.doubled) return this.double();
    if (!this.mine) return this.opponentTurn(dice);
    if (dice) return this.ownRoll(dice);
    this.say(t(this.place.can_double ? "asks roll or double" : "asks roll"));
    return show(this.actions, button(t("roll"), () => this.ownRoll(thrown()), { id: "roll", key: "R", primary: true }),
      this.place.can_double && button(t("double to", { cube: 2 * this.place.cube }), () => this.double(), { id: "double", key: "D" }));
  }

  async ownRoll(dice) {
    this.keep(dice);
    show(this.actions);
    sound("dice");
    await retried(this.message, async () => {
      const turn = await post("turn", { id: this.place.gnubg, dice });
      this.say(t("asks play", { roll: dice.join("-") }));
      const played = (play) => ({ do: "play", roll: dice, play, moves: [], forced: !play });
      if (turn.tree.steps[0].length) {
        return this.mover.play(turn, { board: this.board, cube: this.cube, by: "me", arrows: this.arrows }, (play, board) => {
          this.log.push(["me", lineOf({ who: "me", ...played(play) }, () => t("you"))]);
          this.arrows = [];
          this.after(board);
        }) ?? this.changed();
      }
      await this.tell(played(""));
      return this.after(this.place.board);
    });
  }

  /** Goes to a `board` seen by the player on roll, who changes if `isOther`. */
  async goTo(board, isOther, more = {}) {
    const { cube, owner, length, score, crawford, jacoby, beavers } = { ...this.place, ...more };
    const rules = length ? { score: isOther ? score.toReversed() : score, crawford } : { jacoby, beavers };
    const asked = { board: isOther ? turned(board) : board, cube, owner: isOther ? otherOwner(owner) : owner, length, ...rules };
    await retried(this.message, async () => { this.place = await post("position", asked); });
    if (isOther) this.mine = !this.mine;
  }

  async after(board) {
    await this.goTo(board, true);
    return this.turn();
  }

  async double() {
    show(this.actions);
    const answer = await retried(this.message, () => post("cube", { id: this.place.xgid }));
    if (!answer) return null;
    const { cube, can_beaver: canBeaver } = this.place;
    if (!this.mine && !answer.should_double) return this.opponentRoll(thrown());
    await this.tell({ do: "double" });
    const answered = async (word, who) => {
      await this.tell({ do: word, who });
      return word === "drop" ? this.end(0, { points: cube, dropped: true }) : this.taken(word);
    };
    if (this.mine) return answered(answer.double_take > answer.double_pass ? "drop" : canBeaver && answer.should_beaver ? "beaver" : "take", "opponent");
    this.draw({ cube: { ...this.cube, offered: true } });
    this.say(t("asks answer", { opponent: "motif", cube: 2 * cube, points: cube }));
    const act = (id, words, more) => button(words, () => answered(id, "me"), { id, ...more });
    return show(this.actions, act("take", t("take at", { cube: 2 * cube }), { key: "T", primary: true }), act("drop", t("pass"), { key: "P" }),
      canBeaver && act("beaver", t("beaver to", { cube: 4 * cube })));
  }

  async taken(word) {
    await this.goTo(this.place.board, false, { cube: (word === "beaver" ? 4 : 2) * this.place.cube, owner: "opponent" });
    return this.mine ? this.ownRoll(thrown()) : this.opponentRoll(thrown());
  }

  opponentTurn(dice) {
    return !dice && this.place.can_double ? this.double() : this.opponentRoll(dice ?? thrown());
  }

  async opponentRoll(dice) {
    await retried(this.message, async () => {
      const { plays } = await post("hint", { id: this.place.xgid, dice });
      const play = plays[0].notation, moves = movesOf(play), before = this.board;
      const after = moves.reduce((board, [start, end]) => moved(board, start, end), this.place.board);
      await this.tell({ do: "roll", dice }, { do: "play", roll: dice, play, moves, board: turned(after) });
      this.arrows = play ? [{ moves, board: before, mine: false, kind: "last" }] : [];
      return this.after(after);
    });
  }

  /** The player on roll has won (0) or lost (1). */
  end(lost, result = this.place.result) {
    begun = null;
    const { length } = this.place, who = this.mine === (lost === 0) ? "me" : "opponent";
    const score = this.score.map((points, k) => points + (k === (who === "me" ? 0 : 1) ? result.points : 0));
    this.ended = { result: { ...result, winner: who }, score, winner: length && Math.max(...score) >= length ? who : null };
    this.draw();
    this.say(resultWords(this.ended, "motif"));
    show(this.actions, button(t("start again"), () => this.start(), { id: "again", primary: true }));
  }
}
