// The history: ratings, errors by theme, analyses and games.

import { analysisList } from "./analyse.js";
import { get, remove, text } from "./api.js";
import { axis, fitted } from "./curve.js";
import { confirmed, say, tried } from "./dialog.js";
import { button, buttons, figure, h, s, saveAs, section, show, signed, source, styled, wide, working } from "./dom.js";
import { ratingOf } from "./plays.js";
import { gameList } from "./start.js";
import { known, t } from "./texts.js";
import { retried, when } from "./view.js";

const CHART = { height: 230, left: 46, right: 14, top: 12, bottom: 64 };
const STRIP = 40;

export async function open(view) {
  const place = h("div", { class: "text" }, working());
  show(view, place);
  await retried(place, async () => {
    const chart = h("section"), [{ analyses, overall }, { games }] = await Promise.all([get("history"), get("games")]);
    show(place, h("h1", t("view history")),
      overall ? [fitted(chart, () => show(chart, ratings(overall))), overall.themes.length && themes(overall.themes)] : h("section", h("p", t("no history"))),
      section(t("kept analyses"), analyses.length ? analysisList(analyses) : h("p", t("no analyses"))),
      section(t("games"), games.length ? gameList(games) : h("p", t("no games"))),
      section(t("your data"), h("p", t("data words")),
        buttons(button(t("export all"), exportAll, { id: "export" }), button(t("delete all"), () => deleteAll(view), { id: "delete-all" }))));
  });
}

function ratings({ pr, pr_word: word, luck, analyses }) {
  const { height, left, right, top, bottom } = CHART;
  const width = Math.max(280, Math.min(innerWidth - 60, 900));
  const most = 20 * Math.ceil(Math.max(1, ...analyses.map((one) => one.pr / 20)));
  const step = (width - left - right) / (analyses.length - 1 || 1);
  const x = (k) => left + step * (analyses.length === 1 ? 0.5 : k);
  const y = (value) => top + (height - top - bottom) * value / most;
  const widest = Math.max(0.5, ...analyses.map((one) => Math.abs(one.luck)));
  const middle = height - STRIP / 2 - 4, reach = Math.min(40, step);
  const bars = analyses.map((one, k) => {
    const size = STRIP / 2 * Math.abs(one.luck) / widest, isLucky = one.luck > 0;
    return s("rect", { x: x(k) - 3, y: isLucky ? middle - size : middle, width: 6, height: size, class: isLucky ? "lucky" : "unlucky" });
  });
  const words = t("pr in all", { pr: figure(pr, 1), word: ratingOf(word), count: analyses.length, luck: signed(luck, 2) });
  return [h("h2", t("pr over time")), h("p", words),
    wide(t("pr over time"), s("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "group", "aria-label": words },
      [0, most / 2, most].map((value) => axis(left, width - right, y(value), figure(value, 0))), axis(left, width - right, middle, t("luck")), bars,
      s("path", { d: analyses.map((one, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(one.pr).toFixed(1)}`).join("") }),
      analyses.map((one, k) => {
        const name = `${when(one.made)}: PR ${figure(one.pr, 1)}, ${t("luck")} ${signed(one.luck, 2)}`;
        return s("a", { href: `#/analyse/${one.analysis}`, "aria-label": name }, s("title", name),
          s("rect", { x: x(k) - reach / 2, y: top, width: reach, height: height - bottom - top, fill: "none", "pointer-events": "all" }),
          s("circle", { cx: x(k), cy: y(one.pr), r: 5, class: "dot own" }));
      })))];
}

function themes(sums) {
  const list = section(t("errors by theme"), source(t("theme words")),
    h("ul", { class: "groups" }, sums.map(({ theme, count, cost }) => {
      const piece = styled("bar-piece for", { width: `${Math.max(2, Math.round(100 * cost / sums[0].cost))}%` });
      return h("li", h("span", known(`theme ${theme}`, theme), h("small", ` · ${t("error count", { count })}`)),
        h("span", { class: "bar-track flat", "aria-hidden": "true" }, piece), h("span", { class: "amount" }, signed(-cost / 1000, 3)));
    })));
  list.id = "themes";
  return list;
}

function exportAll() {
  return tried(async () => saveAs("motif.json", await text("everything"), "application/json"));
}

async function deleteAll(view) {
  if (!await confirmed(t("delete all sure"), t("delete all"))) return;
  await tried(async () => {
    await remove("everything");
    localStorage.removeItem("motif-game");
    say(t("all deleted"));
    open(view);
  });
}
