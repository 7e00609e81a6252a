// The result of a game: score, errors and luck.

import { Problem, stream } from "./api.js";
import { buttons, figure, h, linkTo, show, signed, working } from "./dom.js";
import { formatOf } from "./plays.js";
import { t } from "./texts.js";
import { retried } from "./view.js";

/** How many errors are tried again: of 20 millipoints, above three standard errors. */
export function errorCount(decisions, seat) {
  return decisions.filter((one) => one.counts && one.decider === seat && one.error >= 20 && one.error > 3 * (one.error_se ?? 0)).length;
}

export function showResult(game, place) {
  const { state } = game;
  const figures = h("div", { class: "result-figures", role: "status" }, working(t("finding errors")));
  const score = ["me", "opponent"].map((who, k) => `${game.nameOf(who)} ${state.score[k]}`).join(", ");
  show(place, h("section", { class: "result-card" },
    h("h2", t(state.winner ? "match over" : "game over")), h("p", h("strong", t("score shown", { score })), state.rules.length > 0 && ` · ${formatOf(state.rules)}`), figures));
  return retried(figures, async () => {
    const { analysis, players, errors } = await judged(state);
    const own = players[state.seat];
    const lost = figure(own.chequer.total + own.cube.total, 3);
    show(figures,
      h("p", t("card errors", { count: errors, lost }), own.pr === null ? "" : ` PR ${figure(own.pr, 1)}.`),
      h("p", t("card luck", { luck: signed(own.luck.total, 2) })),
      buttons(errors > 0 && linkTo(t("try again", { count: errors }), `#/learn/analysis/${analysis}`, { id: "try-again" }),
        linkTo(t("show analysis"), `#/analyse/${analysis}`)));
  });
}

async function judged(state) {
  const found = { errors: 0 };
  await stream("review", { game: state.game, number: state.number, keep: true }, (line) => {
    if (line.match) found.analysis = line.match.analysis;
    else if (line.decisions) found.errors += errorCount(line.decisions, state.seat);
    else if (line.players) found.players = line.players;
    else if (line.message) throw new Problem(line.message);
  });
  return found;
}
