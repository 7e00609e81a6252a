// The board as one SVG drawing, like those of motif's reports: the reader's checkers are light and move to the
// 1 point at the bottom right.  A board is 26 numbers: 1 to 24 the points, 25 the reader's bar, 0 the
// opponent's; the reader's checkers are positive.  Light checkers have a dark rim, dark ones a light ring.

import { h, s } from "./dom.js";
import { t } from "./texts.js";

export const BAR = 25, OFF = 0, OPPONENT_BAR = -1;
const COLUMN = 46, RADIUS = 20, STEP = 41, ROWS = 5, SLAB = 13;
const LEFT = 78, MIDDLE_BAR = 354, RIGHT = 400, TRAY = 686, TRAY_WIDTH = 58, CUBE_X = 41;
const TOP = 24, BOTTOM = 498, MIDDLE = (TOP + BOTTOM) / 2, WIDTH = 758, HEIGHT = 522;
const PIPS = { 1: "e", 2: "ai", 3: "aei", 4: "acgi", 5: "acegi", 6: "acdfgi" };
const quiet = matchMedia("(prefers-reduced-motion: reduce)");

function middleOf(point) {
  const column = point > 12 ? (point - 13) % 12 : 12 - point;
  return (column < 6 ? LEFT : RIGHT) + ((column % 6) + 0.5) * COLUMN;
}

function slot(place, number) {
  if (place === BAR || place === OPPONENT_BAR) {
    const way = 30 + number * STEP;
    return [MIDDLE_BAR + COLUMN / 2, MIDDLE + (place === BAR ? way : -way)];
  }
  if (place === OFF) return [TRAY + TRAY_WIDTH / 2, BOTTOM - 40];
  const way = RADIUS + 1 + number * STEP;
  return [middleOf(place), place > 12 ? TOP + way : BOTTOM - way];
}

function checker(x, y, mine, classes = "") {
  return s("g", { class: `checker ${mine ? "light" : "dark"} ${classes}`, transform: `translate(${x} ${y})` },
    s("circle", { r: mine ? RADIUS - 1 : RADIUS }), !mine && s("circle", { r: RADIUS - 5, class: "ring" }));
}

export function offCounts(board) {
  let mine = 15, theirs = 15;
  for (const count of board) {
    if (count > 0) mine -= count;
    else theirs += count;
  }
  return [mine, theirs];
}

export function pipCounts(board) {
  let mine = 0, theirs = 0;
  board.forEach((count, place) => {
    if (count > 0) mine += count * place;
    else theirs -= count * (25 - place);
  });
  return [mine, theirs];
}

/** `board` after one checker of the reader's moved; what it hits goes to the bar. */
export function moved(board, start, end) {
  const after = [...board];
  after[start] -= 1;
  if (end !== OFF) {
    if (after[end] < 0) {
      after[end] = 0;
      after[0] -= 1;
    }
    after[end] += 1;
  }
  return after;
}

/** `board` seen by the other side. */
export function turned(board) {
  return board.map((_, place) => -board[25 - place] || 0);
}

function described(board) {
  const side = (counts, key) => {
    const [mine] = offCounts(counts);
    const places = [];
    for (let place = 25; place > 0; place--) {
      if (counts[place] > 0) {
        places.push(t(place === BAR ? "board bar count" : "board point count", { count: counts[place], point: place }));
      }
    }
    return t(key, { places: places.join(", ") || t("board none"), off: mine, pips: pipCounts(counts)[0] });
  };
  return `${side(board, "board mine")} ${side(turned(board), "board theirs")}`;
}

let boards = 0;

