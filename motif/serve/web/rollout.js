// A rollout on demand: of the plays of a roll, or of the cube decision, both sides doubling; with its progress.

import { actionWords, playName } from "./advice.js";
import { remove, stream } from "./api.js";
import { figure, h, percent, show, signed, table } from "./dom.js";
import { t } from "./texts.js";

/** More and more trials, so that something is there soon. */
const STEPS = [36, 144, 576, 1296];

/** A button that rolls out what `about()` gives into `place`; `isPlay` says whether a roll is to be played. */
export function rolloutButton(place, about, isPlay) {
  return h("button", { type: "button", class: "roll-out", onclick: () => rollOut(place, about(), isPlay) }, t("roll it out"));
}

export async function rollOut(place, about, isPlay) {
  let job = null, stopped = false;
  const progress = h("progress", { max: STEPS.length, value: 0, "aria-label": t("roll it out") });
  const words = h("span", {}, t("trials done", { count: 0 }));
  const result = h("div", {});
  const stopping = new AbortController();
  const stop = h("button", { type: "button", class: "small", onclick: () => {
    stopped = true;
    if (job) remove(`/api/v1/jobs/${job}`).catch(() => {});
    stopping.abort();
  } }, t("stop"));
  const bar = h("div", { class: "analysing", role: "status" }, progress, words, stop);
  show(place, h("h3", {}, t("rollout")), bar, result);
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
    if (error.name !== "AbortError") show(result, h("p", { class: "fault", role: "alert" }, error.message));
  }
  stop.remove();
  progress.remove();
}

function playsTable({ plays, player, trials }) {
  const rows = plays.map((one, k) => [playName(one.notation), `${signed(one.equity)} \u00b1 ${figure(one.se.equity, 3)}`,
    k ? `${signed(one.difference)} \u00b1 ${figure(one.difference_se, 3)}` : "", percent(one.mean.win)]);
  return [table(t("rollout"), [t("play"), t("equity"), t("difference"), t("wins")], rows), h("p", { class: "source" }, t("rolled by", { player, count: plays[0].trials ?? trials }))];
}

function cubeTable(answer) {
  const rows = [["no double", answer.no_double, answer.no_double_se], ["double, take", answer.double_take, answer.double_take_se], ["double, pass", answer.double_pass, 0]]
    .map(([name, equity, se]) => [actionWords(name), `${signed(equity)}${se ? ` \u00b1 ${figure(se, 3)}` : ""}`]);
  return [h("p", {}, h("strong", {}, actionWords(answer.action))), table(t("rollout"), [t("action"), t("equity")], rows),
    h("p", { class: "source" }, t("rolled by", { player: answer.player, count: answer.trials }))];
}
