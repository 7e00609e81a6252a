// A position in whatever people paste: an ID alone, in a link, or among the lines of eXtreme Gammon or gnubg.

/** The ID in a text; the text itself where none is found. */
export function foundId(text) {
  let words = text.trim();
  try {
    words = decodeURIComponent(words);
  } catch {
  }
  const xgid = /XGID=[-A-Oa-o]{26}(?::-?[0-9DBR]+){8,9}/.exec(words);
  if (xgid) return xgid[0];
  const bare = /(?:^|\s|\/)([-A-Oa-o]{26}(?::-?[0-9DBR]+){8,9})/.exec(words);
  if (bare) return bare[1];
  const position = /Position ID:\s*([A-Za-z0-9+/]{14})/.exec(words);
  const match = /Match ID\s*:\s*([A-Za-z0-9+/]{12})/.exec(words);
  if (position) return match ? `${position[1]}:${match[1]}` : position[1];
  const link = /#\/(?:position|from)\/(\S+)/.exec(words);
  return link ? link[1] : words;
}