export class Board {
  /** `pressed(place, event)` is told of a click or Enter; `dragged(from, to)` of a checker that was dragged;
   *  `lands(place)` gives the places to which a checker from there can go, to be marked. */
  constructor({ pressed, dragged, lands = () => [], diced } = {}) {
    this.pressed = pressed;
    this.dragged = dragged;
    this.lands = lands;
    this.diced = diced;
    this.shown = { board: new Array(26).fill(0) };
    this.focused = 24;
    const name = `board-text-${++boards}`;
    this.words = h("p", { id: name, class: "unseen" });
    this.drawing = s("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "board", role: "group",
      "aria-label": t("board"), "aria-describedby": name,
    });
    this.element = h("div", { class: "board-place" }, this.drawing, this.words);
    if (pressed) {
      this.drawing.addEventListener("keydown", (event) => this.onKey(event));
      this.drawing.addEventListener("pointerdown", (event) => this.onDown(event));
    }
  }

  /** Draws: board, cube {value, owner, offered}, dice [{value, used}], by ("me" | "opponent"), arrows, movable. */
  show(shown) {
    this.shown = shown;
    const { board, arrows = [], movable = [], cube, dice, by, marks = [] } = shown;
    const active = document.activeElement;
    const hadFocus = active && this.drawing.contains(active);
    this.drawing.replaceChildren(
      ...emptyBoard(),
      ...(cube ? [drawnCube(cube)] : []),
      ...checkers(board, new Set(movable)),
      this.hints = s("g", { class: "lands" }),
      ...drawnArrows(board, arrows),
      ...marks.map((place) => mark(place, board)),
      ...(this.pressed ? this.targets(board, new Set(movable)) : []),
      ...(dice ? drawnDice(dice, by) : []),
      this.flying = s("g"),
    );
    this.words.textContent = described(board);
    if (hadFocus) this.target(this.focused)?.focus();
  }

  target(place) {
    return this.drawing.querySelector(`[data-place="${place}"]`);
  }

  targets(board, movable) {
    const area = (place, x, y, width, height) => s("rect", {
      x, y, width, height, class: `target${movable.has(place) ? " movable" : ""}`, "data-place": place, role: "button",
      tabindex: place === this.focused ? 0 : -1, "aria-label": this.label(place, board, movable),
      onclick: (event) => this.clicked(place, event),
      onfocus: () => this.mark(place), onblur: () => this.mark(null),
      onpointerenter: () => this.drag || this.mark(place), onpointerleave: () => this.drag || this.mark(null),
    });
    const points = Array.from({ length: 24 }, (_, k) => k + 1);
    const half = (BOTTOM - TOP) / 2;
    const list = points.map((point) => area(
      point, middleOf(point) - COLUMN / 2, point > 12 ? TOP : TOP + half, COLUMN, half));
    list.push(area(BAR, MIDDLE_BAR, TOP + half, COLUMN, half));
    list.push(area(OFF, TRAY, TOP + half, TRAY_WIDTH, half));
    if (this.shown.bothBars) list.push(area(OPPONENT_BAR, MIDDLE_BAR, TOP, COLUMN, half));
    if (!list.some((target) => target.getAttribute("tabindex") === "0")) list[0].setAttribute("tabindex", 0);
    return list;
  }

  label(place, board, movable) {
    const count = place === OFF ? offCounts(board)[0] : place === OPPONENT_BAR ? board[0] : board[place];
    const name = place === OFF ? t("board off") : place === BAR || place === OPPONENT_BAR ? t("board bar")
      : t("board point", { point: place });
    const words = count > 0 ? t("board yours", { count }) : count < 0 ? t("board opponents", { count: -count }) : t("board empty");
    return `${name}: ${words}${movable.has(place) ? `; ${t("board movable")}` : ""}`;
  }

  /** Shows where the checker on a place can land. */
  mark(place) {
    const ends = place === null ? [] : this.lands(place);
    this.hints.replaceChildren(...ends.map((end) => {
      const [x, y] = slot(end, Math.min(Math.max(this.shown.board[end] ?? 0, 0), ROWS - 1));
      return end === OFF
        ? s("rect", { x: TRAY + 3, y: MIDDLE + 4, width: TRAY_WIDTH - 6, height: BOTTOM - MIDDLE - 8, rx: 6 })
        : s("circle", { cx: x, cy: y, r: RADIUS - 2 });
    }));
  }

  clicked(place, event) {
    if (this.skipClick) {
      this.skipClick = false;
      return;
    }
    this.focus(place);
    this.pressed(place, event);
  }

  focus(place) {
    this.target(this.focused)?.setAttribute("tabindex", -1);
    this.focused = place;
    const target = this.target(place);
    target?.setAttribute("tabindex", 0);
    target?.focus({ preventScroll: true });
  }

  onKey(event) {
    const places = {
      ArrowLeft: beside(this.focused, -1), ArrowRight: beside(this.focused, 1),
      ArrowUp: above(this.focused, true), ArrowDown: above(this.focused, false),
    };
    if (event.key in places) {
      event.preventDefault();
      this.focus(places[event.key]);
    } else if (event.key === "Enter" || event.key === " " || event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      event.stopPropagation();
      this.pressed(this.focused, event);
    }
  }

  point(event) {
    const box = this.drawing.getBoundingClientRect();
    return [(event.clientX - box.left) * WIDTH / box.width, (event.clientY - box.top) * HEIGHT / box.height];
  }

  onDown(event) {
    const place = Number(event.target.dataset?.place ?? NaN);
    this.skipClick = false;
    if (!this.dragged || event.button !== 0 || !(this.shown.movable ?? []).includes(place)) return;
    const start = this.point(event);
    this.drag = { place, start, far: false };
    const move = (one) => this.onMove(one);
    const up = (one) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", up);
      this.onUp(one);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", up);
  }

  onMove(event) {
    const [x, y] = this.point(event);
    const { place, start } = this.drag;
    if (!this.drag.far && Math.hypot(x - start[0], y - start[1]) < 9) return;
    if (!this.drag.far) {
      this.drag.far = true;
      this.mark(place);
      this.drawing.classList.add("dragging");
    }
    this.flying.replaceChildren(checker(x, y, true, "flying"));
  }

  onUp(event) {
    const { place, far } = this.drag;
    this.drag = null;
    if (!far) return;
    this.drawing.classList.remove("dragging");
    this.flying.replaceChildren();
    this.mark(null);
    this.skipClick = true;
    setTimeout(() => { this.skipClick = false; }, 0);
    if (event.type === "pointercancel") return;
    const end = placeAt(...this.point(event));
    if (end !== null && end !== place) this.dragged(place, end);
  }

  /** Moves checkers one after the other, seen by the reader; `mine` says whose.  Ends with the board shown. */
  async animate(board, moves, mine) {
    let now = board;
    for (const [start, end] of moves) {
      const view = mine ? now : turned(now);
      const lifted = [...view];
      lifted[start] -= 1;
      const after = moved(view, start, end);
      if (!quiet.matches && document.visibilityState === "visible") {
        this.show({ ...this.shown, board: mine ? lifted : turned(lifted), arrows: [], movable: [] });
        await this.fly(start, end, view[start] - 1, Math.max(after[end] - 1, 0), mine);
      }
      now = mine ? after : turned(after);
    }
    return now;
  }

  async fly(start, end, from, to, mine) {
    const at = (place, number) => {
      const seen = mine ? place : place === BAR ? OPPONENT_BAR : place === OFF ? OFF : 25 - place;
      const [x, y] = slot(seen, Math.min(number, ROWS - 1));
      return !mine && place === OFF ? [x, TOP + 40] : [x, y];
    };
    const [[x1, y1], [x2, y2]] = [at(start, from), at(end, to)];
    const piece = checker(0, 0, mine, "flying");
    this.flying.replaceChildren(piece);
    const flight = piece.animate(
      [{ transform: `translate(${x1}px, ${y1}px)` }, { transform: `translate(${x2}px, ${y2}px)` }],
      { duration: 260, easing: "ease-in-out" });
    await flight.finished.catch(() => {});
    this.flying.replaceChildren();
  }
}

