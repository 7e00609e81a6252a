import { preference } from "./preferences.js";

const SOUNDS = { dice: [[0, 1900, 0.03], [0.06, 1500, 0.03], [0.11, 1700, 0.03]], checker: [[0, 700, 0.05]], hit: [[0, 420, 0.09]], cube: [[0, 520, 0.12], [0.13, 660, 0.12]] };
let context = null;

export function play(name) {
  if (!preference("sound") || document.visibilityState !== "visible") return;
  context ??= new AudioContext();
  for (const [after, pitch, length] of SOUNDS[name]) {
    const start = context.currentTime + after;
    const tone = new OscillatorNode(context, { type: "triangle", frequency: pitch });
    const loudness = new GainNode(context, { gain: 0.15 });
    loudness.gain.setValueAtTime(0.15, start);
    loudness.gain.exponentialRampToValueAtTime(0.001, start + length);
    tone.connect(loudness).connect(context.destination);
    tone.start(start);
    tone.stop(start + length);
  }
}
