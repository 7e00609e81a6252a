// Events since the reader's decision, shown one by one.

import { announce } from "./dom.js";
import { isShown, pause } from "./pace.js";
import { diceOf, playName } from "./plays.js";
import { play as sound } from "./sound.js";
import { t } from "./texts.js";

/** An event as a line of the record; `names(who)` names the players. */
export function lineOf(one, names) {
  const who = names(one.who);
  return one.do === "play" ? `${who} ${one.roll.join("-")}: ${playName(one.play)}` : `${who}: ${t(`did ${one.do}`)}`;
}

function turnedCube(cube, { do: word, who }) {
  switch (word) {
    case "double": case "raccoon": return { ...cube, offered: true };
    case "take": return { value: 2 * cube.value, owner: who, offered: false };
    case "beaver": return { value: 4 * cube.value, owner: who, offered: false };
    default: return cube;
  }
}

/** Shows `events` on a board that showed `before` and perhaps a `cube`; `message(words)` and `seen(board)` follow. */
export async function tell(board, events, { before, cube, names, message, seen = () => {} }) {
  let shown = before;
  let dice = null;
  const draw = (more = {}) => board.show({ board: shown, cube, dice, by: "opponent", ...more });
  const banner = async (words, step = "banner") => {
    message(words);
    if (!isShown()) return;
    board.banner(words);
    await pause(step);
    board.banner();
  };
  for (const [k, one] of events.entries()) {
    const name = names(one.who);
    switch (one.do) {
      case "begin": {
        const [mine, theirs] = one.dice;
        shown = one.board;
        dice = [...diceOf([mine], "me"), ...diceOf([theirs], "opponent")];
        draw();
        sound("dice");
        const words = t("told begin", { opponent: names("opponent"), mine, theirs });
        announce(words);
        await banner(`${words} ${t(mine > theirs ? "you begin" : "opponent begins", { opponent: names("opponent") })}`, "opening");
        break;
      }
      case "roll": {
        const next = events[k + 1];
        dice = diceOf(one.dice, one.who);
        if (one.who === "opponent" || next?.do === "play") {
          draw();
          sound("dice");
          message(t("told roll", { who: name, roll: one.dice.join("-") }));
          await pause("dice");
        }
        break;
      }
      case "play":
        if (one.who === "opponent" || one.forced) {
          dice = diceOf(one.roll, one.who);
          draw();
          const mine = one.who === "me", { length } = one.moves;
          const words = t(!length ? "dances" : mine ? "told forced" : "told play", { who: name, roll: one.roll.join("-"), play: playName(one.play) });
          announce(words);
          if (mine || !length) await banner(words);
          else message(words);
          if (length) {
            if (events[k - 1]?.do === "begin") await pause("dice");
            await board.animate(shown, one.moves, mine);
            await pause("rest");
          }
        }
        break;
      case "undo":
        dice = null;
        break;
      default:
        if (cube) cube = turnedCube(cube, one);
        if (one.do === "double" || one.do === "take") sound("cube");
        draw();
        announce(`${name}: ${t(`did ${one.do}`)}.`);
        if (one.who === "opponent") await banner(one.do === "double" ? t("doubles to", { who: name, cube: 2 * (cube?.value ?? 1) }) : `${name} ${t(`did ${one.do}`)}`);
    }
    shown = one.board;
    seen(shown);
  }
}
