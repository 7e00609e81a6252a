// A match that was played: every decision with what it cost, the luck of the rolls, and who was ahead.

import { actionWords, movesOf, playName, showCube, showHint } from "./advice.js";
import { stream } from "./api.js";
import { Board } from "./board.js";
import { announce, figure, h, percent, s, show, signed, table } from "./dom.js";
import { handedOver } from "./handover.js";
import { t } from "./texts.js";

const FILTERS = { all: ["", "doubtful", "bad", "very bad"], errors: ["", "doubtful", "bad", "very bad"], marked: ["doubtful", "bad", "very bad"], bad: ["bad", "very bad"], worst: ["very bad"] };
const MILLI = 1000;
/** Less than this many millipoints would be written 0.000. */
const LEAST = 0.5;
const CURVE = { height: 190, left: 44, right: 8, top: 10, bottom: 20 };

export async function showAnalyse(view) {
  const analysis = new Analysis(view);
  const text = handedOver();
  if (text) analysis.begin("match.mat", new TextEncoder().encode(text));
  return analysis;
}

function base64(bytes) {
  let binary = "";
  for (let k = 0; k < bytes.length; k += 32768) binary += String.fromCharCode(...bytes.subarray(k, k + 32768));
  return btoa(binary);
}

class Analysis {
  constructor(view) {
    this.view = view;
    this.decisions = [];
    const file = h("input", { type: "file", id: "match-file", onchange: () => file.files[0] && this.take(file.files[0]) });
    this.fast = h("input", { type: "checkbox", id: "fast" });
    const drop = h("div", { class: "drop",
      ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
      ondragleave: () => drop.classList.remove("over"),
      ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); const [one] = event.dataTransfer.files; if (one) this.take(one); },
    }, h("p", {}, t("drop words")), h("label", { class: "field" }, h("span", {}, t("match file")), file),
    h("label", { class: "check center" }, this.fast, t("fast")));
    this.fault = h("p", { class: "fault", role: "alert" });
    this.drop = drop;
    this.place = h("div");
    show(view, h("h1", {}, t("analyse head")), this.fault, drop, this.place);
  }

  async take(file) {
    this.begin(file.name, new Uint8Array(await file.arrayBuffer()));
  }

  async begin(name, content) {
    this.stopping?.abort();
    this.stopping = new AbortController();
    this.decisions = [];
    this.at = null;
    show(this.fault);
    show(this.place, h("p", { class: "working", role: "status" }, t("thinking")));
    try {
      const asked = { name, content: base64(content), fast: this.fast.checked };
      await stream("/api/v1/review", asked, (line) => this.read(line), this.stopping.signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      show(this.fault, error.message);
      if (!this.match) show(this.place);
      this.bar?.remove();
    }
  }

  read(line) {
    if (line.match) this.open(line.match);
    else if (line.decisions) this.add(line.decisions);
    else if (line.players) this.finish(line.players);
    else show(this.fault, t("analysis unfit", { reason: line.message }));
  }

  /** The frame of a match that is being judged. */
  open(match) {
    this.match = match;
    this.drop.hidden = true;
    this.rolls = 0;
    this.progress = h("progress", { max: match.rolls, value: 0, "aria-label": t("analyse head") });
    this.count = h("span", {});
    this.bar = h("div", { class: "analysing", role: "status" }, this.progress, this.count, h("button", { type: "button", class: "small", onclick: () => this.stop() }, t("stop")));
    this.totals = h("div", {});
    this.curve = h("div", {});
    this.list = h("tbody", {});
    this.board = new Board();
    this.words = h("div", { class: "decision-words", "aria-live": "polite" });
    this.advice = h("div", { class: "advice", "aria-live": "polite" });
    this.filter = h("select", { id: "which", onchange: () => this.fill() }, Object.keys(FILTERS).map((one) => h("option", { value: one }, t(`show ${one}`))));
    this.whom = h("select", { id: "whom", onchange: () => this.fill() }, h("option", { value: "" }, t("of both")), match.names.map((name, k) => h("option", { value: k }, name)));
    const step = (key, by) => h("button", { type: "button", id: key, onclick: () => this.step(by) }, t(key));
    const [first, second] = match.names;
    show(this.place,
      h("div", { class: "match-head" }, h("h2", {}, `${first} \u2013 ${second}, ${match.length ? t("match to", { count: match.length }) : t("money")}`),
        h("button", { type: "button", class: "small", onclick: () => this.another() }, t("another match"))),
      this.bar, h("div", { class: "totals" }, this.totals, this.curve),
      h("div", { class: "game" },
        h("section", { class: "table", "aria-label": t("board") }, this.words, this.board.element,
          h("div", { class: "actions" }, step("previous", -1), step("next", 1), h("button", { type: "button", id: "explain", class: "primary", onclick: () => this.explain() }, t("explain decision")), this.setUp = h("a", { class: "button", href: "#/position" }, t("set up decision"))),
          h("div", { class: "card" }, this.advice)),
        h("aside", { class: "panel", "aria-label": t("decisions") }, h("section", {}, h("h2", {}, t("decisions")),
          h("div", { class: "buttons" }, h("label", { class: "inline" }, t("show which"), " ", this.filter), h("label", { class: "inline" }, t("of whom"), " ", this.whom)),
          h("div", { class: "wide decisions", tabindex: 0, role: "group", "aria-label": t("decisions") },
            h("table", { id: "decisions" }, h("caption", { class: "unseen" }, t("decisions")),
              h("thead", {}, h("tr", {}, ["number", "what", "cost", "luck"].map((one) => h("th", { scope: "col" }, t(`column ${one}`))))), this.list)), this.sum = h("p", { class: "source", role: "status" })))));
  }

  add(decisions) {
    const start = this.decisions.length;
    this.decisions.push(...decisions);
    this.rolls += decisions.filter((one) => one.is_play).length;
    this.progress.value = this.rolls;
    show(this.count, t("analysing", { done: this.rolls, all: this.match.rolls }));
    this.list.append(...decisions.map((one, k) => this.row(one, start + k)).filter(Boolean));
    if (this.filter.value === "errors") this.fill();
    this.drawCurve();
    if (this.at === null && this.list.firstChild) this.select(Number(this.list.firstChild.dataset.number));
  }

  finish(players) {
    this.bar.remove();
    const unit = this.match.length ? "mwc" : "points";
    const lost = (one) => `${figure(one.total, 3)} (${unit === "mwc" ? percent(one.mwc, 2) : figure(one.points, 2)})`;
    const rate = (one) => (one.error_rate === null ? "\u2013" : figure(one.error_rate, 1));
    const rows = [
      [t("error rate"), ...players.map(rate)], [t("rating"), ...players.map((one) => (one.rating === null ? "\u2013" : t(`rating ${one.rating}`)))],
      ["PR", ...players.map((one) => (one.pr === null ? "\u2013" : figure(one.pr, 1)))],
      [t("decisions count"), ...players.map((one) => String(one.overall.decisions))],
      [t("blunders"), ...players.map((one) => String(one.overall.blunders))],
      [t("lost plays"), ...players.map((one) => lost(one.chequer))], [t("lost cube"), ...players.map((one) => lost(one.cube))],
      [t("luck"), ...players.map((one) => signed(one.luck.total))],
      [t("luck adjusted"), ...players.map((one) => (one.luck_adjusted_result === null ? "\u2013" : unit === "mwc" ? `${signed(100 * one.luck_adjusted_result, 1)}\u00a0%` : signed(one.luck_adjusted_result, 2)))]];
    show(this.totals, table(t("players table"), [null, ...this.match.names].map((one) => one ?? ""), rows, { id: "players" }),
      h("p", { class: "source" }, t("judged by", { player: this.match.player })));
    this.drawCurve();
    this.players = players;
    announce(t("players table"));
  }

  stop() {
    this.stopping.abort();
    this.bar.remove();
  }

  another() {
    this.stopping.abort();
    this.match = null;
    this.drop.hidden = false;
    show(this.place);
    this.drop.querySelector("input").value = "";
    this.drop.querySelector("input").focus();
  }

  /** Whether it is one of the errors that the totals are made of. */
  isError(one) {
    return one.counts && one.error > 0;
  }

  passes(one) {
    if (this.filter.value === "errors" && !this.isError(one)) return false;
    return (this.whom.value === "" || Number(this.whom.value) === one.decider) && FILTERS[this.filter.value].includes(one.mark);
  }

  row(one, number) {
    if (!this.passes(one)) return null;
    const who = this.match.names[one.decider];
    const what = one.is_play ? `${one.dice.join("-")} ${one.done === null ? "" : playName(one.done)}` : t(`did ${one.done}`);
    return h("tr", { "data-number": number, "aria-current": number === this.at ? "true" : null },
      h("td", {}, `${one.game}.${one.move}`),
      h("td", {}, h("button", { type: "button", class: "plain", onclick: () => this.select(number) }, `${who}: ${what}`)),
      h("td", {}, one.counts && one.error >= LEAST ? `${signed(-one.error / MILLI)} ` : "", one.mark && h("span", { class: `markword ${one.mark}` }, t(`mark ${one.mark}`))),
      h("td", {}, one.is_play ? signed(one.luck, 2) : "", one.luck_mark && h("span", { class: "markword" }, ` ${t(`luck ${one.luck_mark}`)}`)));
  }

  fill() {
    const order = this.decisions.map((one, k) => k);
    if (this.filter.value === "errors") order.sort((a, b) => this.decisions[b].error - this.decisions[a].error);
    const rows = order.map((k) => this.row(this.decisions[k], k)).filter(Boolean);
    this.sumUp();
    show(this.list, rows.length ? rows : h("tr", {}, h("td", { colspan: 4 }, t("nothing to show"))));
    const numbers = this.numbers();
    if (numbers.length && !numbers.includes(this.at)) this.select(numbers[0]);
  }

  /** What the errors that are shown cost together: as much as the totals say. */
  sumUp() {
    const errors = this.filter.value === "errors" ? this.decisions.filter((one) => this.passes(one)) : [];
    const cost = figure(errors.reduce((sum, one) => sum + one.error, 0) / MILLI, 3);
    show(this.sum, errors.length ? t("errors in all", { count: errors.length, cost }) : "");
  }

  numbers() {
    return [...this.list.querySelectorAll("[data-number]")].map((row) => Number(row.dataset.number));
  }

  step(by) {
    const numbers = this.numbers();
    const k = numbers.indexOf(this.at);
    const next = numbers[Math.min(Math.max(k + by, 0), numbers.length - 1)];
    if (next !== undefined) this.select(next);
  }

  select(number) {
    this.at = number;
    const one = this.decisions[number];
    for (const row of this.list.children) row.toggleAttribute("aria-current", false);
    const row = this.list.querySelector(`[data-number="${number}"]`);
    row?.setAttribute("aria-current", "true");
    row?.scrollIntoView({ block: "nearest" });
    show(this.advice);
    this.draw(one.is_play && one.done !== null ? { arrows: movesOf(one.done) } : {});
    const names = this.match.names;
    const score = this.match.length ? t("score after", { first: one.score[0], second: one.score[1] }) : "";
    const heading = `${t("where", one)}: ${names[one.on_roll]}${one.is_play ? ` ${t("rolled", { roll: one.dice.join("-") })}` : ""}. ${score}`;
    show(this.words, h("p", {}, h("span", { class: "chip light", "aria-hidden": "true" }), h("strong", {}, ` ${heading}`)), h("p", {}, this.verdict(one)));
    this.setUp.href = `#/position/${encodeURIComponent(one.xgid)}`;
    this.drawCurve();
  }

  verdict(one) {
    const doubt = one.error_se === null ? "" : ` \u00b1 ${figure(one.error_se / MILLI, 3)}`;
    const cost = `${figure(one.error / MILLI, 3)}${doubt}`;
    if (!one.is_play) {
      if (one.too_close) return t("cube too close", { name: this.match.names[one.decider], done: t(`did ${one.done}`) });
      return t("cube decision", { name: this.match.names[one.decider], done: t(`did ${one.done}`), action: actionWords(one.action), cost });
    }
    const luck = t("was lucky", { luck: signed(one.luck) });
    if (one.done === null) return luck;
    if (!one.counts) return `${playName(one.done)} (${t("forced")}). ${luck}`;
    const shown = (play, key) => h("button", { type: "button", class: "plain play", id: key, onclick: () => this.draw({ arrows: movesOf(play) }), onpointerenter: () => this.draw({ arrows: movesOf(play) }), onfocus: () => this.draw({ arrows: movesOf(play) }) }, playName(play));
    const small = one.mark ? "" : ` ${t("unmarked")}`;
    if (one.best === one.done || one.error < LEAST) return `${t("made best", { made: playName(one.done) })} ${luck}`;
    const [before, middle, rest] = t("made and better", { made: "\u0001", better: "\u0001", cost }).split("\u0001");
    return [before, shown(one.done, "made"), middle, shown(one.best, "better"), rest, `${small} ${luck}`];
  }

  draw(more) {
    const one = this.decisions[this.at];
    const dice = one.is_play ? (one.dice[0] === one.dice[1] ? Array(4).fill(one.dice[0]) : one.dice).map((value) => ({ value, used: false })) : null;
    this.board.show({ board: one.board, cube: { value: one.cube, owner: one.owner, offered: ["take", "pass"].includes(one.done) }, dice, by: "me", ...more });
  }

  explain() {
    const one = this.decisions[this.at];
    if (!one) return null;
    if (!one.is_play) return showCube(this.advice, { id: one.id });
    return showHint(this.advice, { id: one.id }, {
      point: (play) => this.draw({ arrows: movesOf(play ? play.notation : one.done ?? "") }),
      pick: (play) => this.draw({ arrows: movesOf(play.notation) }), made: one.done, known: one.candidates ?? [],
    });
  }

  /** The chance of the first player before each roll. */
  drawCurve() {
    const rolls = this.decisions.map((one, k) => ({ ...one, k })).filter((one) => one.is_play);
    if (!rolls.length) return;
    const { height, left, right, top, bottom } = CURVE;
    const width = Math.max(this.curve.clientWidth, 300);
    const x = (k) => left + (width - left - right) * k / Math.max(this.match.rolls - 1, 1);
    const y = (chance) => top + (height - top - bottom) * (1 - chance);
    const lines = rolls.map((one, k) => `${k && (this.match.length || rolls[k - 1].game === one.game) ? "L" : "M"}${x(k).toFixed(1)} ${y(one.chance).toFixed(1)}`);
    const name = this.match.names[0];
    const caption = t(this.match.length ? "curve match" : "curve game", { name });
    const chances = rolls.map((one) => one.chance);
    const words = t("curve words", { first: percent(chances[0]), last: percent(chances.at(-1)), low: percent(Math.min(...chances)), high: percent(Math.max(...chances)) });
    const here = rolls.findIndex((one) => one.k >= this.at);
    const drawing = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img", "aria-label": `${caption}. ${words}` },
      [0, 0.5, 1].map((share) => [s("line", { x1: left, x2: width - right, y1: y(share), y2: y(share), class: "axis" }), s("text", { x: 4, y: y(share) + 4 }, `${100 * share} %`)]),
      rolls.map((one, k) => (k && rolls[k - 1].game !== one.game ? s("line", { x1: x(k - 0.5), x2: x(k - 0.5), y1: top, y2: height - bottom, class: "game" }) : null)),
      rolls.map((one, k) => (!k || rolls[k - 1].game !== one.game ? s("text", { x: x(k) + 3, y: height - 4 }, t("game short", { number: one.game })) : null)),
      s("path", { d: lines.join("") }), here >= 0 && this.at !== null && s("line", { x1: x(here), x2: x(here), y1: top, y2: height - bottom, class: "here" }));
    drawing.addEventListener("click", (event) => {
      const box = drawing.getBoundingClientRect();
      const place = ((event.clientX - box.left) * width / box.width - left) / (width - left - right);
      const one = rolls[Math.round(place * (this.match.rolls - 1))];
      if (one) this.select(one.k);
    });
    show(this.curve, h("figure", { class: "chance" }, h("figcaption", {}, caption), drawing));
  }
}
