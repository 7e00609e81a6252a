export const LANGUAGES = { en: "English", de: "Deutsch" };
const KEPT = "motif-language";

let texts = {};
export let language = "en";

export async function loadTexts(wanted) {
  const wish = [wanted, localStorage.getItem(KEPT), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  language = wish.find((tag) => tag in LANGUAGES) ?? "en";
  if (wanted) localStorage.setItem(KEPT, language);
  const groups = await (await fetch(`texts/${language}.json`)).json();
  texts = {};
  for (const [group, one] of Object.entries(groups)) {
    if (typeof one === "string") texts[group] = one;
    else for (const [key, text] of Object.entries(one)) texts[`${group} ${key}`.trim()] = text;
  }
  document.documentElement.lang = language;
}

/** The text `key` with its {places} filled in; "one | many" is chosen by `count`. */
export function t(key, places = {}) {
  let text = texts[key] ?? key;
  if (text.includes(" | ")) text = text.split(" | ")[Number(places.count) === 1 ? 0 : 1];
  return text.replace(/\{(\w+)\}/g, (_, name) => places[name] ?? "");
}

/** The text `key`, or `other` words. */
export function known(key, other) {
  return texts[key] ?? other;
}
