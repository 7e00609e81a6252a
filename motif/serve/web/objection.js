// The tutor's objection to what is about to be decided, with both plays, and why.

import { actionWords, playName, showCube, showWhy } from "./advice.js";
import { announce, figure, h, show, signed } from "./dom.js";
import { t } from "./texts.js";

export function objected(game, objection, { anyway, again }) {
  const why = h("div", { class: "why", "aria-live": "polite" });
  const better = objection.plays ? playName(objection.better) : actionWords(objection.better);
  const words = t("tutor says", { cost: figure(objection.cost, 3), better });
  const showing = (one) => ({
    onpointerenter: () => game.point(one), onpointerleave: () => game.point(null),
    onfocus: () => game.point(one), onblur: () => game.point(null),
  });
  const rows = objection.plays?.map((one) => h("li", {}, h("button", { type: "button", class: "plain play", ...showing(one) }, playName(one.notation)), ` ${signed(one.equity)}`));
  const about = { id: game.state.id, dice: game.state.roll };
  const tell = () => (objection.plays ? showWhy(why, about, objection.plays[0].notation, objection.plays[1].notation) : showCube(why, about));
  show(game.sheet,
    h("h2", {}, t("tutor head")), h("p", {}, words), rows && h("ul", { class: "two-plays" }, rows),
    h("div", { class: "buttons" },
      game.button(t("think again"), again, { primary: true, id: "think-again" }), game.button(t("anyway"), anyway, { id: "anyway" }),
      game.button(t("why"), tell, { id: "tutor-why" })), why);
  game.panel.scrollTop = 0;
  game.sheet.focus({ preventScroll: true });
  announce(words);
}
