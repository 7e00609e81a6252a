// Elements, numbers, and words for screen readers.

import { language, t } from "./texts.js";

const SVG = "http://www.w3.org/2000/svg", EMPTY = [null, undefined, false];

/** Fills `node` with optional attributes, and children. */
function filled(node, [first, ...rest]) {
  const hasAttributes = first?.constructor === Object, children = hasAttributes ? rest : [first, ...rest];
  for (const [name, value] of Object.entries(hasAttributes ? first : {})) {
    if (EMPTY.includes(value)) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (["value", "checked", "selected"].includes(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => !EMPTY.includes(child)));
  return node;
}

export function h(name, ...parts) {
  return filled(document.createElement(name), parts);
}

export function s(name, ...parts) {
  return filled(document.createElementNS(SVG, name), parts);
}

export function show(place, ...children) {
  place.replaceChildren(...children.flat(3).filter(Boolean));
}

export function button(words, act, { id, key, primary = false, small = false, ...more } = {}) {
  const kind = primary ? "primary" : small ? "small" : null;
  return h("button", { type: "button", id, class: kind, title: key && t("key", { key }), onclick: act, ...more }, words);
}

export function plain(words, act, more) {
  return button(words, act, { class: "plain play", ...more });
}

/** Whether a mouse points or keys focus: a finger only presses. */
export function isHover({ pointerType, target }) {
  return pointerType ? pointerType === "mouse" : target.matches(":focus-visible");
}

/** Attributes that call `act(one)` when pointed at or focused, then `act(null)`. */
export function pointed(act, one) {
  const off = () => act(null);
  return { onpointerenter: (event) => isHover(event) && act(one), onpointerleave: off, onfocusin: (event) => isHover(event) && act(one), onfocusout: off };
}

export function linkTo(words, href, more) {
  return h("a", { class: "button", href, ...more }, words);
}

export function positionLink(id) {
  return linkTo(t("open position"), `#/position/${encodeURIComponent(id)}`);
}

export function buttons(...children) {
  return h("div", { class: "buttons" }, ...children);
}

export function field(name, control, ...more) {
  return h("label", { class: "field" }, h("span", name), control, ...more);
}

export function choice(id, options, chosen, act) {
  return h("select", { id, onchange: (event) => act?.(event.target.value) },
    options.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));
}

export function checkbox(id, words, checked, act) {
  return h("label", { class: "check" }, h("input", { type: "checkbox", id, checked, onchange: (event) => act?.(event.target.checked) }), words);
}

export function section(title, ...children) {
  return h("section", h("h2", title), ...children);
}

export function source(...words) {
  return h("p", { class: "source" }, ...words);
}

export function radio(name, value, checked, act, ...words) {
  return h("label", { class: "check" }, h("input", { type: "radio", name, value, checked, onchange: act }), ...words);
}

export function fault(words = "", more) {
  return h("p", { class: "fault", role: "alert", ...more }, words);
}

/** The words of an error; the server's reason is English. */
export function said({ message, reason }) {
  return [message, reason && language !== "en" && h("details", h("summary", t("reason")), h("span", { lang: "en" }, reason))];
}

export function working(words = t("thinking")) {
  return h("p", { class: "working", role: "status" }, words);
}

export function styled(name, style) {
  const piece = h("span", { class: name });
  Object.assign(piece.style, style);
  return piece;
}

export function live(name) {
  return h("div", { class: name, "aria-live": "polite" });
}

/** Scrolls the panel to `place`. */
export function reveal(place) {
  place.scrollIntoView({ block: place.clientHeight > place.closest(".panel")?.clientHeight ? "start" : "nearest" });
}

let last = "";

/** Says a sentence to screen readers, even twice. */
export function announce(text) {
  const announcer = document.getElementById("announcer");
  announcer.textContent = text === last ? `${text}\u00a0` : text;
  last = announcer.textContent;
}

export function figure(value, digits) {
  return value.toFixed(digits).replace(".", t("decimal point"));
}

export function signed(value, digits = 3) {
  const isNegative = value < 0 && Number(value.toFixed(digits)) !== 0;
  return (isNegative ? "−" : "+") + figure(Math.abs(value), digits);
}

export function gap(value) {
  return value ? signed(value) : "";
}

export function within(words, se) {
  return se ? `${words} ±\u00a0${figure(se, 3)}` : words;
}

export function percent(share, digits = 1) {
  return `${figure(100 * share, digits)}\u00a0%`;
}

export function wide(name, content) {
  return h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": name }, content);
}

/** A table; rows are lists of cells, or {cells, ...attributes}. */
export function table(caption, head, rows, attributes = {}) {
  const cell = (one, name, more) => (["TD", "TH"].includes(one?.tagName) ? one : h(name, more, one));
  return wide(caption, h("table", attributes,
    h("caption", { class: "unseen" }, caption),
    head && h("thead", h("tr", head.map((one) => (one ? h("th", { scope: "col" }, one) : h("td"))))),
    h("tbody", rows.map((row) => {
      const { cells, ...more } = Array.isArray(row) ? { cells: row } : row;
      return h("tr", more, cells.map((one, k) => (k ? cell(one, "td", {}) : cell(one, "th", { scope: "row" }))));
    }))));
}

export function saveAs(name, content, type = "text/plain") {
  const link = h("a", { download: name, href: URL.createObjectURL(new Blob([content], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
