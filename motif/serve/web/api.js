// Requests to the server.  Refusals are raised as Problems with readable messages.

import { t } from "./texts.js";

/** What refusals are about, by status and perhaps path: the server's words are English. */
const FAULTS = { 413: "size", 503: "busy", "400 position": "position", "400 review": "match", "400 games/loaded": "match" };

export class Problem extends Error {
  constructor(message, status, fields = []) {
    super(message);
    Object.assign(this, { status, fields });
  }
}

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(`/api/v1/${path}`, options);
  } catch {
    throw new Problem(t("server away"), 0);
  }
  if (!answer.ok) {
    const { status } = answer, { message, fields } = await answer.json().catch(() => ({}));
    const about = FAULTS[status] ?? FAULTS[`${status} ${path}`];
    throw new Problem(message && !about ? message : t(message ? `fault ${about}` : "server fault", { status, message }), status, fields);
  }
  return answer;
}

export async function get(path) {
  return (await ask(path)).json();
}

export async function text(path) {
  return (await ask(path)).text();
}

function posted(body) {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

export async function post(path, body) {
  return (await ask(path, posted(body))).json();
}

export async function remove(path) {
  return (await ask(path, { method: "DELETE" })).json();
}

/** Posts and passes each line of the answer to `read` as it arrives. */
export async function stream(path, body, read, signal) {
  const answer = await ask(path, { ...posted(body), signal });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : new Problem(t("server away"), 0);
    });
    rest += value ?? "";
    const lines = rest.split("\n");
    rest = lines.pop();
    lines.filter(Boolean).forEach((line) => read(JSON.parse(line)));
    if (done) break;
  }
  if (rest) read(JSON.parse(rest));
}
