// A verdict has a shape as well as a colour: a dot, a triangle, a circle, a diamond, a square, an
// octagon, each heavier than the one before. On a 16 by 16 grid.
import type { Decision } from "../api/shapes.ts";

export const SHAPES: Record<Decision, string> = {
  allow: "M8 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z",
  warn: "M8 2l6.5 11.5h-13z",
  ask: "M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13z",
  deny: "M8 1.3l6.7 6.7-6.7 6.7-6.7-6.7z",
  block: "M2.5 2.5h11v11h-11z",
  kill: "M5.1 1h5.8l4.1 4.1v5.8l-4.1 4.1h-5.8l-4.1-4.1v-5.8z",
};

/** What stands inside the shape, in the colour of the ground. */
export const SIGNS: Record<Decision, string> = {
  allow: "",
  warn: "M8 6v3.5M8 11.6v.2",
  ask: "M6 6.2c0-2.4 4-2.4 4 0 0 1.5-2 1.6-2 3.2M8 11.6v.2",
  deny: "M5.5 8h5",
  block: "M5.5 8h5M8 5.5v5",
  kill: "M5.5 5.5l5 5M10.5 5.5l-5 5",
};

const RANK: Record<Decision, number> = { allow: 0, warn: 1, ask: 2, deny: 3, block: 4, kill: 5 };

export function rank(decision: Decision): number {
  return RANK[decision];
}

export const MEANING: Record<Decision, string> = {
  allow: "went on",
  warn: "went on with a warning",
  ask: "waits for a person",
  deny: "this one was refused",
  block: "refused, and every further call until a reset",
  kill: "everything is refused until a reset",
};
