// Keeps the page's own files, so that it opens and says that the server is away when it is.  The server is asked
// first, always; nothing of games is kept here.

const CACHE = "motif-page-2";
const FILES = [
  "./", "advice.js", "analyse.js", "analysis.js", "api.js", "app.js", "board.js", "curve.js", "dialog.js", "dom.js",
  "drawing.js", "help.js", "history.js", "icon.svg", "keys.js", "learn.js", "manifest.webmanifest", "mover.js",
  "newgame.js", "objection.js", "pace.js", "pasted.js", "play.js", "plays.js", "practice.js", "preferences.js",
  "result.js", "rollout.js", "settings.js", "setup.js", "sound.js", "start.js", "style.css", "telling.js", "texts.js",
  "texts/de.json", "texts/en.json", "turn.js", "view.js",
];

addEventListener("install", (event) => event.waitUntil((async () => {
  await (await caches.open(CACHE)).addAll(FILES);
  await skipWaiting();
})()));

addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
  await clients.claim();
})()));

async function answered(request) {
  try {
    const answer = await fetch(request);
    if (answer.ok) (await caches.open(CACHE)).put(request, answer.clone());
    return answer;
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}

addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && new URL(url).origin === location.origin && !url.includes("/api/")) event.respondWith(answered(event.request));
});
