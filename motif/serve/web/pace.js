import { preference } from "./preferences.js";
import { wait } from "./visit.js";

const SPEEDS = { slow: 1.7, normal: 1, fast: 0.5, off: 0 };
const STEPS = { dice: 650, move: 320, hit: 240, rest: 350, banner: 1250, opening: 1500 };
/** Banners stay readable at any speed. */
const LEAST = { banner: 1000, opening: 1000 };
const quiet = matchMedia("(prefers-reduced-motion: reduce)");

export function isShown() {
  return preference("speed") !== "off" && document.visibilityState === "visible";
}

export function mayMove() {
  return isShown() && !quiet.matches;
}

export function timeOf(step) {
  const speed = SPEEDS[preference("speed")] ?? 1;
  return speed === 0 ? 0 : Math.max(STEPS[step] * speed, LEAST[step] ?? 0);
}

export async function pause(step) {
  if (isShown()) await wait(timeOf(step));
}
