import { costWords, showWhy } from "./advice.js";
import { announce, button, buttons, h, live, plain, pointed, show, signed } from "./dom.js";
import { actionWords, playName } from "./plays.js";
import { t } from "./texts.js";

export function objected(game, { plays, better, cost, se, known }, { anyway, again }) {
  const why = live("why");
  const words = t("tutor says", { cost: costWords(cost, (known ?? plays[0]).source, se), better: plays ? playName(better) : actionWords(better) });
  const row = (one) => h("li", pointed((pointedAt) => game.point(pointedAt), one),
    plain(playName(one.notation), () => game.mover.pick(one.notation)), h("small", ` ${t("equity")} `), signed(one.equity));
  const about = { id: game.state.id, dice: game.state.roll };
  const explain = () => (plays ? showWhy(why, about, ...plays, se) : game.cubeAdvice(why, known));
  show(game.sheet, h("h2", t("tutor head")), h("p", words), plays && h("ul", { class: "two-plays" }, plays.map(row)),
    buttons(button(t("think again"), again, { primary: true, id: "think-again" }), button(t("anyway"), anyway, { id: "anyway" }), button(t("why"), explain, { id: "tutor-why" })), why);
  game.panel.scrollTop = 0;
  game.sheet.focus({ preventScroll: true });
  announce(words);
}
