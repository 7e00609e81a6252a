// A game from any position on, against motif: nothing of it is kept.

import { movesOf, playName } from "./advice.js";
import { post } from "./api.js";
import { h, show } from "./dom.js";
import { offCounts, pipCounts, turned } from "./drawing.js";
import { useKeys } from "./keys.js";
import { Mover } from "./mover.js";
import { isShown, pause } from "./pace.js";
import { diceOf } from "./telling.js";
import { t } from "./texts.js";

const RETRY = 1500;

export async function showPractice(view, id) {
  const practice = new Practice(view, id);
  await practice.start();
  return practice;
}

function thrown() {
  const [first, second] = crypto.getRandomValues(new Uint32Array(2)).map((one) => 1 + one % 6);
  return [Math.max(first, second), Math.min(first, second)];
}

class Practice {
  constructor(view, id) {
    Object.assign(this, { view, id, mine: true, log: [] });
    this.mover = new Mover({ changed: () => this.showActions(), pressed: () => this.actions.querySelector("#roll")?.click() });
    this.otherBar = h("div", { class: "side-bar opponent" });
    this.ownBar = h("div", { class: "side-bar own" });
    this.last = h("p", { class: "last", id: "last" });
    this.message = h("p", { class: "message", id: "message" });
    this.actions = h("div", { class: "actions", role: "group", "aria-label": t("actions") });
    this.record = h("ol", { class: "log", tabindex: 0, "aria-label": t("log") });
    show(view, h("h1", { class: "unseen" }, t("play from here")),
      h("div", { class: "game" },
        this.table = h("section", { class: "table practice", "aria-label": t("table") }, this.otherBar, this.mover.element, this.ownBar, this.last, this.message, this.actions),
        h("div", { class: "panel", tabindex: 0, role: "region", "aria-label": t("record") },
          h("section", {}, h("h2", {}, t("play from here")), h("p", {}, t("practice words")), h("div", { class: "buttons" },
            h("button", { type: "button", id: "restart", onclick: () => this.start() }, t("start again")), h("a", { class: "button", href: `#/position/${encodeURIComponent(id)}` }, t("view position")))),
          h("section", {}, h("h2", {}, t("record")), this.record))));
    useKeys((key) => {
      if (this.mover.key(key)) return true;
      const named = { r: "roll", d: "double", t: "take", p: "drop", Enter: "roll", " ": "roll" }[key];
      const button = named && this.actions.querySelector(`#${named}`);
      button?.click();
      return Boolean(button);
    });
  }

  /** Does `work`; where the server is away, again until it is there. */
  async tried(work) {
    const run = (this.run = (this.run ?? 0) + 1);
    for (;;) {
      try {
        return await work();
      } catch (error) {
        show(this.message, error.message);
        if (error.status !== 0) return null;
        await new Promise((done) => { setTimeout(done, RETRY); });
        if (!this.table.isConnected || run !== this.run) return null;
      }
    }
  }

  async start() {
    this.log = [];
    this.mine = true;
    show(this.last);
    await this.tried(async () => { this.place = await post("/api/v1/position", { id: this.id }); });
    if (!this.place) return null;
    return this.turn(this.place.dice);
  }

  /** The board seen by the reader. */
  get board() {
    return this.mine ? this.place.board : turned(this.place.board);
  }

  get cube() {
    const { cube, owner } = this.place;
    return { value: cube, owner: this.mine || owner === "centre" ? owner : { me: "opponent", opponent: "me" }[owner], offered: false };
  }

  draw(more = {}) {
    this.mover.show({ board: this.board, cube: this.cube, by: "opponent", arrows: this.arrows ?? [], ...more });
    const pips = pipCounts(this.board), off = offCounts(this.board);
    const bar = (k, name, light) => [h("span", { class: `chip ${light ? "light" : "dark"}`, "aria-hidden": "true" }), h("strong", {}, name), h("span", {}, t("pips", { count: pips[k] })), off[k] > 0 && h("span", {}, t("off", { count: off[k] }))];
    show(this.otherBar, bar(1, "motif", false));
    show(this.ownBar, bar(0, t("you"), true));
    show(this.record, this.log.map(([who, words]) => h("li", { class: who }, words)));
  }

  say(words) {
    show(this.message, words);
  }

  note(words) {
    this.log.push([this.mine ? "me" : "opponent", words]);
    show(this.last, words);
  }

  button(id, words, act, primary = false) {
    return h("button", { type: "button", id, class: primary ? "primary" : "", onclick: act }, words);
  }

  showActions() {
    if (this.mover?.turn) show(this.actions, this.mover.buttons());
  }

  get canDouble() {
    const { owner, length, score, cube, crawford } = this.place;
    return owner !== "opponent" && !crawford && !(length && score[0] + cube >= length);
  }

  /** One turn: a double perhaps, the roll, the play. */
  async turn(dice = null) {
    if (this.place.over) return this.end(1);
    this.draw();
    show(this.actions);
    if (!this.mine) return this.opponentTurn(dice);
    if (dice) return this.ownRoll(dice);
    this.say(t(this.canDouble ? "asks roll or double" : "asks roll"));
    return show(this.actions, this.button("roll", t("roll"), () => this.ownRoll(thrown()), true),
      this.canDouble && this.button("double", t("double to", { cube: 2 * this.place.cube }), () => this.ownDouble()));
  }

