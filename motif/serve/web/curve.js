// The winning chances, roll by roll, with a dot for each error.

import { h, percent, s, show } from "./dom.js";
import { t } from "./texts.js";

const SIZE = { height: 170, left: 44, right: 10, top: 12, bottom: 22 };
const LABEL = 46;
const RADII = { "": 3, doubtful: 4, bad: 5, "very bad": 6.5 };

export function axis(left, right, y, words) {
  return [s("line", { x1: left, x2: right, y1: y, y2: y, class: "axis" }), s("text", { x: 4, y: y + 4 }, words)];
}

/** Returns `place`; calls `draw` now, and when the window's size changes. */
export function fitted(place, draw) {
  const redraw = () => (place.isConnected ? draw() : removeEventListener("resize", redraw));
  addEventListener("resize", redraw);
  draw();
  return place;
}

/** Draws the chances of player `bottom` into `place`; `words(decision)` is an error's tooltip. */
export function drawCurve(place, { decisions, match, name, bottom, at, words, select }) {
  const rolls = decisions.map((one, k) => ({ ...one, k })).filter((one) => one.is_play);
  if (!rolls.length) return show(place);
  const { height, left, right, top, bottom: below } = SIZE;
  const width = Math.max(place.clientWidth, 280);
  const chance = (one) => (bottom === 0 ? one.chance : 1 - one.chance);
  const x = (k) => left + (width - left - right) * k / Math.max(match.rolls - 1, 1);
  const y = (share) => top + (height - top - below) * (1 - share);
  const begins = (k) => !k || rolls[k - 1].game !== rolls[k].game;
  const line = rolls.map((one, k) => `${k && (match.length || !begins(k)) ? "L" : "M"}${x(k).toFixed(1)} ${y(chance(one)).toFixed(1)}`).join("");
  const chances = rolls.map(chance);
  const caption = t(match.length ? "curve match" : "curve game", { name });
  const range = t("curve words", { first: percent(chances[0]), last: percent(chances.at(-1)), low: percent(Math.min(...chances)), high: percent(Math.max(...chances)) });
  let written = -LABEL;
  const label = (one, k) => {
    if (!begins(k) || x(k) - written < LABEL) return null;
    written = x(k);
    return s("text", { x: x(k) + 3, y: height - 6 }, t("game number", { number: one.game }));
  };
  const placeOf = (number) => {
    const k = rolls.findIndex((one) => one.k >= number);
    return k < 0 ? rolls.length - 1 : k;
  };
  const dots = decisions.map((one, number) => ({ one, number })).filter(({ one }) => one.counts && one.mark).map(({ one, number }) => {
    const k = placeOf(number);
    return s("circle", { cx: x(k), cy: y(chances[k]), r: RADII[one.mark], class: `dot ${one.decider === bottom ? "own" : "other"} ${one.mark}`, onclick: (event) => { event.stopPropagation(); select(number); } },
      s("title", words(one)));
  });
  const here = at === null ? null : placeOf(at);
  const upright = (k, name) => s("line", { x1: x(k), x2: x(k), y1: top, y2: height - below, class: name });
  const drawing = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img", "aria-label": `${caption}. ${range}` },
    [0, 0.5, 1].map((share) => axis(left, width - right, y(share), `${100 * share} %`)),
    rolls.map((one, k) => k > 0 && begins(k) && upright(k - 0.5, "game")),
    rolls.map(label), s("path", { d: line }), here !== null && upright(here, "here"), dots);
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const share = ((event.clientX - box.left) * width / box.width - left) / (width - left - right);
    const one = rolls[Math.round(share * (match.rolls - 1))];
    if (one) select(one.k);
  });
  return show(place, h("figure", h("figcaption", caption), drawing));
}
