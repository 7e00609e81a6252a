// Requests to the server; refusals are raised as Problems.

import { t } from "./texts.js";
import { here, still } from "./visit.js";

/** What refusals are about, by field or status. */
const FAULTS = { fast: "long", 404: "missing", 413: "size", 503: "busy", "400 position": "position", "400 review": "match", "400 games/loaded": "match" };

export class Problem extends Error {
  /** A refusal for a `reason`, which is English. */
  constructor(reason, about = "other", status = 400, fields = []) {
    super(t(`fault ${about}`, { message: reason, status }));
    Object.assign(this, { reason, status, fields });
  }
}

function away(error) {
  throw error.name === "AbortError" ? error : new Problem("", "away", 0);
}

async function ask(path, options = {}) {
  const answer = await fetch(`/api/v1/${path}`, options).catch(away);
  if (!answer.ok) {
    const { status } = answer, { message, fields } = await answer.json().catch(() => ({}));
    throw new Problem(message, message ? FAULTS[fields] ?? FAULTS[status] ?? FAULTS[`${status} ${path}`] : "server", status, fields);
  }
  return answer;
}

async function json(path, options) {
  return (await ask(path, options)).json().catch(away);
}

export function get(path) {
  return still(json(path));
}

export async function text(path) {
  return (await ask(path)).text();
}

function posted(body) {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

const underWay = new Map();

/** Posts a question, which is not asked again while it is under way. */
export function post(path, body) {
  const options = posted(body), key = path + options.body;
  if (!underWay.has(key)) underWay.set(key, json(path, options).finally(() => underWay.delete(key)));
  return still(underWay.get(key));
}

export function remove(path) {
  return json(path, { method: "DELETE", keepalive: true }).catch((error) => { if (error.status !== 404) throw error; });
}

/** Passes each line of the answer to `read` as it arrives, while the view is shown. */
export function stream(path, body, read, signal) {
  const isHere = here();
  return still(streamed(path, body, (line) => isHere() && read(line), signal));
}

/** The same, also once the view was left. */
export async function streamed(path, body, read, signal) {
  const answer = await ask(path, { ...posted(body), signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch(away);
    rest += value ?? "";
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines.filter(Boolean)) read(JSON.parse(line));
    if (done) break;
  }
  if (rest) read(JSON.parse(rest));
}
