// Any position: pasted as an ID or placed by hand, judged, and given away as an ID, a link or a picture.

import { movesOf, showCube, showHint } from "./advice.js";
import { post, text } from "./api.js";
import { BAR, Board, moved, OFF, offCounts, OPPONENT_BAR, pipCounts, turned } from "./board.js";
import { say } from "./dialog.js";
import { announce, h, saveAs, show } from "./dom.js";
import { useKeys } from "./keys.js";
import { foundId } from "./pasted.js";
import { rolloutButton } from "./rollout.js";
import { t } from "./texts.js";

const START = "4HPwATDgc/ABMA";
const RETRY = 1500;

export async function showSetup(view, id) {
  const setup = new Setup(view);
  await setup.read(id || START, Boolean(id));
  return setup;
}

class Setup {
  constructor(view) {
    this.placing = "mine";
    this.board = new Board({ pressed: (place, event) => this.pressed(place, event) });
    this.board.drawing.addEventListener("contextmenu", (event) => {
      const place = event.target.dataset?.place;
      if (place === undefined) return;
      event.preventDefault();
      this.change(Number(place), -1);
    });
    this.id = h("textarea", { id: "id", rows: 1, autocomplete: "off", spellcheck: "false", "aria-describedby": "id-fault", onkeydown: (event) => {
      if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); this.paste(); }
    }, onpaste: () => setTimeout(() => this.paste(), 0) });
    this.fault = h("p", { class: "fault", id: "id-fault", role: "alert" });
    this.boardFault = h("p", { class: "fault", role: "alert" });
    this.matchFault = h("p", { class: "fault", role: "alert", id: "match-fault" });
    this.counts = h("p", { class: "message", "aria-live": "polite" });
    this.ids = h("dl", { class: "ids" });
    this.advice = h("div", { class: "advice", "aria-live": "polite" });
    this.hintButton = h("button", { type: "button", class: "primary", id: "setup-hint", "aria-describedby": "hint-needs", onclick: () => this.hint() }, t("hint"));
    this.needs = h("small", { id: "hint-needs" });
    this.rolled = h("div", { class: "rolled", "aria-live": "polite" });
    this.rollOut = rolloutButton(this.rolled, () => ({ id: this.place.id }), false);
    this.playHere = h("a", { class: "button", id: "play-here", href: "#/from" }, t("play from here"));
    this.cubeButton = h("button", { type: "button", id: "setup-cube", onclick: () => showCube(this.advice, { id: this.place.id }) }, t("cube advice"));
    const radio = (key) => h("label", { class: "check" }, h("input", { type: "radio", name: "placing", value: key, checked: key === this.placing, onchange: () => { this.placing = key; } }), t(`place ${key}`));
    const number = (name, most) => h("input", { type: "number", min: 0, max: most, id: `set-${name}`, value: 0, onchange: () => this.fields() });
    const choice = (name, values) => h("select", { id: `set-${name}`, onchange: () => this.fields() }, values.map(([value, word]) => h("option", { value }, word)));
    const dice = [["", t("no roll")], ...[1, 2, 3, 4, 5, 6].flatMap((high) => Array.from({ length: high }, (_, k) => [`${high}${k + 1}`, `${high}-${k + 1}`]))];
    this.controls = {
      dice: choice("dice", dice), length: number("length", 64), own: number("own", 63), other: number("other", 63),
      cube: choice("cube", [1, 2, 4, 8, 16, 32, 64].map((one) => [one, one])),
      owner: choice("owner", [["centre", t("owner centre")], ["me", t("owner me")], ["opponent", t("owner opponent")]]),
      crawford: h("input", { type: "checkbox", id: "set-crawford", onchange: () => this.fields() }),
      jacoby: h("input", { type: "checkbox", id: "set-jacoby", onchange: () => this.fields() }),
    };
    const field = (name) => h("label", { class: "field" }, h("span", {}, t(`set ${name}`)), this.controls[name]);
    const check = (key, name) => h("label", { class: "check" }, this.controls[name], t(key));
    const fill = (key, board) => h("button", { type: "button", onclick: () => this.put(board) }, t(key));
    show(view, h("h1", { class: "unseen" }, t("setup head")),
      h("div", { class: "game setup" },
        h("section", { class: "table", "aria-label": t("board") }, this.board.element, this.counts, this.boardFault,
          h("fieldset", { class: "placing" }, h("legend", {}, t("placing")), radio("mine"), radio("theirs"), radio("none")),
          h("div", { class: "buttons" }, fill("start position", null), fill("clear board", new Array(26).fill(0)),
            h("button", { type: "button", onclick: () => this.put(turned(this.shown)) }, t("other side")))),
        h("div", { class: "panel", tabindex: 0, role: "region", "aria-label": t("advice and ids") },
          h("section", {}, h("form", { class: "id-form", onsubmit: (event) => { event.preventDefault(); this.paste(); } },
            h("label", { class: "field" }, h("span", {}, t("paste id")), this.id), h("button", { class: "primary", id: "show-id" }, t("show"))), this.fault),
          h("section", {}, h("h2", {}, t("match and cube")), h("div", { class: "match-fields" },
            ["dice", "length", "own", "other", "cube", "owner"].map(field), check("crawford", "crawford"), check("jacoby rule", "jacoby")), this.matchFault),
          h("section", {}, h("h2", {}, t("advice")), h("div", { class: "buttons" }, this.hintButton, this.cubeButton, this.rollOut, this.playHere), this.needs, this.rolled, this.advice),
          h("section", {}, h("h2", {}, t("give away")), this.ids))));
    useKeys((key) => {
      if (key === "h" && !this.hintButton.disabled) this.hint();
      else if (key === "c" && !this.cubeButton.disabled) this.cubeButton.click();
      else return false;
      return true;
    });
    this.view = view;
  }

  /** Shows what was pasted: an ID, or a text with one in it. */
  paste() {
    return this.read(foundId(this.id.value), true);
  }

  /** Shows the position with an ID; asks again while the server is away. */
  async read(id, inAddress) {
    try {
      this.accept(await post("/api/v1/position", { id }));
      if (inAddress) this.address();
    } catch (error) {
      show(this.fault, error.message);
      if (error.status === 0) setTimeout(() => this.fault.isConnected && this.read(id, inAddress), RETRY);
      else if (!this.place && id !== START) await this.read(START, false).then(() => show(this.fault, error.message));
    }
  }

  accept(place) {
    this.place = place;
    this.shown = place.board;
    for (const one of [this.fault, this.boardFault, this.matchFault, this.advice, this.rolled]) show(one);
    const { controls } = this;
    controls.dice.value = place.dice ? place.dice.join("") : "";
    controls.length.value = place.length;
    controls.own.value = place.score[0];
    controls.other.value = place.score[1];
    controls.cube.value = place.cube;
    controls.owner.value = place.owner;
    controls.crawford.checked = place.crawford;
    controls.jacoby.checked = place.jacoby;
    this.fit();
    this.draw();
    this.hintButton.disabled = !place.dice || place.over;
    this.cubeButton.disabled = this.rollOut.disabled = place.over;
    show(this.needs, place.over ? t("needs game") : place.dice ? "" : t("needs roll"));
    this.rollOut.replaceWith(this.rollOut = rolloutButton(this.rolled, () => ({ id: place.id }), Boolean(place.dice)));
    this.playHere.href = `#/from/${encodeURIComponent(place.xgid)}`;
    this.showIds();
  }

  fit() {
    const inMatch = Number(this.controls.length.value) > 0;
    for (const name of ["own", "other", "crawford"]) this.controls[name].closest("label").hidden = !inMatch;
    this.controls.jacoby.closest("label").hidden = inMatch;
  }

  draw(more = {}) {
    const dice = this.place?.dice ?? null;
    this.board.show({
      board: this.shown, bothBars: true, cube: { value: Number(this.controls.cube.value), owner: this.controls.owner.value, offered: this.place?.doubled },
      dice: dice && (dice[0] === dice[1] ? Array(4).fill(dice[0]) : dice).map((value) => ({ value, used: false })), by: "me", ...more,
    });
    const [mine, theirs] = pipCounts(this.shown), [off, gone] = offCounts(this.shown);
    show(this.counts, t("setup counts", { mine, theirs, off, gone }));
  }

  pressed(place, event) {
    const back = event.shiftKey || event.key === "Delete" || event.key === "Backspace";
    this.change(place, back || this.placing === "none" ? -1 : 1);
  }

  /** One checker more, or one less, of whoever is being placed. */
  change(place, by) {
    if (place === OFF) return;
    const index = place === OPPONENT_BAR ? 0 : place;
    const board = [...this.shown];
    const mine = place === BAR || (place !== OPPONENT_BAR && this.placing !== "theirs");
    if (by < 0) {
      board[index] -= Math.sign(board[index]);
    } else {
      const [off, gone] = offCounts(board);
      const sign = mine ? 1 : -1;
      if (Math.sign(board[index]) === -sign) board[index] = 0;
      if ((mine ? off : gone) < 1) return;
      board[index] += sign;
    }
    this.put(board);
  }

  /** Shows a board that was placed by hand; null is the start of a game. */
  async put(board) {
    if (board === null) return this.read(START, true);
    this.shown = board;
    this.draw();
    return this.fields();
  }

  /** Asks for the IDs of what is shown, and says what is wrong with it. */
  async fields() {
    const { controls } = this;
    this.fit();
    const length = Number(controls.length.value);
    const asked = { board: this.shown, length, cube: Number(controls.cube.value), owner: { centre: "none", me: "me", opponent: "you" }[controls.owner.value] };
    if (controls.dice.value) asked.dice = controls.dice.value;
    if (length) Object.assign(asked, { score: [Number(controls.own.value), Number(controls.other.value)], crawford: controls.crawford.checked });
    else asked.jacoby = controls.jacoby.checked;
    const number = (this.asked = (this.asked ?? 0) + 1);
    for (const one of [this.fault, this.boardFault, this.matchFault]) show(one);
    const most = Math.max(Number(controls.own.value), Number(controls.other.value));
    if (length && most >= length) return show(this.matchFault, t("score fault", { points: most, length }));
    try {
      const place = await post("/api/v1/position", asked);
      if (number !== this.asked) return;
      this.accept(place);
      this.address();
    } catch (error) {
      if (number !== this.asked) return;
      this.complain(error);
      this.hintButton.disabled = this.cubeButton.disabled = this.rollOut.disabled = true;
      show(this.ids);
      show(this.advice);
    }
  }

  /** Says what is wrong beside what it is about. */
  complain(error) {
    if (error.status === 0) {
      show(this.fault, error.message);
      setTimeout(() => this.fault.isConnected && this.fields(), RETRY);
    } else if (/checker|players|board|bar|point \d|off/i.test(error.message)) show(this.boardFault, error.message);
    else show(this.matchFault, error.message);
  }

  address() {
    history.replaceState(null, "", `#/position/${encodeURIComponent(this.place.xgid)}`);
  }

  showIds() {
    const { place } = this;
    const rows = [["GNUbg ID", place.id], ["XGID", place.xgid], ...(place.ogid ? [["OGID", place.ogid]] : []), [t("link"), location.href.split("#")[0] + `#/position/${encodeURIComponent(place.xgid)}`]];
    const copy = (name, value) => h("button", { type: "button", class: "small", "aria-label": t("copy this", { name }), onclick: async (event) => {
      try {
        await navigator.clipboard.writeText(value);
        announce(t("copied", { name }));
        event.target.textContent = t("copied short");
        setTimeout(() => { event.target.textContent = t("copy"); }, 2000);
      } catch {
        // A page of another machine may not write there.
        getSelection().selectAllChildren(event.target.parentNode.querySelector("code"));
        announce(t("selected", { name }));
      }
    } }, t("copy"));
    const tried = (work) => work().catch((error) => say(error.message));
    const svg = () => text(`/api/v1/diagram?id=${encodeURIComponent(place.xgid)}`);
    show(this.ids, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, h("code", {}, value), copy(name, value))]),
      h("dt", {}, t("picture")), h("dd", { class: "buttons" },
        h("button", { type: "button", class: "small", id: "save-svg", onclick: () => tried(async () => saveAs("position.svg", await svg(), "image/svg+xml")) }, "SVG"),
        h("button", { type: "button", class: "small", id: "save-png", onclick: () => tried(async () => savePng(await svg())) }, "PNG")));
    this.id.value = place.xgid;
  }

  hint() {
    const { place } = this;
    return showHint(this.advice, { id: place.id }, {
      point: (one) => this.draw(one ? { arrows: [{ moves: movesOf(one.notation), board: this.shown }] } : {}),
      pick: (one) => this.draw({ board: movesOf(one.notation).reduce((board, [start, end]) => moved(board, start, end), this.shown), dice: null }),
    });
  }
}

async function savePng(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = h("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  canvas.toBlob((blob) => saveAs("position.png", blob, "image/png"));
}
