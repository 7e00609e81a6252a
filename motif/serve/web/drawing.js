// The parts of the board as SVG.  A board is 26 numbers: points 1 to 24, 25 the reader's bar, 0 the opponent's; the
// reader's checkers are positive.

import { s } from "./dom.js";
import { preference } from "./preferences.js";

export const BAR = 25, OFF = 0, OPPONENT_BAR = -1;
export const RADIUS = 20, ROWS = 5;
const COLUMN = 46, STEP = 41, SLAB = 13, TOP = 24, FIELD = 6 * COLUMN;
const PIPS = { 1: "e", 2: "ai", 3: "aei", 4: "acgi", 5: "acegi", 6: "acdfgi" };
const DIE = 46;
const NARROW = matchMedia("(max-width: 40rem) and (orientation: portrait)");

/** The layout; a phone in portrait has a higher board with the cube on the bar. */
export let WIDTH, HEIGHT;
let left, bar, right, tray, trayWidth, cubeX, bottom, middle, onBar, large;

function fit() {
  const narrow = NARROW.matches;
  left = narrow ? 8 : 78;
  bar = left + FIELD;
  right = bar + COLUMN;
  tray = right + FIELD + (narrow ? 6 : 10);
  trayWidth = narrow ? 42 : 58;
  WIDTH = tray + trayWidth + (narrow ? 8 : 14);
  cubeX = narrow ? bar + COLUMN / 2 : 41;
  bottom = narrow ? 544 : 498;
  middle = (TOP + bottom) / 2;
  HEIGHT = bottom + TOP;
  onBar = narrow ? 62 : 30;
  large = narrow ? 1.4 : 1;
}

fit();
NARROW.addEventListener("change", () => {
  fit();
  dispatchEvent(new Event("preference"));
});

function isMirrored() {
  return preference("home") === "left";
}

function across(x) {
  return isMirrored() ? WIDTH - x : x;
}

function edge(x, width) {
  return isMirrored() ? WIDTH - x - width : x;
}

function middleOf(point) {
  const column = point > 12 ? (point - 13) % 12 : 12 - point;
  return across((column < 6 ? left : right) + ((column % 6) + 0.5) * COLUMN);
}

export function slot(place, number) {
  if (place === BAR || place === OPPONENT_BAR) {
    const way = onBar + number * STEP;
    return [across(bar + COLUMN / 2), middle + (place === BAR ? way : -way)];
  }
  if (place === OFF) return [across(tray + trayWidth / 2), bottom - 40];
  const way = RADIUS + 1 + number * STEP;
  return [middleOf(place), place > 12 ? TOP + way : bottom - way];
}

/** Where a checker of the mover is, who numbers the places. */
export function seenSlot(place, number, mine) {
  const row = Math.min(Math.max(number, 0), ROWS - 1);
  if (mine) return slot(place, row);
  const [x, y] = slot(place === BAR ? OPPONENT_BAR : place === OFF ? OFF : 25 - place, row);
  return place === OFF ? [x, TOP + 40] : [x, y];
}

/** The suitable place nearest to a point, within some columns, or null. */
export function nearest([x, y], suits, columns = 1) {
  const apart = ([, left, top, width, height]) => Math.max(left - x, x - left - width, 0) + 3 * Math.max(top - y, y - top - height, 0);
  const found = areas(true).filter(([place]) => suits(place)).map((area) => [apart(area), area[0]]).toSorted((a, b) => a[0] - b[0])[0];
  return found && found[0] < columns * COLUMN ? found[1] : null;
}

export function areas(bothBars) {
  const half = HEIGHT / 2;
  const list = Array.from({ length: 24 }, (_, k) => k + 1).map((point) => [
    point, middleOf(point) - COLUMN / 2, point > 12 ? 0 : half, COLUMN, half]);
  list.push([BAR, edge(bar, COLUMN), half, COLUMN, half], [OFF, edge(tray - 4, WIDTH - tray + 4), half, WIDTH - tray + 4, half]);
  if (bothBars) list.push([OPPONENT_BAR, edge(bar, COLUMN), 0, COLUMN, half]);
  return list;
}

