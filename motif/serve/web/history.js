// What was played and analysed: ratings over time, errors by theme, analyses and games, to be exported or deleted.

import { analysisList } from "./analyse.js";
import { prWord } from "./analysis.js";
import { get, remove, text } from "./api.js";
import { confirmed, say } from "./dialog.js";
import { button, buttons, figure, h, s, saveAs, show, signed, wide, working } from "./dom.js";
import { gameList } from "./start.js";
import { knows, t } from "./texts.js";
import { retried, when } from "./view.js";

const CHART = { height: 230, left: 36, right: 10, top: 12, bottom: 64 };
/** The strip under the ratings in which luck is drawn. */
const STRIP = 40;

export async function showHistory(view) {
  const place = h("div", { class: "text" }, working());
  show(view, place);
  await retried(place, async () => {
    const [{ analyses }, { games }] = await Promise.all([get("/api/v1/analyses"), get("/api/v1/games")]);
    const own = analyses.filter((one) => one.players && one.seat !== null && one.players[one.seat].pr !== null).toReversed();
    show(place, h("h1", {}, t("view history")),
      own.length ? [ratings(own), themes(own)] : h("section", {}, h("p", {}, t("no history"))),
      h("section", {}, h("h2", {}, t("kept analyses")), analyses.length ? analysisList(analyses) : h("p", {}, t("no analyses"))),
      h("section", {}, h("h2", {}, t("games")), games.length ? gameList(games) : h("p", {}, t("no games"))),
      h("section", {}, h("h2", {}, t("your data")), h("p", {}, t("data words")),
        buttons(button(t("export all"), exportAll, { id: "export" }), button(t("delete all"), () => deleteAll(view), { id: "delete-all" }))));
  });
}

function ratings(own) {
  const { height, left, right, top, bottom } = CHART;
  const width = Math.min(innerWidth - 60, 900);
  const figures = own.map((one) => ({ ...one, pr: one.players[one.seat].pr, luck: one.players[one.seat].luck.total }));
  const most = Math.max(20, ...figures.map((one) => one.pr));
  const x = (k) => left + (width - left - right) * (figures.length === 1 ? 0.5 : k / (figures.length - 1));
  const y = (pr) => top + (height - top - bottom) * Math.min(pr / most, 1);
  const mean = figures.reduce((sum, one) => sum + one.pr * one.players[one.seat].overall.decisions, 0) / figures.reduce((sum, one) => sum + one.players[one.seat].overall.decisions, 0);
  const widest = Math.max(0.5, ...figures.map((one) => Math.abs(one.luck)));
  const middle = height - STRIP / 2 - 4;
  const bars = figures.map((one, k) => {
    const size = STRIP / 2 * Math.abs(one.luck) / widest;
    return s("rect", { x: x(k) - 3, y: one.luck > 0 ? middle - size : middle, width: 6, height: size, class: one.luck > 0 ? "lucky" : "unlucky" });
  });
  const luck = figures.reduce((sum, one) => sum + one.luck, 0) / figures.length;
  const words = t("pr in all", { pr: figure(mean, 1), word: prWord(mean), count: figures.length, luck: signed(luck, 2) });
  return h("section", {}, h("h2", {}, t("pr over time")), h("p", {}, words),
    wide(t("pr over time"), s("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "group", "aria-label": words },
        [0, 0.5, 1].map((share) => [s("line", { x1: left, x2: width - right, y1: y(share * most), y2: y(share * most), class: "axis" }), s("text", { x: 4, y: y(share * most) + 4 }, figure(share * most, 0))]),
        s("line", { x1: left, x2: width - right, y1: middle, y2: middle, class: "axis" }), s("text", { x: 2, y: middle + 4 }, t("luck")), bars,
        s("path", { d: figures.map((one, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(one.pr).toFixed(1)}`).join("") }),
        figures.map((one, k) => {
          const name = `${when(one.made)}: PR ${figure(one.pr, 1)}, ${t("luck")} ${signed(one.luck, 2)}`;
          return s("a", { href: `#/analyse/${one.analysis}`, "aria-label": name }, s("circle", { cx: x(k), cy: y(one.pr), r: 5, class: "dot own" }, s("title", {}, name)));
        }))));
}

function themes(own) {
  const sums = new Map();
  for (const one of own) {
    for (const [theme, { count, cost }] of Object.entries(one.themes)) {
      const sum = sums.get(theme) ?? { count: 0, cost: 0 };
      sums.set(theme, { count: sum.count + count, cost: sum.cost + cost });
    }
  }
  const rows = [...sums].sort((a, b) => b[1].cost - a[1].cost);
  if (!rows.length) return null;
  const most = rows[0][1].cost;
  return h("section", { id: "themes" }, h("h2", {}, t("errors by theme")), h("p", { class: "source" }, t("theme words")),
    h("ul", { class: "groups" }, rows.map(([theme, { count, cost }]) => {
      const piece = h("span", { class: "bar-piece for" });
      piece.style.width = `${Math.max(2, Math.round(100 * cost / most))}%`;
      return h("li", {}, h("span", { class: "group-name" }, knows(`theme ${theme}`) ? t(`theme ${theme}`) : theme, h("small", {}, ` \u00b7 ${t("error count", { count })}`)),
        h("span", { class: "bar-track flat", "aria-hidden": "true" }, piece), h("span", { class: "amount" }, signed(-cost / 1000, 3)));
    })));
}

async function exportAll() {
  try {
    saveAs("motif.json", await text("/api/v1/everything"), "application/json");
  } catch (error) {
    say(error.message);
  }
}

async function deleteAll(view) {
  if (!await confirmed(t("delete all sure"), t("delete all"))) return;
  try {
    await remove("/api/v1/everything");
    localStorage.removeItem("motif-game");
    say(t("all deleted"));
    showHistory(view);
  } catch (error) {
    say(error.message);
  }
}
