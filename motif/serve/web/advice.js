// Advice: ranked plays, cube decisions, and why a play is better.

import { post } from "./api.js";
import { button, figure, gap, h, live, percent, plain, pointed, reveal, show, signed, source, styled, table, within, working } from "./dom.js";
import { actionWords, playName, unbroken } from "./plays.js";
import { language, t } from "./texts.js";
import { retried } from "./view.js";

const SHOWN = 8;
/** Thresholds from here on are not shown. */
const NEVER = 0.9995;

/** Shows what `work` gets, retried, unless `place` then shows something else. */
export async function attempt(place, work, isRevealed = true) {
  const waiting = h("div", working()), seen = () => isRevealed && reveal(place);
  show(place, waiting);
  seen();
  await retried(waiting, async () => {
    const content = await work();
    if (!waiting.isConnected) return;
    show(place, content);
    seen();
  });
}

/** Shows ranked plays; `point(play)` gets the one under the pointer, `pick(play)` the pressed one. */
export async function showHint(place, about, { point = () => {}, pick = () => {}, made = null, madeKey = "played", known = [], se } = {}) {
  await attempt(place, async () => {
    const answer = await post("hint", { ...about, shown: true, full_depth: SHOWN, asked: made ? [made] : [], known_plays: known.map(estimate) });
    const [best] = answer.plays;
    const rows = answer.plays.slice(0, SHOWN);
    const where = answer.plays.findIndex((one) => one.notation === made);
    if (where >= SHOWN) rows.push(answer.plays[where]);
    const whyPlace = live("why");
    const why = (one, isRevealed) => showWhy(whyPlace, about, best, one, one.notation === made ? se : null, isRevealed);
    const body = rows.map((one, k) => {
      const isMade = one.notation === made, name = playName(one.notation);
      return { class: isMade ? "made" : "", ...pointed(point, one), cells: [
        h("td", String(answer.plays.indexOf(one) + 1)),
        h("th", { scope: "row" }, plain(name, () => pick(one)), isMade && h("small", ` ${t(madeKey)}`), chancesOf(one)),
        h("td", { class: "equity" }, signed(one.equity), h("small", ` ${sourceWords(one)}`)),
        gap(one.difference),
        rows.length > 1 && button(t("why"), () => why(k ? one : answer.plays[1]), { small: true, "aria-label": t(k ? "why not this" : "why this", { play: name }) }),
      ] };
    });
    if (where > 0) why(answer.plays[where], false);
    return [table(t("hint table"), ["", t("play and chances"), t("equity"), t("difference"), ""], body, { class: "hint" }),
      source(t("ranked by", { player: answer.player, count: answer.plays.length })), mixedWords(answer.plays), whyPlace];
  });
}

function estimate({ done, notation, equity, source: from, se, lookahead }) {
  return { done: done ?? notation, equity: Number(equity.toFixed(3)), source: from, se, lookahead };
}

/** A note if only some `plays` were confirmed. */
export function mixedWords(plays) {
  return new Set(plays.map((one) => Boolean(one.se))).size > 1 && source(t("mixed words"));
}

export function sourceWords(one) {
  if (one.source === "rollout") return within(t("rollout"), one.se);
  return one.source === "exact" ? t("exact") : one.source;
}

/** An error with its source. */
export function costWords(cost, from, se) {
  return `${within(figure(cost, 3), se)} (${sourceWords({ source: from })})`;
}

function chancesOf(one) {
  if (one.win === undefined) return h("span", { class: "chances" });
  const figures = { wins: percent(one.win), gammons: figure(100 * one.win_gammon, 1), lost: figure(100 * one.lose_gammon, 1) };
  return h("span", { class: "chances" }, t("chances", figures));
}

/** Explains two plays, by default the best; `se` is that of their difference. */
export function showWhy(place, about, better, worse, se, isRevealed = true) {
  const known = better && [estimate(better), estimate(worse)];
  return attempt(place, async () => whyPanel(await post("explain", { ...about, language, known, known_se: se })), isRevealed);
}

function whyPanel({ better, worse, reasons, summary, gammons, certainty, sentences, replies, grid, judged_source: from, judged_se: se }) {
  const names = [playName(better.notation), playName(worse.notation)];
  const known = reasons ?? [], ahead = replies?.sentences ?? [];
  const said = (known.length ? [gammons, certainty] : sentences ?? []).filter(Boolean);
  const total = known.reduce((sum, one) => sum + one.shown, 0);
  const lines = (list) => list.map((one) => h("p", unbroken(one)));
  return h("section", { class: "why-panel" },
    h("h3", t("why head", { better: names[0], worse: names[1] })), lines([summary]), reasonBars(known, ...names), lines(said),
    known.length > 0 && h("p", { class: "total" }, t("reasons in all", { total: signed(total) }), h("small", ` (${sourceWords({ source: from, se })})`)),
    grid && rollGrid(grid, ...names), ahead.length > 0 && h("details", h("summary", t("looking ahead")), lines(ahead)));
}

