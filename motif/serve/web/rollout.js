// Cubeful rollouts of plays or a cube decision.

import { Problem, stream } from "./api.js";
import { button, fault, h, percent, reveal, said, show, signed, source, table, within } from "./dom.js";
import { actionWords, playName } from "./plays.js";
import { t } from "./texts.js";

const STEPS = [36, 72, 180], MOST = 2880;
const SETTINGS = { cut: 12, luck_plies: 12, stop_at_bearoff: true, stratified: true };

/** A button that rolls out `about()` into `place`: plays of a roll if `isPlay`. */
export function rolloutButton(place, about, isPlay) {
  return button(t("roll it out"), () => rollOut(place, about(), isPlay, STEPS), { class: "roll-out" });
}

/** Rolls out plays, by default the best, with each number of trials in `steps`. */
async function rollOut(place, about, isPlay, steps, play = []) {
  const progress = h("progress", { max: steps.length, value: 0, "aria-label": t("roll it out") });
  const words = h("span");
  const result = h("div");
  const stopping = new AbortController();
  const end = () => {
    clearInterval(watch);
    stopping.abort();
  };
  const stop = button(t("stop"), end, { small: true });
  const bar = h("div", { class: "analysing", role: "status" }, progress, words, stop);
  show(place, h("h3", t("roll it out")), bar, result);
  const watch = setInterval(() => bar.isConnected || end(), 200); // stops it once left
  try {
    for (const [step, trials] of steps.entries()) {
      if (stopping.signal.aborted) break;
      const asked = { ...about, ...SETTINGS, trials, cubeful: !isPlay, compare: isPlay, play, stream: true };
      let error = null;
      await stream("rollout", asked, (line) => {
        if (line.result) {
          show(result, isPlay ? playsTable(line.result) : cubeTable(line.result));
          if (!step) reveal(place);
        }
        else if (line.error) ({ error } = line);
      }, stopping.signal);
      if (error) throw new Problem(error);
      progress.value = step + 1;
      show(words, t("trials done", { count: trials, all: steps.at(-1) }));
    }
  } catch (error) {
    if (error.name !== "AbortError") result.append(fault(said(error)));
  }
  end();
  stop.remove();
  progress.remove();
  const more = 4 * steps.at(-1), ticked = () => [...result.querySelectorAll("input:checked")].map((one) => one.value);
  if (more <= MOST && result.querySelector("table")) bar.append(button(t(isPlay ? "more plays" : "more trials"), () => rollOut(place, about, isPlay, [more], ticked()), { small: true }));
}

function spread(se) {
  return h("small", within("", se));
}

function playsTable({ plays, player, trials }) {
  const rows = plays.map((one, k) => [h("label", { class: "check" }, h("input", { type: "checkbox", value: one.notation, checked: true }), playName(one.notation)), [signed(one.equity), spread(one.se.equity)],
    k ? [signed(one.equity.toFixed(3) - plays[0].equity.toFixed(3)), spread(one.difference_se), -one.difference < 2 * one.difference_se && [" ", h("small", t("too close"))]] : "", percent(one.mean.win)]);
  return [table(t("rollout"), [t("play"), t("equity"), t("difference"), t("wins")], rows, { class: "rollout" }), source(t("rolled by", { player, count: plays[0].trials ?? trials }))];
}

function cubeTable(answer) {
  const rows = [["no double", answer.no_double, answer.no_double_se], ["double, take", answer.double_take, answer.double_take_se], ["double, pass", answer.double_pass, 0]]
    .map(([name, equity, se]) => [actionWords(name, answer.action), within(signed(equity), se)]);
  return [h("p", h("strong", actionWords(answer.action))), table(t("rollout"), [t("action"), t("equity")], rows), source(t("rolled by", { player: answer.player, count: answer.trials }))];
}
