// A board on which one roll is played: by pressing, dragging or keys, until the play is confirmed.

import { playName } from "./advice.js";
import { Board } from "./board.js";
import { announce, h } from "./dom.js";
import { play as sound } from "./sound.js";
import { t } from "./texts.js";
import { Turn } from "./turn.js";

export class Mover {
  /** `changed()` is called whenever something moved, `pressed()` when the board is pressed with no roll to play. */
  constructor({ changed, pressed = () => {} }) {
    this.changed = changed;
    this.turn = null;
    this.shown = {};
    this.board = new Board({
      pressed: (place, event) => (this.turn ? this.press(place, event) : pressed(event)),
      dragged: (from, to) => this.turn && this.moved(() => this.turn.drag(from, to)),
      lands: (place) => (this.turn ? [...this.turn.ways(place).keys()] : []),
      diced: () => this.diced(pressed),
    });
    this.element = this.board.element;
  }

  /** Shows a board with nothing to move. */
  show(shown) {
    this.turn = null;
    this.shown = shown;
    this.board.show(shown);
  }

  /** Lets a roll be played; `done(notation, board)` gets the play that is confirmed. */
  play({ board, roll, tree }, shown, done) {
    this.shown = shown;
    this.done = done;
    this.turn = new Turn(board, roll, tree);
    this.draw();
  }

  draw(more = {}) {
    const { turn } = this;
    this.board.show({ ...this.shown, ...(turn ? { board: turn.board, dice: turn.dice, by: "me", movable: turn.movable } : {}), ...more });
    this.changed();
  }

  moved(work) {
    const before = this.turn.path.length;
    work();
    if (this.turn.path.length > before) {
      sound("checker");
      const steps = this.turn.path.slice(before);
      announce(`${t("moved", { from: steps[0].start === 25 ? t("board bar") : steps[0].start, to: steps.at(-1).end === 0 ? t("board off") : steps.at(-1).end })}${this.turn.play === null ? "" : ` ${t("complete", { play: playName(this.turn.play) })}`}`);
    }
    this.draw();
  }

  press(place, event) {
    if (event.type === "keydown" && ["Delete", "Backspace"].includes(event.key)) return this.undo();
    if (event.type === "keydown" && !this.turn.steps.length) return this.confirm();
    return this.moved(() => this.turn.press(place, event.shiftKey));
  }

  diced(pressed) {
    if (!this.turn) pressed();
    else if (this.turn.play !== null) this.confirm();
    else if (!this.turn.path.length) this.swap();
  }

  swap() {
    if (this.turn?.path.length) return;
    this.turn?.swap();
    this.draw();
  }

  undo() {
    this.turn?.back();
    this.draw();
  }

  confirm() {
    const { turn } = this;
    if (!turn || turn.play === null) return;
    this.turn = null;
    this.shown = { ...this.shown, board: turn.board, movable: [] };
    this.done(turn.play, turn.board);
  }

  /** Confirm, undo and swap, as the turn stands. */
  buttons() {
    const { turn } = this;
    if (!turn) return [];
    const button = (id, words, act, disabled, primary = false) => h("button", { type: "button", id, class: primary ? "primary" : "", disabled, onclick: act }, words);
    return [button("ok", t("ok"), () => this.confirm(), turn.play === null, true), button("undo", t("undo checker"), () => this.undo(), !turn.path.length),
      turn.roll[0] !== turn.roll[1] && button("swap", t("swap"), () => this.swap(), turn.path.length > 0)];
  }

  /** What a key does on the board; whether it does anything. */
  key(key) {
    if (!this.turn) return false;
    if (key === "Enter" || key === " " || key === "o") this.confirm();
    else if (key === "u" || key === "ctrl-z" || key === "Backspace") this.undo();
    else if (key === "s") this.swap();
    else if (key === "Escape") { this.turn.path = []; this.draw(); } else if (key.startsWith("Arrow")) this.board.focus(this.board.focused);
    else return false;
    return true;
  }
}
