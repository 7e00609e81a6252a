// Starts an analysis: a match file, pasted text, or a saved analysis.

import { Analysis } from "./analysis.js";
import { get } from "./api.js";
import { button, checkbox, fault, field, figure, h, linkTo, said, show, working } from "./dom.js";
import { formatOf, nameOf } from "./plays.js";
import { t } from "./texts.js";
import { keptList, retried, when } from "./view.js";

export async function open(view, rest) {
  if (!rest) return showLanding(view);
  const [name, ...more] = rest.split("/");
  if (name === "game") return new Analysis(view).begin({ game: more[0] });
  const place = h("div", working());
  show(view, place);
  return retried(place, async () => {
    const kept = await get(`analyses/${encodeURIComponent(name)}`);
    show(place);
    new Analysis(view).reopen(kept, more[0] === undefined ? null : Number(more[0]));
  }, (error) => show(place, fault(said(error)), linkTo(t("another match"), "#/analyse")));
}

function base64(bytes) {
  let binary = "";
  for (let k = 0; k < bytes.length; k += 32768) binary += String.fromCharCode(...bytes.subarray(k, k + 32768));
  return btoa(binary);
}

function showLanding(view) {
  const fast = checkbox("fast", t("fast"), false);
  const told = fault();
  const take = (name, bytes) => told.querySelector(".working") || new Analysis(view, told).begin({ name, content: base64(bytes), fast: fast.firstChild.checked });
  const read = (file) => file?.arrayBuffer().then((bytes) => take(file.name, new Uint8Array(bytes)), ({ message }) => show(told, t("fault match", { message })));
  const file = h("input", { type: "file", id: "match-file", onchange: () => {
    read(file.files[0]);
    file.value = "";
  } });
  const pasted = h("textarea", { id: "match-text", rows: 3, spellcheck: "false", autocomplete: "off" });
  const drop = h("section", { class: "drop",
    ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
    ondragleave: () => drop.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); read(event.dataTransfer.files[0]); },
  }, h("p", t("drop words")), field(t("match file"), file), field(t("match text"), pasted),
  button(t("view analyse"), () => pasted.value.trim() && take(t("pasted"), new TextEncoder().encode(pasted.value)), { id: "analyse-text" }), fast);
  const kept = h("section");
  show(view, h("div", { class: "text" }, h("h1", t("analyse head")), told, drop, kept));
  retried(kept, async () => {
    const { analyses } = await get("analyses");
    show(kept, h("h2", t("kept analyses")), analyses.length ? analysisList(analyses) : h("p", t("no analyses")));
  });
}

export function titleOf({ match, number }) {
  return `${match.names.map(nameOf).join(" – ")}, ${formatOf(match)}${number ? `, ${t("game number", { number })}` : ""}`;
}

export function analysisList(analyses) {
  return keptList(analyses.map((one) => {
    const own = one.players && one.seat !== null ? one.players[one.seat] : null;
    const more = [` ${when(one.made)}`, own?.pr && `PR ${figure(own.pr, 1)}`, !one.players && t("unfinished")].filter(Boolean).join(" · ");
    return { href: `#/analyse/${one.analysis}`, path: `analyses/${one.analysis}`, words: titleOf(one), more };
  }));
}