function reasonBars(reasons, better, worse) {
  const shown = reasons.filter((one) => one.shown);
  const most = Math.max(...shown.map((one) => one.amount), 1e-9);
  const side = (which) => shown.filter((one) => one.play === which);
  const list = (ones, which, name) => ones.length > 0 && h("div", { class: `reasons ${which}` },
    h("h4", t("speaks for", { play: name })),
    h("ul", ones.map((one) => h("li",
      h("span", unbroken(one.sentence)), bar(one.amount, most, which === "better"),
      h("span", { class: "amount" }, signed(one.shown))))));
  const lists = [list(side("better"), "better", better), list(side("worse"), "worse", worse)];
  return shown[0]?.play === "worse" ? lists.reverse() : lists;
}

/** A bar: to the right for the better play, hatched to the left for the other. */
function bar(amount, most, forBetter) {
  const width = Math.max(1, Math.round(50 * amount / most));
  const piece = styled(`bar-piece ${forBetter ? "for" : "against"}`, { width: `${width}%`, marginLeft: forBetter ? "50%" : `${50 - width}%` });
  return h("span", { class: "bar-track", "aria-hidden": "true" }, piece);
}

function rollGrid(grid, better, worse) {
  const most = Math.max(...grid.flat().map(Math.abs), 1e-9);
  const cell = (value) => {
    const strength = Math.ceil(4 * Math.abs(value) / most);
    const sign = Math.abs(value) < 0.005 ? "" : value > 0 ? "+" : "−";
    return h("td", { class: sign && `${value > 0 ? "for" : "against"} s${strength}` }, sign + figure(Math.abs(value), 2).replace(/^0(?=[.,])/, ""));
  };
  const caption = t("grid caption", { better, worse }), faces = grid.map((_, k) => String(k + 1));
  return h("figure", { class: "grid" }, h("figcaption", caption), table(caption, ["", ...faces], grid.map((row, k) => [faces[k], ...row.map(cell)])));
}

/** Shows a cube decision; `names`: who rolls, who answers; without equities if `areKnown`. */
export async function showCube(place, about, { names = [t("on roll"), t("opponent")], areKnown = false, known, isAnswer = false, isRevealed = true } = {}) {
  await attempt(place, async () => {
    const answer = await post("cube", { ...about, dice: undefined, language, known, answer: isAnswer, shown: true });
    const inMatch = answer.length > 0, deciding = names[isAnswer ? 1 : 0], chance = 1 - answer.win, needed = answer.take_point;
    const heads = [deciding, `${t("equity")} (${sourceWords(answer)})`, t("difference"), ...(inMatch ? [t("match chance")] : [])];
    const sides = [[answer.win, answer.win_gammon, answer.win_backgammon], [chance, answer.lose_gammon, answer.lose_backgammon]];
    if (isAnswer) sides.reverse();
    const chances = sides.map((side, k) => [t(k ? "loses" : "wins"), ...side.map((share) => percent(share))]);
    // Figures that round alike have a decimal more; no point that lookahead contradicts is shown.
    const digits = Math.abs(needed - chance) < 0.001 ? 2 : 1;
    return h("section", { class: "cube-panel" },
      !areKnown && h("h3", actionWords(answer.table.right)), h("p", answer.words),
      !areKnown && table(t("cube table"), heads, answer.table.rows.map((row) => [actionWords(row.action), signed(row.equity), gap(row.difference), ...(inMatch ? [row.mwc ? percent(row.mwc, 2) : ""] : [])])),
      needed !== null && answer.should_take === chance >= needed && h("p", {},
        t(names[1] === t("you") ? "take point you" : "take point", { needed: percent(needed, digits), name: names[1] === t("opponent") ? t("the opponent") : names[1], chance: percent(chance, digits) })),
      !isAnswer && windowScale(answer),
      table(t("chances table"), [deciding, t("game"), t("gammon"), t("backgammon")], chances),
      source(t("judged by", { player: answer.player })));
  }, isRevealed);
}

/** The doubling window on a scale from 0 to 100 %. */
function windowScale(answer) {
  const window = (answer.windows ?? []).find((one) => one.name === "efficiency");
  if (!window || answer.double_take === null) return null;
  const { double_point: from, too_good_point: end } = window;
  if (answer.should_double !== (from !== null && answer.win >= from && answer.win < (end ?? 1))) return null;
  const points = [["double from", from], ["cash from", window.cash_point], ["too good from", end]]
    .filter(([, at]) => at !== null && at < NEVER);
  const at = (share) => `${Math.max(0, Math.min(100, 100 * share))}%`;
  const scale = h("div", { class: "scale", "aria-hidden": "true" },
    from !== null && styled("window", { left: at(from), width: at(Math.min(end ?? 1, 1) - from) }),
    styled("now", { left: at(answer.win) }), points.map(([, share]) => styled("mark", { left: at(share) })));
  return [h("h4", t("window")), scale,
    h("p", t("window now", { percent: percent(answer.win) }), points.map(([key, share]) => `; ${t(key, { percent: percent(share) })}`), ".")];
}
