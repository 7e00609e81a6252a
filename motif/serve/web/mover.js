// A board on which a roll is played by pressing, dragging or keys.

import { Board } from "./board.js";
import { announce, button } from "./dom.js";
import { playName } from "./plays.js";
import { play as sound } from "./sound.js";
import { t } from "./texts.js";
import { Turn } from "./turn.js";

const KEPT = "motif-turn";

/** The turn being played, which goes on after its view was left, or the page. */
let begun = JSON.parse(sessionStorage.getItem(KEPT));

addEventListener("visibilitychange", () => sessionStorage.setItem(KEPT, JSON.stringify(begun)));

export class Mover {
  /** Calls `changed()` after a move; `pressed(event)` and `cubed()` for presses without a roll. */
  constructor({ changed, pressed = () => {}, cubed = () => {} }) {
    Object.assign(this, { changed, turn: null, locked: false, shown: {} });
    this.board = new Board({
      pressed: (place, event) => event.repeat || (this.turn ? this.press(place, event) : pressed(event)),
      dragged: (from, to) => this.isLive && this.moved(() => this.turn.drag(from, to)),
      lands: (place) => (this.isLive ? [...this.turn.ways(place).keys()] : []),
      serves: (place) => this.isLive && this.turn.serves(place),
      diced: (event) => this.diced(event, pressed),
      cubed,
    });
    this.element = this.board.element;
  }

  get isLive() {
    return Boolean(this.turn) && !this.locked;
  }

  show(shown) {
    if (this.turn) begun = null;
    Object.assign(this, { turn: null, locked: false, shown });
    this.board.show(shown);
  }

  /** Lets a roll be played; `done(notation, board)` gets the confirmed play. */
  play({ board, roll, tree }, shown, done) {
    const name = `${location.hash} ${board} ${roll}`;
    begun = Object.assign(new Turn(board, roll, tree), begun?.name === name ? begun : { name });
    Object.assign(this, { shown, done, locked: false, turn: begun });
    this.draw();
  }

  draw(more = {}) {
    const { turn, shown } = this;
    const moving = turn && { board: turn.board, dice: turn.dice, by: "me", movable: this.locked ? [] : turn.movable, arrows: turn.path.length ? [] : shown.arrows };
    this.board.show({ ...shown, ...moving, ...more });
  }

  redraw() {
    this.draw();
    this.changed();
  }

  moved(work) {
    const before = this.turn.path.length;
    work();
    const steps = this.turn.path.slice(before);
    this.redraw();
    if (!steps.length) return;
    sound("checker");
    const from = steps[0].start === 25 ? t("board bar") : steps[0].start, to = steps.at(-1).end || t("board off");
    announce(`${t("moved", { from, to })}${this.turn.play === null ? "" : ` ${t("complete", { play: playName(this.turn.play) })}`}`);
  }

  press(place, event) {
    if (!this.isLive) return null;
    if (event.type === "keydown" && ["Delete", "Backspace"].includes(event.key)) return this.undo();
    if (event.type === "keydown" && !this.turn.steps.length) return this.confirm();
    return this.moved(() => this.turn.press(place, event.shiftKey));
  }

  diced(event, pressed) {
    if (!this.turn) pressed(event);
    else if (this.turn.play !== null) this.confirm();
    else this.swap();
  }

  swap() {
    if (!this.isLive || this.turn.path.length) return;
    this.turn.swap();
    this.draw();
    announce(t("first die", { die: this.turn.dice[0].value }));
  }

  undo(all = false) {
    if (!this.isLive || !this.turn.path.length) return;
    if (all) this.turn.path = [];
    else this.turn.back();
    this.redraw();
    announce(t("undone"));
  }

  take(notation) {
    if (!this.isLive || !this.turn.take(notation)) return;
    this.redraw();
    announce(t("complete", { play: playName(notation) }));
  }

  /** Takes a play, and returns to the board, where Enter confirms it. */
  pick(notation) {
    this.take(notation);
    this.board.focus(this.board.focused);
  }

  confirm() {
    const { turn } = this;
    if (!this.isLive || turn.play === null) return;
    this.locked = true;
    this.draw();
    this.done(turn.play, turn.board);
  }

  unlock() {
    this.locked = false;
    this.redraw();
  }

  buttons() {
    const { turn } = this;
    if (!this.isLive) return [];
    const moves = turn.path.length;
    return [button(t("ok"), () => this.confirm(), { id: "ok", key: "Enter", primary: true, disabled: turn.play === null }),
      button(t("undo checker"), () => this.undo(), { id: "undo", key: "U", disabled: !moves }),
      moves || turn.roll[0] === turn.roll[1]
        ? button(t("undo all"), () => this.undo(true), { id: "undo-all", key: "Esc", disabled: !moves })
        : button(t("swap"), () => this.swap(), { id: "swap", key: "S" })];
  }

  key(key) {
    if (key.startsWith("Arrow")) this.board.focus(this.board.focused);
    else if (!this.isLive) return false;
    else if (["Enter", " ", "o"].includes(key)) this.confirm();
    else if (["u", "ctrl-z", "Backspace"].includes(key)) {
      if (!this.turn.path.length) return false;
      this.undo();
    } else if (key === "s") this.swap();
    else if (key === "Escape" && this.turn.path.length) this.undo(true);
    else return false;
    return true;
  }
}