/** The place beside another, above or below it; at the edge, `place`. */
export function beside(place, [dx, dy], bothBars) {
  const centres = areas(bothBars).map(([one, left, top, width]) => [one, left + width / 2, top]);
  const [, x, y] = centres.find(([one]) => one === place);
  const isThere = ([, left, top]) => (dx ? top === y && dx * (left - x) > 0 : dy * (top - y) > 0);
  const found = centres.filter(isThere).toSorted((a, b) => Math.abs(a[1] - x) - Math.abs(b[1] - x))[0];
  return found ? found[0] : place;
}

export function trayArea() {
  return { x: edge(tray, trayWidth) + 3, y: middle + 4, width: trayWidth - 6, height: bottom - middle - 8, rx: 6 };
}

export function checker(x, y, mine, classes = "") {
  return s("g", { class: `checker ${mine ? "light" : "dark"} ${classes}`, transform: `translate(${x} ${y})` },
    s("circle", { r: mine ? RADIUS - 1 : RADIUS }), s("circle", { r: RADIUS - 5, class: mine ? "inlay" : "ring" }));
}

function sums(board, weight) {
  return [board, turned(board)].map((one) => one.reduce((sum, count, place) => sum + Math.max(count, 0) * weight(place), 0));
}

export function offCounts(board) {
  return sums(board, () => 1).map((count) => 15 - count);
}

export function pipCounts(board) {
  return sums(board, (place) => place);
}

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

/** The board before the `moves` [from, to, hit] that led to `board`, both seen by the mover. */
export function unmoved(board, moves) {
  const before = [...board];
  for (const [start, end, hit] of moves.toReversed()) {
    if (end !== OFF) before[end] -= 1;
    if (hit) {
      before[end] -= 1;
      before[0] += 1;
    }
    before[start] += 1;
  }
  return before;
}

export function turned(board) {
  return board.map((_, place) => -board[25 - place] || 0);
}

export function emptyBoard() {
  const depth = bottom - TOP;
  const parts = [s("rect", { width: WIDTH, height: HEIGHT, rx: 8, class: "frame" })];
  for (const [x, width, name] of [
    [bar, COLUMN, "bar"], [left, FIELD, "field"], [right, FIELD, "field"],
    [tray, trayWidth, "tray"], ...(cubeX < left ? [[cubeX - 27, 54, "tray"]] : [])]) {
    parts.push(s("rect", { x: edge(x, width), y: TOP, width, height: depth, class: name }));
  }
  for (let point = 1; point <= 24; point++) {
    const x = middleOf(point), top = point > 12;
    const [rim, tip] = top ? [TOP, TOP + ROWS * STEP] : [bottom, bottom - ROWS * STEP];
    parts.push(s("path", { d: `M${x - COLUMN / 2} ${rim}H${x + COLUMN / 2}L${x} ${tip}Z`, class: point % 2 ? "odd" : "even" }));
    parts.push(s("text", { x, y: top ? TOP - 7 : bottom + 17, class: "number" }, point));
  }
  return parts;
}

/** All checkers; those `lifted` {mine, theirs} are not borne off. */
export function checkers(board, movable, lifted = {}) {
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
      parts.push(s("text", { x, y: y + 6, class: `count ${mine ? "on-light" : "on-dark"}` }, count));
    }
  });
  const x = edge(tray, trayWidth);
  offCounts(board).forEach((all, theirs) => {
    const count = all - ((theirs ? lifted.theirs : lifted.mine) ?? 0);
    for (let k = 0; k < count; k++) {
      parts.push(s("rect", { x: x + 4, y: theirs ? TOP + k * SLAB : bottom - (k + 1) * SLAB, width: trayWidth - 8, height: SLAB, rx: 3, class: `slab ${theirs ? "dark" : "light"}` }));
    }
    if (count > 0) parts.push(s("text", { x: x + trayWidth / 2, y: theirs ? TOP + count * SLAB + 17 : bottom - count * SLAB - 7, class: "off" }, count));
  });
  return parts;
}

