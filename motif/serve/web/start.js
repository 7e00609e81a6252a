// The page before a game: a board, and games to resume.

import { get, post } from "./api.js";
import { Board } from "./board.js";
import { button, fault, h, said, section, show, working } from "./dom.js";
import { useKeys } from "./keys.js";
import { CENTRED, formatOf, nameOf, START } from "./plays.js";
import { stored } from "./preferences.js";
import { t } from "./texts.js";
import { deleted, frame, keptList, once, player, retried, when } from "./view.js";
import { leave, still } from "./visit.js";

const LAST = "motif-game", WISHES = "motif-wishes";
const SHOWN = 6;

export async function open(view, name) {
  const wanted = name || localStorage.getItem(LAST);
  if (!wanted) return showStart(view);
  show(view, working());
  return retried(view, async () => {
    const state = await get(`games/${encodeURIComponent(wanted)}`), { Game } = await still(import("./play.js"));
    if (!name) history.replaceState(null, "", `#/play/${wanted}`);
    return new Game(view, state).start();
  }, (error) => {
    if (localStorage.getItem(LAST) === wanted) localStorage.removeItem(LAST);
    return showStart(view, name || error.status !== 404 ? said(error) : "");
  });
}

export async function openGame(state) {
  leave();
  localStorage.setItem(LAST, state.game);
  history.pushState(null, "", `#/play/${state.game}`);
  return new (await still(import("./play.js"))).Game(document.getElementById("view"), state).start(state.events);
}

export function wishes() {
  return stored(WISHES, { opponent: "latest", length: 0, cube: true, jacoby: true, beavers: false });
}

export async function begin({ seed, ...wish }) {
  localStorage.setItem(WISHES, JSON.stringify(wish));
  const cube = wish.length > 0 || wish.cube, rule = (key) => !wish.length && cube && wish[key];
  await openGame(await post("games", { ...wish, cube, jacoby: rule("jacoby"), beavers: rule("beavers"), ...(seed ? { seed: Number(seed) } : {}) }));
}

export async function newGame() {
  (await import("./newgame.js")).showNewGame();
}

function showStart(view, message = "") {
  history.replaceState(null, "", "#/start"); // where Back from a game leads
  const wish = wishes();
  const board = new Board();
  board.show({ board: START, cube: CENTRED });
  const told = fault(message);
  const first = button(t("begin"), () => once(first, told, () => begin(wish)), { primary: true, id: "start" });
  const kept = h("div");
  const { otherBar, ownBar, actions, panel, table } = frame(view, t("view play"), board, "", t("kept games"));
  table.parentNode.classList.add("ready");
  player(otherBar, false, nameOf(wish.opponent), { score: formatOf(wish) });
  player(ownBar, true, t("you"));
  show(actions, first, button(t("other game"), newGame, { id: "new-game" }));
  show(panel, h("section", h("h2", { class: "lead" }, t("start head")), h("p", t("start words")), told), kept);
  useKeys((key) => {
    if (key === "Enter" || key === " ") first.click();
    else if (key === "n") newGame();
    else return false;
    return true;
  });
  retried(kept, async () => {
    const { games } = await get("games");
    if (told.textContent === t("fault away")) show(told);
    const open = games.filter((one) => one.asks !== "nothing" && !deleted.has(`games/${one.game}`)).slice(0, SHOWN);
    show(kept, open.length > 0 && section(t("kept games"), gameList(open)));
  });
  import("./play.js").catch(() => {}); // needed soon
}

export function gameList(games) {
  return keptList(games.map((one) => ({
    href: `#/play/${one.game}`, path: `games/${one.game}`,
    words: `${nameOf(one.opponent)}, ${formatOf(one)}, ${one.score.join("–")}`,
    more: ` ${when(one.changed)}${one.asks === "nothing" ? ` · ${t("over")}` : ""}`,
  })));
}
