// A rollout on demand: of the plays of a roll, or of the cube decision, both sides doubling; with its progress.

import { remove, stream } from "./api.js";
import { button, fault, h, percent, show, signed, table, within } from "./dom.js";
import { actionWords, playName } from "./plays.js";
import { t } from "./texts.js";

const STEPS = [36, 144, 576, 1296];

/** A button that rolls out what `about()` gives into `place`; `isPlay` says whether a roll is to be played. */
export function rolloutButton(place, about, isPlay) {
  return button(t("roll it out"), () => rollOut(place, about(), isPlay), { class: "roll-out" });
}

async function rollOut(place, about, isPlay) {
  let job = null, stopped = false;
  const progress = h("progress", { max: STEPS.length, value: 0, "aria-label": t("roll it out") });
  const words = h("span", {}, t("trials done", { count: 0 }));
  const result = h("div", {});
  const stopping = new AbortController();
  const stop = button(t("stop"), () => {
    stopped = true;
    if (job) remove(`/api/v1/jobs/${job}`).catch(() => {});
    stopping.abort();
  }, { small: true });
  const bar = h("div", { class: "analysing", role: "status" }, progress, words, stop);
  show(place, h("h3", {}, t("term rollout")), bar, result);
  try {
    for (const [step, trials] of STEPS.entries()) {
      if (stopped) break;
      const asked = { ...about, trials, cubeful: true, compare: isPlay, stream: true };
      let error = null;
      await stream("/api/v1/rollout", asked, (line) => {
        if (line.job) ({ job } = line);
        else if (line.result) show(result, isPlay ? playsTable(line.result) : cubeTable(line.result));
        else if (line.error) ({ error } = line);
      }, stopping.signal);
      if (error) throw new Error(error);
      progress.value = step + 1;
      show(words, t("trials done", { count: trials }));
    }
  } catch (error) {
    if (error.name !== "AbortError") show(result, fault(error.message));
  }
  stop.remove();
  progress.remove();
}

function source(player, count) {
  return h("p", { class: "source" }, t("rolled by", { player, count }));
}

function playsTable({ plays, player, trials }) {
  const rows = plays.map((one, k) => [playName(one.notation), within(signed(one.equity), one.se.equity),
    k ? within(signed(one.difference), one.difference_se) : "", percent(one.mean.win)]);
  return [table(t("rollout"), [t("play"), t("equity"), t("difference"), t("wins")], rows), source(player, plays[0].trials ?? trials)];
}

function cubeTable(answer) {
  const rows = [["no double", answer.no_double, answer.no_double_se], ["double, take", answer.double_take, answer.double_take_se], ["double, pass", answer.double_pass, 0]]
    .map(([name, equity, se]) => [actionWords(name), within(signed(equity), se)]);
  return [h("p", {}, h("strong", {}, actionWords(answer.action))), table(t("rollout"), [t("action"), t("equity")], rows), source(answer.player, answer.trials)];
}