function beside(place, way) {
  const row = place === BAR || place === OFF || place === OPPONENT_BAR ? 0 : place > 12 ? 1 : 0;
  const order = row
    ? [13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]
    : [12, 11, 10, 9, 8, 7, BAR, 6, 5, 4, 3, 2, 1, OFF];
  const k = order.indexOf(place);
  return order[Math.min(Math.max(k + way, 0), order.length - 1)];
}

function above(place, up) {
  if (place === OFF) return up ? 24 : OFF;
  if (place === BAR) return up ? 18 : BAR;
  if (place === OPPONENT_BAR) return up ? OPPONENT_BAR : BAR;
  return up ? (place > 12 ? place : 25 - place) : (place > 12 ? 25 - place : place);
}

function placeAt(x, y) {
  if (x >= TRAY && x <= TRAY + TRAY_WIDTH) return OFF;
  if (x >= MIDDLE_BAR && x < RIGHT) return BAR;
  const column = x < MIDDLE_BAR ? Math.floor((x - LEFT) / COLUMN) : 6 + Math.floor((x - RIGHT) / COLUMN);
  if (column < 0 || column > 11 || y < 0 || y > HEIGHT) return null;
  return y < MIDDLE ? 13 + column : 12 - column;
}

function emptyBoard() {
  const depth = BOTTOM - TOP;
  const parts = [s("rect", { width: WIDTH, height: HEIGHT, rx: 8, class: "frame" })];
  for (const [x, width, name] of [
    [MIDDLE_BAR, COLUMN, "bar"], [LEFT, 6 * COLUMN, "field"], [RIGHT, 6 * COLUMN, "field"],
    [TRAY, TRAY_WIDTH, "tray"], [CUBE_X - 27, 54, "tray"]]) {
    parts.push(s("rect", { x, y: TOP, width, height: depth, class: name }));
  }
  for (let point = 1; point <= 24; point++) {
    const x = middleOf(point), top = point > 12;
    const [rim, tip] = top ? [TOP, TOP + ROWS * STEP] : [BOTTOM, BOTTOM - ROWS * STEP];
    parts.push(s("path", { d: `M${x - COLUMN / 2} ${rim}H${x + COLUMN / 2}L${x} ${tip}Z`, class: point % 2 ? "odd" : "even" }));
    parts.push(s("text", { x, y: top ? TOP - 7 : BOTTOM + 17, class: "number" }, String(point)));
  }
  return parts;
}

