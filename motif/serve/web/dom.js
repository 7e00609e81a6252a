// Elements of the page, made in one call; and what is said to screen readers.

import { t } from "./texts.js";

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An HTML element: h("p", {class: "x"}, "text", ...). */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function s(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

export function show(place, ...children) {
  place.replaceChildren(...children.flat(3).filter(Boolean));
}

let last = "";

/** Says a sentence to whoever listens to the page; the same one twice is said twice. */
export function announce(text) {
  const announcer = document.getElementById("announcer");
  announcer.textContent = text === last ? `${text}\u00a0` : text;
  last = announcer.textContent;
}

/** A number as the reader's language writes it. */
export function figure(value, digits) {
  return value.toFixed(digits).replace(".", t("decimal point"));
}

export function signed(value, digits = 3) {
  const isNegative = value < 0 && Number(value.toFixed(digits)) !== 0;
  return (isNegative ? "\u2212" : "+") + figure(Math.abs(value), digits);
}

export function percent(share, digits = 1) {
  return `${figure(100 * share, digits)}\u00a0%`;
}

/** A table with a caption that screen readers say; rows are lists of cells, or of {cells, ...attributes}. */
export function table(caption, head, rows, attributes = {}) {
  return h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": caption },
    h("table", attributes,
      h("caption", { class: "unseen" }, caption),
      head && h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, cell)))),
      h("tbody", {}, rows.map((row) => {
        const { cells, ...more } = Array.isArray(row) ? { cells: row } : row;
        return h("tr", more, cells.map((cell, k) => h(k === 0 ? "th" : "td", k === 0 ? { scope: "row" } : {}, cell)));
      }))));
}

export function saveAs(name, content, type = "text/plain") {
  const link = h("a", { download: name, href: URL.createObjectURL(new Blob([content], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
