// How a game ended: score, errors and luck, and what can be done next.

import { stream } from "./api.js";
import { figure, h, show, signed } from "./dom.js";
import { t } from "./texts.js";

export function resultWords({ result, winner, score }, opponent) {
  if (!result) return "";
  const who = result.winner === "me" ? t("you win") : t("opponent wins", { opponent });
  const how = result.dropped ? t("result dropped") : result.resigned ? t("result resigned") : t(`result ${result.kind}`);
  const match = winner ? ` ${t(winner === "me" ? "you win match" : "opponent wins match", { opponent, first: Math.max(...score), second: Math.min(...score) })}` : "";
  return `${who} ${t("result points", { count: result.points })} (${how}${result.jacoby ? `; ${t("result jacoby")}` : ""}).${match}`;
}

export class ResultCard {
  constructor(game) {
    this.game = game;
    /** Analyses of single games by their numbers, so that each is judged once. */
    this.known = new Map();
  }

  /** The card of the game that has just ended; its errors follow when they are found. */
  show(place) {
    const { game } = this;
    const { state } = game;
    const figures = h("div", { class: "result-figures", role: "status" }, h("p", { class: "working" }, t("finding errors")));
    const score = state.rules.length ? `${state.score[0]}\u2013${state.score[1]} (${t("match to", { count: state.rules.length })})` : `${state.score[0]}\u2013${state.score[1]}`;
    show(place, h("section", { class: `result-card ${state.result.winner}` },
      h("h2", {}, t(state.winner ? "match over" : "game over")), h("p", {}, h("strong", {}, t("score shown", { score }))), figures,
      h("div", { class: "buttons" },
        game.button(t(state.asks === "next" ? "next game" : "new game"), () => (state.asks === "next" ? game.decide("next") : game.begin()), { primary: true, id: "card-next" }),
        game.button(t("analyse this"), () => game.analyse()))));
    game.panel.scrollTop = 0;
    this.judge(figures, state);
  }

  async judge(place, state) {
    const key = `${state.game}/${state.number}`;
    if (!this.known.has(key)) this.known.set(key, this.found(state));
    try {
      const { analysis, players, errors } = await this.known.get(key);
      if (!place.isConnected) return;
      const own = players[state.seat];
      const lost = figure(own.chequer.total + own.cube.total, 3);
      show(place,
        h("p", {}, t("card errors", { count: errors, lost }), " ", own.pr === null ? "" : `PR ${figure(own.pr, 1)}.`),
        h("p", {}, t("card luck", { luck: signed(own.luck.total, 2) })),
        h("div", { class: "buttons" },
          errors > 0 && h("a", { class: "button", id: "try-again", href: `#/learn/analysis/${analysis}` }, t("try again", { count: errors })),
          h("a", { class: "button", href: `#/analyse/${analysis}` }, t("show errors of game"))));
    } catch (error) {
      this.known.delete(key);
      if (place.isConnected) show(place, h("p", { class: "source" }, error.message));
    }
  }

  async found(state) {
    const found = { errors: 0 };
    await stream("/api/v1/review", { game: state.game, number: state.number, keep: true }, (line) => {
      if (line.match) found.analysis = line.match.analysis;
      else if (line.decisions) found.errors += line.decisions.filter((one) => one.counts && one.decider === state.seat && one.error >= 20).length;
      else if (line.players) found.players = line.players;
      else if (line.message) throw new Error(line.message);
    });
    return found;
  }
}
