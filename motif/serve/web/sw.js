// Stores the page's files, so that it opens without its server, which is asked first.

const CACHE = "motif-page-3";

addEventListener("install", (event) => event.waitUntil((async () => {
  await (await caches.open(CACHE)).addAll(await (await fetch("files.json")).json());
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
  } catch {
    return await caches.match(request) ?? Response.error();
  }
}

addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && new URL(url).origin === location.origin && !url.includes("/api/")) event.respondWith(answered(event.request));
});
