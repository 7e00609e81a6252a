// Matches that are analysed: a file that is dropped, games of this page, and the analyses that are kept.

import { Analysis } from "./analysis.js";
import { get, post, remove } from "./api.js";
import { say, undoable } from "./dialog.js";
import { figure, h, show } from "./dom.js";
import { nameOf, retried, when } from "./start.js";
import { t } from "./texts.js";

export async function showAnalyse(view, rest) {
  if (!rest) return showLanding(view);
  const [name, ...more] = rest.split("/");
  if (name === "game") return new Analysis(view).begin({ game: more[0] });
  const place = h("div");
  show(view, place);
  show(place, h("p", { class: "working" }, t("thinking")));
  return retried(place, async () => {
    const kept = await get(`/api/v1/analyses/${encodeURIComponent(name)}`);
    new Analysis(view).reopen(kept, more[0] === undefined ? null : Number(more[0]));
  });
}

function base64(bytes) {
  let binary = "";
  for (let k = 0; k < bytes.length; k += 32768) binary += String.fromCharCode(...bytes.subarray(k, k + 32768));
  return btoa(binary);
}

async function showLanding(view) {
  const fast = h("input", { type: "checkbox", id: "fast" });
  const fault = h("p", { class: "fault", role: "alert" });
  const take = async (file) => {
    const content = base64(new Uint8Array(await file.arrayBuffer()));
    new Analysis(view, fault).begin({ name: file.name, content, fast: fast.checked });
  };
  const file = h("input", { type: "file", id: "match-file", onchange: () => file.files[0] && take(file.files[0]) });
  const drop = h("section", { class: "drop",
    ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
    ondragleave: () => drop.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); const [one] = event.dataTransfer.files; if (one) take(one); },
  }, h("p", {}, t("drop words")), h("label", { class: "field" }, h("span", {}, t("match file")), file), h("label", { class: "check center" }, fast, t("fast")));
  const kept = h("section", {});
  show(view, h("div", { class: "text" }, h("h1", {}, t("analyse head")), fault, drop, kept));
  await retried(kept, async () => {
    const { analyses } = await get("/api/v1/analyses");
    show(kept, h("h2", {}, t("kept analyses")), analyses.length ? analysisList(analyses) : h("p", {}, t("no analyses")));
  });
}

/** What an analysis is called: both players, and the format. */
export function titleOf({ match, number }) {
  const [first, second] = match.names.map((name) => (name === "You" ? t("you") : nameOf(name)));
  const format = match.length ? t("match to", { count: match.length }) : t("money");
  return `${first} \u2013 ${second}, ${format}${number ? `, ${t("game number", { number })}` : ""}`;
}

/** Kept analyses as a list, each with its time, the reader's rating, and a way to delete it. */
export function analysisList(analyses) {
  return h("ul", { class: "kept" }, analyses.map((one) => {
    const own = one.players && one.seat !== null ? one.players[one.seat] : null;
    const line = h("li", {},
      h("a", { href: `#/analyse/${one.analysis}` }, titleOf(one), h("small", {}, when(one.made), own?.pr ? ` \u00b7 PR ${figure(own.pr, 1)}` : "", one.players ? "" : ` \u00b7 ${t("unfinished")}`)),
      h("button", { type: "button", class: "small", "aria-label": t("delete analysis", { name: titleOf(one) }), onclick: () => {
        line.hidden = true;
        undoable(t("analysis deleted"), () => remove(`/api/v1/analyses/${one.analysis}`).catch((error) => say(error.message)), () => { line.hidden = false; });
      } }, t("delete")));
    return line;
  }));
}

export function takeSeat(analysis, seat) {
  return post(`/api/v1/analyses/${analysis}`, { seat });
}
