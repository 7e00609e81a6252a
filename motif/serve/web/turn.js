// A roll that is being played, along the server's tree of moves.

import { moved, OFF } from "./drawing.js";

export class Turn {
  constructor(board, roll, tree) {
    this.start = board;
    this.roll = roll;
    this.tree = tree;
    this.path = [];
    this.swapped = false;
  }

  get node() {
    return this.path.length ? this.path.at(-1).node : 0;
  }

  get board() {
    return this.path.reduce((board, step) => moved(board, step.start, step.end), this.start);
  }

  get play() {
    return this.tree.plays[this.node];
  }

  get steps() {
    return this.stepsAt(this.node);
  }

  stepsAt(node) {
    return this.tree.steps[node].map(([start, end, die, next]) => ({ start, end, die, node: next }));
  }

  get movable() {
    return [...new Set(this.steps.map((step) => step.start))];
  }

  get dice() {
    const [high, low] = this.roll;
    const order = high === low ? [high, high, high, high] : this.swapped ? [low, high] : [high, low];
    const played = this.path.map((step) => step.die);
    return order.map((value) => {
      const k = played.indexOf(value);
      if (k >= 0) played.splice(k, 1);
      return { value, used: k >= 0 };
    });
  }

  swap() {
    this.swapped = !this.swapped;
  }

  ways(start) {
    const ends = new Map();
    const follow = (node, place, path) => {
      for (const step of this.stepsAt(node)) {
        if (step.start !== place) continue;
        const way = [...path, step];
        const known = ends.get(step.end);
        const better = !known || way.length < known.length
          || (way.length === known.length && way.length === 1 && step.die < known[0].die);
        if (better) ends.set(step.end, way);
        if (step.end !== OFF) follow(step.node, step.end, way);
      }
    };
    follow(this.node, start, []);
    return ends;
  }

  /** Moves the checker on a place by the first die that can, or the nearest one that can get there. */
  press(place, wantsDestination) {
    const here = this.steps.filter((step) => step.start === place);
    if (here.length && !wantsDestination) {
      const order = this.dice.filter((die) => !die.used).map((die) => die.value);
      const step = here.toSorted((a, b) => order.indexOf(a.die) - order.indexOf(b.die))[0];
      this.path.push(step);
    } else {
      this.movable.toSorted((a, b) => a - b).some((start) => start > place && this.drag(start, place));
    }
  }

  serves(place) {
    return this.movable.some((start) => start === place || (start > place && this.ways(start).has(place)));
  }

  drag(start, end) {
    const way = this.ways(start).get(end);
    if (way) this.path.push(...way);
    return Boolean(way);
  }

  back() {
    return this.path.pop();
  }

  get plays() {
    const ways = new Map([[0, []]]);
    for (const node of ways.keys()) {
      for (const step of this.stepsAt(node)) {
        if (!ways.has(step.node)) ways.set(step.node, [...ways.get(node), step]);
      }
    }
    return [...ways].filter(([node]) => this.tree.plays[node] !== null);
  }

  take(notation) {
    const found = this.plays.find(([node]) => this.tree.plays[node] === notation);
    if (found) [, this.path] = found;
    return Boolean(found);
  }
}
