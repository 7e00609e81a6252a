import { known, t } from "./texts.js";

/** The moves [from, to, hit] of a play such as "bar/20*\/14 8/5(2)". */
export function movesOf(play) {
  const place = (word) => (word === "bar" ? 25 : word === "off" ? 0 : Number.parseInt(word, 10));
  return play.split(" ").filter(Boolean).flatMap((part) => {
    const [, chain, count] = /^(.*?)(?:\((\d)\))?$/.exec(part);
    const stops = chain.split("/");
    return Array.from({ length: Number(count ?? 1) }, (_, n) => stops.slice(1).map((end, k) =>
      [place(stops[k]), place(end), end.endsWith("*") && n === 0])).flat();
  });
}

export function playName(play) {
  return play || t("no move");
}

/** `words` in which no roll such as 3-1 breaks across lines. */
export function unbroken(words) {
  return words.replace(/\b([1-6])-(?=[1-6]\b)/g, "$1\u2011");
}

export function capital(words) {
  return words[0].toUpperCase() + words.slice(1);
}

/** A cube action in words; it redoubles if the `right` one does. */
export function actionWords(action, right = action) {
  const named = right.includes("redouble") ? action.replace(/\bdouble/, "redouble") : action;
  return capital(named.split(", ").map((part) => known(`cube ${part}`, part)).join(", "));
}

export function ratingOf(word) {
  return word ? ` (${t("xg rating", { word: t(`rating ${word}`) })})` : "";
}

/** A player's name, apart from what follows if written from right to left. */
export function nameOf(player) {
  return player === "You" ? t("you") : known(`name ${player}`, player.replace(/.*[\u0590-\u08ff].*/, "\u2068$&\u2069"));
}

export function formatOf({ length }) {
  return length ? t("match to", { count: length }) : t("money");
}

/** Format and rules of a game. */
export function rulesOf({ length, cube, crawford, jacoby, beavers }) {
  return [formatOf({ length }), !cube && t("no cube"), crawford && t("crawford"), !length && jacoby && t("jacoby"), beavers && t("beavers")].filter(Boolean).join(", ");
}

export function scoreOf(points, length) {
  return length ? t("score of", { score: points, length }) : t("points", { count: points });
}

/** How a game ended, and the match if it has a `winner`. */
export function resultWords({ result, winner, score }, opponent) {
  if (!result) return "";
  const who = result.winner === "me" ? t("you win") : t("opponent wins", { opponent });
  const how = t(`result ${result.dropped ? "dropped" : result.resigned ? "resigned" : result.kind}`);
  const match = winner ? ` ${t(winner === "me" ? "you win match" : "opponent wins match", { opponent, first: Math.max(...score), second: Math.min(...score) })}` : "";
  return `${who} ${t("points", { count: result.points })} (${how}${result.jacoby ? `; ${t("result jacoby")}` : ""}).${match}`;
}

export function otherOwner(owner) {
  return { me: "opponent", opponent: "me" }[owner] ?? owner;
}

export function diceOf(roll, by) {
  return (roll[0] === roll[1] ? Array(4).fill(roll[0]) : roll).map((value) => ({ value, used: false, by }));
}

export const START = [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0];
export const CENTRED = { value: 1, owner: "centre", offered: false };
