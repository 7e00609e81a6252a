// An analysis: decisions with costs, luck and winning chances.

import { costWords, mixedWords, showCube, showHint, showWhy, sourceWords } from "./advice.js";
import { post, Problem, streamed } from "./api.js";
import { Board } from "./board.js";
import { drawCurve, fitted } from "./curve.js";
import { tried } from "./dialog.js";
import { announce, button, buttons, choice, fault, figure, gap, h, linkTo, live, percent, plain, said, section, show, signed, source, table, working } from "./dom.js";
import { pipCounts, turned } from "./drawing.js";
import { useKeys } from "./keys.js";
import { actionWords, diceOf, movesOf, nameOf, otherOwner, playName, ratingOf, scoreOf } from "./plays.js";
import { errorCount } from "./result.js";
import { rolloutButton } from "./rollout.js";
import { t } from "./texts.js";
import { titleOf } from "./analyse.js";
import { frame, player } from "./view.js";
import { here, still } from "./visit.js";

const FILTERS = { errors: null, marked: ["doubtful", "bad", "very bad"], bad: ["bad", "very bad"], worst: ["very bad"], all: null };
const MILLI = 1000;
/** Millipoints; smaller ones would be 0.000. */
const LEAST = 0.5;

/** The latest review, which outlives its view. */
let running = null;

function begun(asked) {
  const one = { lines: [], stopping: new AbortController() };
  one.done = streamed("review", { ...asked, keep: true }, (line) => {
    one.name ??= line.match?.analysis;
    one.lines.push(line);
    one.read(line);
  }, one.stopping.signal).finally(() => { one.name = null; });
  return one;
}

export class Analysis {
  /** `told` shows why a file cannot be analysed. */
  constructor(view, told = fault()) {
    Object.assign(this, { view, fault: told, decisions: [], at: null });
  }