  async ownRoll(dice) {
    show(this.actions);
    await this.tried(async () => {
      const turn = await post("/api/v1/turn", { id: this.place.gnubg, dice });
      this.say(t("asks play", { roll: dice.join("-") }));
      if (turn.tree.steps[0].length === 0) {
        this.draw({ dice: diceOf(dice, "me") });
        this.note(`${t("you")} ${dice.join("-")}: ${t("no move")}`);
        await this.banner(t("banner dance", { who: t("you"), roll: dice.join("-") }));
        return this.after(this.place.board);
      }
      return this.mover.play(turn, { board: this.board, cube: this.cube, by: "me" }, (play, board) => {
        this.arrows = [];
        this.note(`${t("you")} ${dice.join("-")}: ${playName(play)}`);
        this.after(board);
      });
    });
  }

  /** The other player's turn, on the board that the mover has left. */
  async after(board, more = {}) {
    const { cube, owner, length, score, crawford, jacoby } = { ...this.place, ...more };
    const asked = { board: turned(board), cube, owner: { centre: "none", me: "you", opponent: "me" }[owner], length };
    if (length) Object.assign(asked, { score: score.toReversed(), crawford });
    else asked.jacoby = jacoby;
    await this.tried(async () => { this.place = await post("/api/v1/position", asked); });
    this.mine = !this.mine;
    return this.turn();
  }

  async banner(words) {
    this.say(words);
    if (!isShown()) return;
    this.mover.board.banner(words);
    await pause("banner");
    this.mover.board.banner();
  }

  /** The cube decision of the player on roll. */
  async judged() {
    return post("/api/v1/cube", { id: this.place.id });
  }

  async ownDouble() {
    show(this.actions);
    const answer = await this.tried(() => this.judged());
    if (!answer) return null;
    const { cube } = this.place;
    this.draw({ cube: { ...this.cube, offered: true } });
    this.note(`${t("you")}: ${t("did double")}`);
    if (answer.double_take > answer.double_pass) {
      await this.banner(t("banner drop", { who: "motif" }));
      return this.end(0, cube);
    }
    await this.banner(t("banner take", { who: "motif" }));
    Object.assign(this.place, { cube: 2 * cube, owner: "opponent" });
    return this.turned(this.place.board);
  }

  /** The same player goes on, with the cube turned. */
  async turned(board) {
    const { cube, owner, length, score, jacoby } = this.place;
    const asked = { board, cube, owner: { me: "me", opponent: "you", centre: "none" }[owner], length, ...(length ? { score } : { jacoby }) };
    await this.tried(async () => { this.place = await post("/api/v1/position", asked); });
    if (this.mine) return this.ownRoll(thrown());
    return this.opponentRoll(thrown());
  }

  async opponentTurn(dice) {
    if (!dice && this.canDouble) {
      const answer = await this.tried(() => this.judged());
      if (answer?.should_double) {
        const { cube } = this.place;
        this.draw({ cube: { ...this.cube, offered: true } });
        this.note(`motif: ${t("did double")}`);
        await this.banner(t("banner double", { who: "motif", cube: 2 * cube }));
        this.say(t("asks answer", { opponent: "motif", cube: 2 * cube, points: cube }));
        return show(this.actions, this.button("take", t("take at", { cube: 2 * cube }), () => {
          show(this.actions);
          Object.assign(this.place, { cube: 2 * cube, owner: "opponent" });
          this.turned(this.place.board);
        }, true), this.button("drop", t("pass"), () => this.end(0, cube)));
      }
    }
    return this.opponentRoll(dice ?? thrown());
  }

  async opponentRoll(dice) {
    await this.tried(async () => {
      const { plays } = await post("/api/v1/hint", { id: this.place.id, dice });
      const play = plays[0].notation, before = this.board;
      this.arrows = [];
      this.draw({ dice: diceOf(dice, "opponent") });
      const words = t("told play", { who: "motif", roll: dice.join("-"), play: playName(play) });
      this.say(words);
      this.note(`motif ${dice.join("-")}: ${playName(play)}`);
      if (!play) {
        await this.banner(t("banner dance", { who: "motif", roll: dice.join("-") }));
        return this.after(this.place.board);
      }
      await pause("dice");
      const moves = movesOf(play);
      const after = await this.mover.board.animate(before, moves, false);
      await pause("rest");
      this.arrows = [{ moves, board: before, mine: false, kind: "last" }];
      return this.after(turned(after));
    });
  }

  /** The game is over: the player on roll has won (0) or lost (1); `points` where a double was passed. */
  end(lost, points = null) {
    const won = this.mine === (lost === 0);
    this.draw();
    const loser = this.place.board;
    const { jacoby, owner, length } = this.place;
    const size = points !== null || (jacoby && owner === "centre" && !length) ? 1 : offCounts(loser)[0] > 0 ? 1 : loser.some((count, place) => count > 0 && place > 18) ? 3 : 2;
    const count = points ?? size * this.place.cube;
    this.say(`${won ? t("you win") : t("opponent wins", { opponent: "motif" })} ${t("result points", { count })}.`);
    show(this.actions, this.button("again", t("start again"), () => this.start(), true));
  }
}