function checkers(board, movable) {
  const parts = [];
  board.forEach((signed, place) => {
    const count = Math.abs(signed), mine = signed > 0;
    const where = place === 0 ? OPPONENT_BAR : place;
    for (let k = 0; k < Math.min(count, ROWS); k++) {
      const last = k === Math.min(count, ROWS) - 1;
      parts.push(checker(...slot(where, k), mine, mine && last && movable.has(place) ? "movable" : ""));
    }
    if (count > ROWS) {
      const [x, y] = slot(where, ROWS - 1);
      parts.push(s("text", { x, y: y + 6, class: `count ${mine ? "on-light" : "on-dark"}` }, String(count)));
    }
  });
  const [mine, theirs] = offCounts(board);
  for (let k = 0; k < mine; k++) {
    parts.push(s("rect", { x: TRAY + 4, y: BOTTOM - (k + 1) * SLAB, width: TRAY_WIDTH - 8, height: SLAB, rx: 3, class: "slab light" }));
  }
  for (let k = 0; k < theirs; k++) {
    parts.push(s("rect", { x: TRAY + 4, y: TOP + k * SLAB, width: TRAY_WIDTH - 8, height: SLAB, rx: 3, class: "slab dark" }));
  }
  if (mine) parts.push(s("text", { x: TRAY + TRAY_WIDTH / 2, y: BOTTOM - mine * SLAB - 7, class: "off" }, t("board off count", { count: mine })));
  if (theirs) parts.push(s("text", { x: TRAY + TRAY_WIDTH / 2, y: TOP + theirs * SLAB + 17, class: "off" }, t("board off count", { count: theirs })));
  return parts;
}

function drawnCube({ value, owner, offered }) {
  const y = offered ? MIDDLE : { opponent: TOP + 30, centre: MIDDLE, me: BOTTOM - 30 }[owner];
  const shown = String(offered ? 2 * value : value);
  return s("g", { class: `cube${offered ? " offered" : ""}` },
    s("rect", { x: CUBE_X - 21, y: y - 21, width: 42, height: 42, rx: 6 }),
    s("text", { x: CUBE_X, y: y + 7, "font-size": shown.length < 3 ? 22 : 14 }, shown));
}

function drawnDice(dice, by) {
  const middle = (by === "me" ? RIGHT : LEFT) + 3 * COLUMN;
  const left = middle - (dice.length * 46 - 8) / 2;
  return dice.map(({ value, used }, k) => s("g", { class: `die${by === "me" ? "" : " theirs"}${used ? " used" : ""}`, transform: `translate(${left + 46 * k} ${MIDDLE - 19})` },
    s("rect", { width: 38, height: 38, rx: 7 }),
    [...PIPS[value]].map((letter) => {
      const n = letter.charCodeAt(0) - 97;
      return s("circle", { cx: 9 + 10 * (n % 3), cy: 9 + 10 * Math.floor(n / 3), r: 3.6 });
    })));
}

function mark(place, board) {
  const [x, y] = slot(place, Math.min(Math.max(Math.abs(board[place]) - 1, 0), ROWS - 1));
  return s("circle", { cx: x, cy: y, r: RADIUS + 2, class: "mark" });
}

function drawnArrows(board, moves) {
  const counts = board.map((count) => Math.max(count, 0));
  counts[0] = 0;
  return moves.map(([start, end]) => {
    counts[start] = Math.max(counts[start] - 1, 0);
    const [x1, y1] = slot(start, Math.min(counts[start], ROWS - 1));
    let [x2, y2] = slot(end, Math.min(counts[end] ?? 0, ROWS - 1));
    const ghost = end !== OFF && s("circle", { cx: x2, cy: y2, r: RADIUS - 1, class: "ghost" });
    if (end !== OFF) counts[end] += 1;
    return s("g", { class: "arrow" }, ghost, arrow(x1, y1, x2, y2));
  });
}

function arrow(x1, y1, x2, y2) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const ux = (x2 - x1) / length, uy = (y2 - y1) / length;
  const xb = x2 - 15 * ux, yb = y2 - 15 * uy;
  const line = `M${x1 + RADIUS * ux} ${y1 + RADIUS * uy}L${xb} ${yb}`;
  const head = `M${x2} ${y2}L${xb - 9 * uy} ${yb + 9 * ux}L${xb + 9 * uy} ${yb - 9 * ux}Z`;
  return [s("path", { d: line, class: "case" }), s("path", { d: head, class: "head" }), s("path", { d: line, class: "line" })];
}
