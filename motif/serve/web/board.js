// The board: an SVG drawing with areas to press, and flying checkers.

import { h, isHover, s } from "./dom.js";
import {
  areas, BAR, beside, checker, checkers, drawnArrows, drawnCube, drawnDice, emptyBoard, HEIGHT, moved, nearest, OFF,
  offCounts, OPPONENT_BAR, pipCounts, RADIUS, ROWS, seenSlot, slot, trayArea, turned, WIDTH,
} from "./drawing.js";
import { isShown, mayMove, pause, timeOf } from "./pace.js";
import { START } from "./plays.js";
import { play as sound } from "./sound.js";
import { t } from "./texts.js";

function described({ board, cube }) {
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
  return `${side(board, "board mine")} ${side(turned(board), "board theirs")}${cube ? ` ${cubeWords(cube)}` : ""}`;
}

function cubeWords({ value, owner, offered }) {
  return t(`cube of ${offered ? "offer" : owner}`, { cube: offered ? 2 * value : value });
}

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

let boards = 0;

export class Board {
  /** Calls `pressed(place, event)`, `dragged(from, to)`, `diced(event)` and `cubed()`; `lands(place)` lists where a
   *   checker can go, `serves(place)` whether a press moves one. */
  constructor({ pressed, dragged, lands = () => [], serves = () => false, diced = () => {}, cubed = () => {} } = {}) {
    Object.assign(this, { pressed, dragged, lands, serves, diced, cubed });
    this.focused = 24;
    const name = `board-text-${++boards}`;
    this.words = h("p", { id: name, class: "unseen" });
    this.drawing = s("svg", { class: "board", role: "group", "aria-label": t("board"), "aria-describedby": name });
    addEventListener("preference", () => this.element.isConnected && this.show(this.shown));
    this.bannerPlace = h("div", { class: "banner-place", "aria-hidden": "true" });
    this.element = h("div", { class: "board-place" }, this.drawing, this.bannerPlace, this.words);
    if (pressed) {
      this.drawing.classList.add("playable");
      this.drawing.addEventListener("click", (event) => {
        if (event.target.closest(".die")) this.diced(event);
        else if (event.target.closest(".cube")) this.cubed(event);
      });
      this.drawing.addEventListener("keydown", (event) => this.onKey(event));
      this.drawing.addEventListener("pointerdown", (event) => this.onDown(event));
    }
    this.show({ board: START });
  }

  /** Draws board, cube {value, owner, offered}, dice [{value, used}] of `by`, and arrows [{moves, board, mine, kind}]. */
  show(shown) {
    this.shown = shown;
    const { board, arrows = [], movable = [], cube, canDouble, dice, by, lifted } = shown;
    const active = document.activeElement;
    const hadFocus = active && this.drawing.contains(active);
    this.drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.drawing.replaceChildren(
      s("g", { "aria-hidden": "true" }, emptyBoard(), checkers(board, new Set(movable), lifted),
        this.hints = s("g", { class: "lands" }), arrows.flatMap(drawnArrows)),
      ...(this.pressed ? this.targets(board, new Set(movable)) : []),
      ...(cube ? [drawnCube(cube, canDouble)] : []),
      ...(dice ? drawnDice(dice, by) : []),
      this.flying = s("g"),
    );
    this.words.textContent = described(shown);
    if (hadFocus) this.target(this.focused)?.focus();
  }

  banner(words = "") {
    this.bannerPlace.replaceChildren(...(words ? [h("div", { class: "banner" }, words)] : []));
  }

  target(place) {
    return this.drawing.querySelector(`[data-place="${place}"]`);
  }