export function drawnCube({ value, owner, offered }, can) {
  const y = offered ? middle : { opponent: TOP + 30, centre: middle, me: bottom - 30 }[owner];
  const shown = String(offered ? 2 * value : value === 1 ? 64 : value);
  return s("g", { "aria-hidden": "true", class: `cube${offered ? " offered" : ""}${can ? " can" : ""}`, transform: `translate(${across(cubeX)} ${y}) scale(${(large + 1) / 2})` },
    s("rect", { x: -30, y: -30, width: 60, height: 60, class: "reach" }),
    s("rect", { x: -21, y: -21, width: 42, height: 42, rx: 6, class: "face" }),
    s("text", { y: 7, "font-size": shown.length < 3 ? 22 : 14 }, shown));
}

export function drawnDice(dice, by) {
  return ["me", "opponent"].flatMap((who) => {
    const own = dice.filter((die) => (die.by ?? by) === who);
    const first = across((who === "me" ? right : left) + FIELD / 2) - (own.length * DIE - 8) * large / 2;
    return own.map(({ value, used }, k) => s("g", { class: `die${who === "me" ? "" : " theirs"}${used ? " used" : ""}`, transform: `translate(${first + DIE * large * k} ${middle - 19 * large}) scale(${large})` },
      s("rect", { x: -4, y: -4, width: DIE, height: DIE, class: "reach" }),
      s("rect", { width: 38, height: 38, rx: 7, class: "face" }),
      [...PIPS[value]].map((letter) => {
        const n = letter.charCodeAt(0) - 97;
        return s("circle", { cx: 9 + 10 * (n % 3), cy: 9 + 10 * Math.floor(n / 3), r: 3.6 });
      })));
  });
}

/** A play as arrows; the last play has ghosts at its starts, others at their ends. */
export function drawnArrows({ moves, board, mine = true, kind = "hint" }) {
  const view = mine ? board : turned(board);
  const counts = view.map((count) => Math.max(count, 0));
  counts[0] = 0;
  const shift = { played: -5, better: 5 }[kind] ?? 0;
  return moves.map(([start, end], k) => {
    counts[start] = Math.max(counts[start] - 1, 0);
    const from = seenSlot(start, counts[start], mine);
    const to = seenSlot(end, end === OFF ? 0 : counts[end] ?? 0, mine);
    const [x, y] = kind === "last" ? from : to;
    const ghost = (kind === "last" || end !== OFF) && s("circle", { cx: x, cy: y, r: RADIUS - (kind === "better" ? 4 : 1), class: "ghost" });
    if (end !== OFF) counts[end] += 1;
    return s("g", { class: `arrow ${kind}` }, ghost, arrow(...from, ...to, shift + (k && start !== moves[k - 1][1] ? 7 : 0)));
  });
}

function arrow(fromX, fromY, toX, toY, shift) {
  const length = Math.hypot(toX - fromX, toY - fromY) || 1;
  const ux = (toX - fromX) / length, uy = (toY - fromY) / length;
  const [x1, y1, x2, y2] = [fromX - uy * shift, fromY + ux * shift, toX - uy * shift, toY + ux * shift];
  const xb = x2 - 15 * ux, yb = y2 - 15 * uy;
  const line = `M${x1 + RADIUS * ux} ${y1 + RADIUS * uy}L${xb} ${yb}`;
  const head = `M${x2} ${y2}L${xb - 9 * uy} ${yb + 9 * ux}L${xb + 9 * uy} ${yb - 9 * ux}Z`;
  return [s("path", { d: line, class: "case" }), s("path", { d: head, class: "head" }), s("path", { d: line, class: "line" })];
}