  /** Analyses and saves games of the page or a file. */
  async begin(asked) {
    if (!asked.analysis || running?.name !== asked.analysis) running = begun(asked);
    const isHere = here();
    this.review = running;
    show(this.fault);
    const waiting = working();
    (this.fault.isConnected ? this.fault : this.view).append(waiting);
    try {
      for (const line of running.lines) this.read(line);
      running.read = (line) => isHere() && this.read(line);
      await still(running.done);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!this.fault.isConnected) this.view.prepend(this.fault);
      const fast = asked.fast || error.fields?.includes("fast"), isSlow = fast && !asked.fast;
      show(this.fault, said(error), (isSlow || this.match || !error.status) && button(t(isSlow ? "fast" : "try now"), () => this.begin({ ...asked, analysis: this.name, fast }), { small: true }));
      this.bar?.remove();
    } finally {
      waiting.remove();
    }
  }

  /** Shows a saved analysis, or repeats it. */
  reopen({ analysis, seat, number, name, game, content, fast, match, decisions, players }, at) {
    this.name = analysis;
    if (!decisions) return this.begin({ name, game, number, content, fast, analysis });
    this.open({ ...match, analysis, seat, number });
    this.decisions = decisions;
    this.finish(players);
    this.select(at);
    return this;
  }

  read(line) {
    if (line.match) this.open(line.match);
    else if (line.decisions) this.add(line.decisions);
    else if (line.players) this.finish(line.players);
    else if (line.message) throw new Problem(line.message, "stopped");
  }

  open(match) {
    const seat = match.seat ?? null;
    Object.assign(this, { match, seat, decisions: [], at: null, rolls: 0, bottom: seat ?? 0 });
    if (match.analysis) {
      this.name = match.analysis;
      history[location.hash.startsWith("#/analyse/") ? "replaceState" : "pushState"](null, "", `#/analyse/${match.analysis}`);
    }
    const title = titleOf({ match, number: match.number }), names = match.names.map((_, k) => [String(k), this.nameOf(k)]);
    this.progress = h("progress", { max: match.rolls, value: 0, "aria-label": t("analyse head") });
    this.count = h("span", t("analysing", { done: 0, all: match.rolls }));
    this.bar = h("div", { class: "analysing", role: "status" }, this.progress, this.count, button(t("stop"), () => this.stop(), { small: true }));
    this.totals = h("section");
    this.curve = h("div");
    const decisions = table(t("decisions"), ["move", "decision", "cost", "luck"].map((one) => t(one)), [], { id: "decisions" });
    decisions.classList.add("decisions");
    this.list = decisions.querySelector("tbody");
    this.board = new Board();
    this.words = live("decision-words");
    this.candidates = h("div");
    this.advice = live("advice");
    this.sum = h("p", { class: "source", role: "status" });
    this.filter = choice("which", Object.keys(FILTERS).map((one) => [one, t(one === "worst" ? "mark very bad" : `show ${one}`)]), "errors", () => this.fill());
    this.whom = choice("whom", [["", t("of both")], ...names], "", () => this.fill());
    this.seats = choice("my-seat", [["", t("nobody chosen")], ...names], String(seat ?? ""), (one) => one && this.sit(Number(one)));
    this.learn = h("span");
    const step = (key, by) => button(by < 0 ? "◂" : "▸", () => this.step(by), { id: key, "aria-label": t(key), title: t(key) });
    const labelled = (key, control) => h("label", { class: "inline" }, t(key), " ", control);
    Object.assign(this, frame(this.view, title, this.board, "analysis", t("decisions")));
    this.message.replaceWith(this.words);
    show(this.fault);
    this.notice.before(this.fault);
    show(this.actions, step("previous", -1), step("next", 1), button(t("why"), () => this.explain(), { id: "explain", primary: true }),
      button(t("all plays"), () => this.hint(), { id: "all-plays" }), this.setUp = linkTo(t("open position"), "#/position"));
    show(this.panel,
      h("section", h("div", { class: "match-head" }, h("h2", title), linkTo(t("another match"), "#/analyse")), h("small", [match.event, match.site, match.date].filter(Boolean).join(", ")), this.bar, this.curve, this.faults(), buttons(labelled("i am", this.seats), this.learn)),
      h("section", { class: "card" }, this.candidates, this.advice),
      section(t("decisions"), buttons(labelled("show", this.filter), labelled("of whom", this.whom)), decisions, this.sum),
      this.totals);
    useKeys((key) => this.key(key));
    fitted(this.curve, () => this.drawCurve());
  }

  /** Faults of the record. */
  faults() {
    const { score_jumps: jumps = [], illegal_plays: plays = [] } = this.match;
    return [jumps.map(({ game, begins, ended }) => source(t("score jump", { game, begins: begins.join("–"), ended: ended.join("–") }))),
      plays.map((one) => source(t("illegal play", { ...one, player: nameOf(one.player) })))];
  }

  nameOf(k) {
    return nameOf(this.match.names[k]);
  }

  key(key) {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (way) this.select(Math.min(Math.max((this.at ?? 0) + way, 0), this.decisions.length - 1));
    else if (key === "ArrowUp") this.step(-1);
    else if (key === "ArrowDown") this.step(1);
    else if (key === "Enter" || key === "w") this.explain();
    else if (key === "h") this.hint();
    else return false;
    return true;
  }

  add(decisions) {
    const start = this.decisions.length;
    this.decisions.push(...decisions);
    this.rolls += decisions.filter((one) => one.is_play).length;
    this.progress.value = this.rolls;
    show(this.count, t("analysing", { done: this.rolls, all: this.match.rolls }));
    this.fill();
    this.drawCurve();
    if (this.at === null) this.select(start);
  }

  finish(players) {
    this.bar.remove();
    const inMatch = this.match.length > 0, lost = (one) => `${figure(one.total, 3)} (${inMatch ? percent(one.mwc, 2) : figure(one.points, 2)})`;
    const inAll = (key) => `${t(key)} (${t(inMatch ? "term mwc" : "in points")})`;
    const known = (value, words) => (value === null ? "–" : words(value));
    const adjusted = (result) => (inMatch ? `${signed(100 * result, 1)}\u00a0%` : signed(result, 2));
    const rows = [
      ["PR", (one) => known(one.pr, (pr) => figure(pr, 1) + ratingOf(one.pr_word))],
      [t("error rate"), (one) => known(one.error_rate, (rate) => figure(rate, 1))],
      [t("decisions"), (one) => String(one.overall.decisions)], [t("blunders"), (one) => String(one.overall.blunders)],
      [inAll("lost plays"), (one) => lost(one.chequer)], [inAll("lost cube"), (one) => lost(one.cube)],
      [t("luck"), (one) => signed(one.luck.total)], [t("luck adjusted"), (one) => known(one.luck_adjusted_result, adjusted)],
    ].map(([name, words]) => [name, ...players.map(words)]);
    show(this.totals, h("h2", t("players table")), table(t("players table"), ["", this.nameOf(0), this.nameOf(1)], rows, { id: "players" }),
      source(t("judged by", { player: this.match.player })));
    this.fill();
    this.players = players;
    if (!this.at) this.select(this.numbers()[0] ?? 0); // none was chosen
    this.showLearn();
    announce(t("players table"));
  }

  async sit(seat) {
    this.seat = this.bottom = seat;
    this.select(this.at);
    await tried(async () => {
      await post(`analyses/${this.name}`, { seat });
      this.showLearn();
    });
  }

  showLearn() {
    const count = errorCount(this.decisions, this.seat);
    show(this.learn, count > 0 && this.players && linkTo(t("try again", { count }), `#/learn/analysis/${this.name}`, { id: "try-again" }));
  }

  stop() {
    this.review.stopping.abort();
    this.bar.remove();
  }

  isOfWhom(one) {
    return ["", String(one.decider)].includes(this.whom.value);
  }

  passes(one) {
    if (!this.isOfWhom(one)) return false;
    if (this.filter.value === "errors") return one.counts && one.error >= LEAST;
    return FILTERS[this.filter.value]?.includes(one.mark) ?? true;
  }

  whatOf(one) {
    return one.is_play ? `${one.dice.join("\u2011")} ${one.done === null ? "" : playName(one.done)}` : t(`did ${one.done}`);
  }

  row(one, number) {
    return h("tr", { "data-number": number, "aria-current": number === this.at ? "true" : null },
      h("td", `${one.game}.${one.move}`),
      h("td", plain(`${this.nameOf(one.decider)}: ${this.whatOf(one)}`, () => this.select(number))),
      h("td", one.counts && one.error >= LEAST ? `${signed(-one.error / MILLI)} ` : "", one.mark && h("span", { class: `markword ${one.mark}` }, t(`mark ${one.mark}`))),
      h("td", one.is_play ? signed(one.luck, 2) : "", one.luck_mark && h("span", { class: "markword" }, ` ${t(`luck ${one.luck_mark}`)}`)));
  }

  fill() {
    const filter = this.filter.value, shown = this.decisions.map((one, number) => ({ one, number })).filter(({ one }) => this.passes(one));
    if (filter === "errors") shown.sort((a, b) => b.one.error - a.one.error);
    // Totals include small errors.
    const summed = filter === "errors" ? this.decisions.filter((one) => this.isOfWhom(one)) : shown.map(({ one }) => one);
    const cost = figure(summed.reduce((sum, one) => sum + (one.counts ? one.error : 0), 0) / MILLI, 3);
    show(this.sum, filter !== "all" && shown.length ? t("errors in all", { count: shown.length, cost }) : "");
    show(this.list, shown.length ? shown.map(({ one, number }) => this.row(one, number)) : h("tr", h("td", { colspan: 4 }, t("nothing to show"))));
    if (this.players) {
      const numbers = this.numbers();
      if (numbers.length && !numbers.includes(this.at)) this.select(numbers[0]);
    }
  }

  numbers() {
    return [...this.list.querySelectorAll("[data-number]")].map((row) => Number(row.dataset.number));
  }

  step(by) {
    const numbers = this.numbers(), next = numbers[Math.min(Math.max(numbers.indexOf(this.at) + by, 0), numbers.length - 1)];
    if (next !== undefined) this.select(next);
  }

  select(number) {
    if (!this.decisions[number]) return;
    this.at = number;
    const one = this.decisions[number];
    for (const row of this.list.children) row.toggleAttribute("aria-current", false);
    const row = this.list.querySelector(`[data-number="${number}"]`);
    row?.setAttribute("aria-current", "true");
    const frame = row?.closest(".decisions");
    if (frame) frame.scrollTop = Math.max(0, row.offsetTop - frame.clientHeight / 2);
    show(this.advice);
    this.draw();
    this.showBars(one);
    show(this.last, `${t("where", one)}: ${this.nameOf(one.on_roll)}${one.is_play ? ` ${one.dice.join("-")} · ${t("luck")} ${signed(one.luck)}` : ""}`);
    show(this.words, h("p", this.verdict(one)));
    this.showTable(one);
    this.setUp.href = `#/position/${encodeURIComponent(one.xgid)}`;
    if (this.name) history.replaceState(null, "", `#/analyse/${this.name}/${number}`);
    this.drawCurve();
  }

  showBars(one) {
    const scores = one.on_roll === 0 ? one.score : one.score.toReversed(), pips = pipCounts(one.board);
    const bar = (place, k, light) => player(place, light, this.nameOf(k), { pips: pips[k === one.on_roll ? 0 : 1], score: scoreOf(scores[k], this.match.length) });
    bar(this.otherBar, 1 - this.bottom, false);
    bar(this.ownBar, this.bottom, true);
  }

  verdict(one) {
    const name = this.nameOf(one.decider), done = one.done === null ? "" : t(`did ${one.done}`), cost = costWords(one.error / MILLI, one.source, one.error_se / MILLI);
    if (!one.is_play) {
      if (one.too_close) return t("cube too close", { name, done });
      return t(one.error < LEAST ? "cube right" : "cube decision", { name, done, action: actionWords(one.kind === "take" ? one.best : one.action), cost });
    }
    if (one.done === null) return "";
    if (!one.counts) return `${playName(one.done)} (${t("forced")}).`;
    const shown = (play, kind) => [h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), plain(playName(play), () => this.draw([[play, kind]]), { id: kind })];
    if (one.best === one.done || one.error < LEAST) return t("made best", { made: playName(one.done) });
    const [before, middle, rest] = t("made and better", { made: "\u0001", better: "\u0001", cost }).split("\u0001");
    return [before, shown(one.done, "played"), middle, shown(one.best, "better"), rest, one.mark ? "" : ` ${t("unmarked")}`];
  }

  showTable(one) {
    const candidates = one.candidates ?? [];
    if (!one.counts || !candidates.length) return show(this.candidates);
    const rows = candidates.map((each) => {
      const made = one.is_play ? each.done === one.done : false;
      const name = one.is_play ? plain(playName(each.done), () => this.draw([[each.done, made ? "played" : "hint"]])) : actionWords(each.done, one.action);
      return { class: made ? "made" : "", cells: [[name, made && h("small", ` ${t("played")}`)], signed(each.equity), gap(each.difference), sourceWords(each)] };
    });
    return show(this.candidates, table(t(one.is_play ? "hint table" : "cube table"), [t(one.is_play ? "play" : "action"), t("equity"), t("difference"), t("source")], rows, { class: "candidates" }), one.is_play && mixedWords(candidates));
  }

  draw(plays = null) {
    const one = this.decisions[this.at];
    const mine = one.on_roll === this.bottom, board = mine ? one.board : turned(one.board), owner = mine ? one.owner : otherOwner(one.owner);
    const drawn = plays ?? (one.is_play && one.done !== null ? [[one.done, "played"], ...(one.best !== one.done && one.error >= LEAST && one.counts ? [[one.best, "better"]] : [])] : []);
    if (!plays && drawn.length === 1) drawn[0][1] = "better";
    this.board.show({
      board, cube: { value: one.cube, owner, offered: one.kind === "take" }, by: mine ? "me" : "opponent",
      dice: one.is_play ? diceOf(one.dice, mine ? "me" : "opponent") : null,
      arrows: drawn.map(([play, kind]) => ({ moves: movesOf(play), board, mine, kind })),
    });
  }

  about(one) {
    return { id: one.id, player: this.match.player };
  }

  explain() {
    const one = this.decisions[this.at];
    if (!one) return null;
    if (!one.is_play) return showCube(this.advice, this.about(one), { names: [one.on_roll, 1 - one.on_roll].map((k) => this.nameOf(k)), areKnown: Boolean(one.candidates?.length), known: one.known, isAnswer: one.kind === "take" });
    const [best, done] = [one.best, one.done].map((play) => one.candidates?.find((each) => each.done === play));
    if (best && done && best !== done) return showWhy(this.advice, this.about(one), best, done, one.error_se / MILLI);
    return this.hint();
  }

  hint() {
    const one = this.decisions[this.at];
    if (!one) return null;
    if (!one.is_play) return this.explain();
    const extra = h("div"), place = h("div");
    show(this.candidates);
    show(this.advice, place, rolloutButton(extra, () => ({ id: one.id }), true), extra);
    return showHint(place, this.about(one), {
      point: (play) => this.draw(play ? [[play.notation, play.notation === one.done ? "played" : "hint"]] : null),
      pick: (play) => this.draw([[play.notation, "hint"]]), made: one.done, known: one.candidates ?? [], se: one.error_se / MILLI,
    });
  }

  drawCurve() {
    drawCurve(this.curve, {
      decisions: this.decisions, match: this.match, name: this.nameOf(this.bottom), bottom: this.bottom, at: this.at, select: (number) => this.select(number),
      words: (one) => `${this.nameOf(one.decider)}: ${this.whatOf(one)}, ${signed(-one.error / MILLI)}`,
    });
  }
}