  targets(board, movable) {
    const list = areas(this.shown.bothBars).map(([place, x, y, width, height]) => s("rect", {
      x, y, width, height, class: `target${movable.has(place) ? " movable" : ""}`, "data-place": place, role: "button",
      tabindex: place === this.focused ? 0 : -1, "aria-label": this.label(place, board, movable),
      onclick: (event) => this.clicked(place, event),
      onfocus: (event) => { this.focus(place); if (isHover(event)) this.mark(place); }, onblur: () => this.mark(null),
      onpointerenter: (event) => this.drag || (isHover(event) && this.mark(place)), onpointerleave: () => this.drag || this.mark(null),
    }));
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

  mark(place) {
    const ends = place === null ? [] : this.lands(place);
    this.hints.replaceChildren(...ends.map((end) => {
      const [x, y] = slot(end, Math.min(Math.max(this.shown.board[end] ?? 0, 0), ROWS - 1));
      return end === OFF
        ? s("rect", trayArea())
        : s("circle", { cx: x, cy: y, r: RADIUS - 2 });
    }));
  }

  clicked(place, event) {
    if (this.skipClick) {
      this.skipClick = false;
      return;
    }
    const aimed = this.byFinger && !this.serves(place) ? nearest(this.point(event), this.serves) ?? place : place;
    this.focus(aimed);
    this.pressed(aimed, event);
  }

  focus(place) {
    this.target(this.focused)?.setAttribute("tabindex", -1);
    this.focused = place;
    const target = this.target(place);
    target?.setAttribute("tabindex", 0);
    target?.focus({ preventScroll: true });
  }

  onKey(event) {
    if (event.key in WAYS) {
      event.preventDefault();
      this.focus(beside(this.focused, WAYS[event.key], this.shown.bothBars));
    } else if (["Enter", " ", "Delete", "Backspace"].includes(event.key)) {
      event.preventDefault();
      event.stopPropagation();
      this.pressed(this.focused, event);
    }
  }

  point(event) {
    const matrix = this.drawing.getScreenCTM().inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    return [x, y];
  }

  onDown(event) {
    const { movable = [] } = this.shown;
    let place = Number(event.target.dataset?.place ?? NaN);
    this.skipClick = false;
    this.byFinger = event.pointerType !== "mouse";
    if (!this.dragged || event.button !== 0 || Number.isNaN(place)) return;
    const start = this.point(event);
    if (this.byFinger && !movable.includes(place)) place = nearest(start, (one) => movable.includes(one));
    if (!movable.includes(place)) return;
    this.drag = { place, start, far: false };
    const end = new AbortController(), until = { signal: end.signal };
    const up = (one) => {
      end.abort();
      this.onUp(one);
    };
    addEventListener("pointermove", (one) => this.onMove(one), until);
    addEventListener("pointerup", up, until);
    addEventListener("pointercancel", up, until);
  }

  onMove(event) {
    const [x, y] = this.point(event);
    const { place, start } = this.drag;
    if (!this.drag.far && Math.hypot(x - start[0], y - start[1]) < 9) return;
    if (!this.drag.far) {
      this.drag.far = true;
      const lifted = [...this.shown.board];
      lifted[place] -= 1;
      this.resting = this.shown;
      this.show({ ...this.shown, board: lifted, lifted: { mine: 1 }, arrows: [], movable: [] });
      this.mark(place);
      this.drawing.setPointerCapture?.(event.pointerId);
      this.drawing.classList.add("dragging");
    }
    this.flying.replaceChildren(checker(x, y, true, "flying"));
  }

  onUp(event) {
    const { place, far } = this.drag;
    this.drag = null;
    if (!far) return;
    this.drawing.classList.remove("dragging");
    this.show(this.resting);
    this.skipClick = true;
    setTimeout(() => { this.skipClick = false; }, 0);
    if (event.type === "pointercancel") return;
    const ends = this.lands(place), end = nearest(this.point(event), (one) => one === place || ends.includes(one), this.byFinger ? 1 : 0.4);
    if (end !== null && end !== place) this.dragged(place, end);
  }

  /** Shows moves [from, to] of their player as flights or, with reduced motion, arrows. */
  async animate(board, moves, mine) {
    let now = board;
    const seen = (view) => (mine ? view : turned(view));
    for (const [start, end] of moves) {
      const view = seen(now);
      const after = moved(view, start, end);
      const hits = end !== OFF && view[end] < 0;
      if (mayMove()) {
        const lifted = [...view];
        lifted[start] -= 1;
        this.show({ ...this.shown, board: seen(lifted), lifted: mine ? { mine: 1 } : { theirs: 1 }, arrows: [], movable: [] });
        await this.fly([start, view[start] - 1], [end, after[end] - 1], mine, "move");
        sound(hits ? "hit" : "checker");
        if (hits) await this.flyOff(after, end, mine);
      } else if (isShown()) {
        this.show({ ...this.shown, board: seen(after), arrows: [{ moves: [[start, end]], board: now, mine, kind: "last" }], movable: [] });
        await pause("dice");
      }
      now = seen(after);
    }
    this.show({ ...this.shown, board: now, lifted: undefined, arrows: [], movable: [] });
    return now;
  }

  async flyOff(after, end, mine) {
    const waiting = [...after];
    waiting[0] += 1;
    this.show({ ...this.shown, board: mine ? waiting : turned(waiting), lifted: mine ? { theirs: 1 } : { mine: 1 }, arrows: [] });
    await this.fly([25 - end, 0], [BAR, -after[0] - 1], !mine, "hit");
  }

  async fly([start, from], [end, to], mine, step) {
    const [[x1, y1], [x2, y2]] = [seenSlot(start, from, mine), seenSlot(end, to, mine)];
    const piece = checker(0, 0, mine, "flying");
    this.flying.replaceChildren(piece);
    piece.animate(
      [{ transform: `translate(${x1}px, ${y1}px)` }, { transform: `translate(${x2}px, ${y2}px)` }],
      { duration: timeOf(step), easing: "ease-in-out", fill: "forwards" });
    await pause(step);
    this.flying.replaceChildren();
  }
}
