// Which rows the timeline has, from top to bottom: the arcs that tie equal calls together, a lane for
// each kind of event that there is, a row for each loop, and what other limits would have done.
import { LANES, type Timeline } from "./timeline.ts";

export interface Row {
  kind: "arcs" | "lane" | "loop" | "ghost";
  label: string;
  note: string;
  y: number;
  height: number;
  /** The lane or the group. */
  index: number;
}

export interface Rows {
  rows: Row[];
  height: number;
}

const HEIGHTS = { arcs: 44, lane: 32, loop: 22, ghost: 34 };
const MOST_LOOPS = 5;
const AXIS = 20;

export function rowsOf(timeline: Timeline, withGhost: boolean): Rows {
  const rows: Row[] = [];
  let y = 0;
  const add = (kind: Row["kind"], label: string, index: number, note = "") => {
    rows.push({ kind, label, note, y, height: HEIGHTS[kind], index });
    y += HEIGHTS[kind];
  };
  const loops = timeline.loops(MOST_LOOPS);
  const present = new Set(timeline.lane);
  if (loops.length > 0) add("arcs", "", 0);
  LANES.forEach((label, lane) => {
    if (present.has(lane)) add("lane", label, lane);
  });
  for (const loop of loops) add("loop", loop.name, loop.group, `×${loop.count}`);
  if (withGhost) add("ghost", "With these limits", 0);
  return { rows, height: y + AXIS };
}
