// Draws the timeline. Close up every event is a mark with its verdict's shape; far away a column of
// pixels stands for many events and shows the worst of them.
import { DECISIONS } from "../api/shapes.ts";
import { SHAPES, SIGNS } from "../parts/verdict_shapes.ts";
import { clock } from "../text/amounts.ts";
import type { WhatIfOverlay } from "./what_if_overlay.ts";
import { LOOP_HUES, type Palette } from "./palette.ts";
import type { Row, Rows } from "./timeline_rows.ts";
import type { Timeline } from "./timeline.ts";
import type { View } from "./viewport.ts";

export interface Scene {
  context: CanvasRenderingContext2D;
  timeline: Timeline;
  rows: Rows;
  view: View;
  cursor: number;
  hovered: number;
  overlay: WhatIfOverlay | null;
  colours: Palette;
  width: number;
}

const CLOSE = 6;
const PATHS = DECISIONS.map((decision) => ({ shape: new Path2D(SHAPES[decision]), sign: new Path2D(SIGNS[decision]) }));

export function paint(scene: Scene): void {
  const { rows, view, width } = scene;
  const each = width / view.span;
  ground(scene, each);
  cursorLine(scene, each);
  for (const row of rows.rows) {
    if (row.kind === "arcs") arcs(scene, row, each);
    else if (row.kind === "loop") loop(scene, row, each);
    else if (row.kind === "ghost") ghostRow(scene, row, each);
    else if (each >= CLOSE) marks(scene, row, each);
    else columns(scene, row, each);
  }
  times(scene, each);
}

function x(scene: Scene, n: number, each: number): number {
  return (n - scene.view.from + 0.5) * each;
}

function inView(scene: Scene): [number, number] {
  const first = Math.max(0, Math.floor(scene.view.from) - 1);
  return [first, Math.min(scene.timeline.length, Math.ceil(scene.view.from + scene.view.span) + 1)];
}

function ground({ context, rows, width, colours, cursor, hovered, ...scene }: Scene, each: number): void {
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  for (const row of rows.rows) {
    if (row.kind === "arcs") continue;
    const y = Math.round(row.y + row.height) - 0.5;
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
  }
  for (const [n, colour] of [[hovered, colours.sunken], [cursor, colours.accentSoft]] as const) {
    if (n < 0) continue;
    context.fillStyle = colour;
    context.fillRect((n - scene.view.from) * each, 0, Math.max(1, each), rows.height - 20);
  }
}

/** One mark, centred. */
function mark(context: CanvasRenderingContext2D, verdict: number, centre: number, y: number, size: number, colours: Palette, hollow = false): void {
  const path = PATHS[verdict];
  if (!path) return;
  context.save();
  context.translate(centre - size / 2, y - size / 2);
  context.scale(size / 16, size / 16);
  const colour = colours.verdicts[verdict] ?? colours.ink;
  if (hollow) {
    context.strokeStyle = colour;
    context.lineWidth = 1.75;
    context.setLineDash([2.5, 2]);
    context.stroke(path.shape);
    context.setLineDash([]);
  } else {
    context.fillStyle = colour;
    context.fill(path.shape);
  }
  if (size >= 11) {
    context.strokeStyle = hollow ? colour : colours.surface;
    context.lineWidth = 1.75;
    context.lineCap = "round";
    context.stroke(path.sign);
  }
  context.restore();
}

function sizeOf(verdict: number, each: number): number {
  return Math.min(verdict === 0 ? 20 : 18, Math.max(5, each * (verdict === 0 ? 1.2 : 0.95)));
}

function marks(scene: Scene, row: Row, each: number): void {
  const { context, timeline, colours } = scene;
  const [from, to] = inView(scene);
  const y = row.y + row.height / 2;
  for (let n = from; n < to; n += 1) {
    if (timeline.lane[n] !== row.index) continue;
    const verdict = timeline.verdict[n] ?? 0;
    const centre = x(scene, n, each);
    mark(context, verdict, centre, y, sizeOf(verdict, each), colours);
    if (timeline.failed[n]) failure(scene, centre, y + 10);
    if (timeline.shadow(n)) mark(context, 1, centre, y - 11, 7, colours, true);
  }
}

/** A result that is an error has a short line under it. */
function failure({ context, colours }: Scene, centre: number, y: number): void {
  context.strokeStyle = colours.block;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(centre - 4, y);
  context.lineTo(centre + 4, y);
  context.stroke();
}

function columns(scene: Scene, row: Row, each: number): void {
  const { context, timeline, colours, width } = scene;
  const [from, to] = inView(scene);
  const counts = new Uint32Array(Math.ceil(width) + 1);
  const worst = new Uint8Array(Math.ceil(width) + 1);
  for (let n = from; n < to; n += 1) {
    if (timeline.lane[n] !== row.index) continue;
    const column = Math.floor(x(scene, n, each));
    if (column < 0 || column > width) continue;
    counts[column] = (counts[column] ?? 0) + 1;
    worst[column] = Math.max(worst[column] ?? 0, timeline.verdict[n] ?? 0);
  }
  const most = Math.max(1, ...counts);
  for (let column = 0; column < width; column += 1) {
    const n = counts[column] ?? 0;
    if (n === 0) continue;
    const verdict = worst[column] ?? 0;
    const height = Math.max(4, (row.height - 8) * (verdict > 0 ? 1 : 0.25 + 0.55 * (n / most)));
    context.fillStyle = colours.verdicts[verdict] ?? colours.ink;
    context.fillRect(column, row.y + (row.height - height) / 2, verdict > 0 ? 2 : 1, height);
  }
}

function hue(rows: Rows, group: number): string {
  const loops = rows.rows.filter((row) => row.kind === "loop");
  return LOOP_HUES[Math.max(0, loops.findIndex((row) => row.index === group)) % LOOP_HUES.length] ?? "#888";
}

/** Each call is tied to the one before that was the same: a loop looks like a chain. */
function arcs(scene: Scene, row: Row, each: number): void {
  const { context, timeline, rows } = scene;
  const [from, to] = inView(scene);
  const ground = row.y + row.height;
  for (const { index, kind } of rows.rows) {
    if (kind !== "loop") continue;
    context.strokeStyle = hue(rows, index);
    context.lineWidth = each >= CLOSE ? 1.75 : 1;
    context.globalAlpha = each >= 2 ? 0.9 : 0.35;
    context.beginPath();
    const members = timeline.groups[index]?.members ?? [];
    let drawnTo = -2;
    for (let m = Math.max(1, firstAfter(members, from)); m < members.length; m += 1) {
      const [a, b] = [x(scene, members[m - 1] ?? 0, each), x(scene, members[m] ?? 0, each)];
      if ((members[m - 1] ?? 0) > to) break;
      if (b - drawnTo < 1.5) continue;
      drawnTo = b;
      const height = Math.min(row.height - 6, 8 + (b - a) * 0.22);
      context.moveTo(a, ground);
      context.bezierCurveTo(a, ground - height * 1.33, b, ground - height * 1.33, b, ground);
    }
    context.stroke();
    context.globalAlpha = 1;
  }
}

function firstAfter(members: number[], n: number): number {
  let low = 0;
  let high = members.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((members[middle] ?? 0) < n) low = middle + 1;
    else high = middle;
  }
  return low;
}

function loop(scene: Scene, row: Row, each: number): void {
  const { context, timeline, rows, colours } = scene;
  const [from, to] = inView(scene);
  const members = timeline.groups[row.index]?.members ?? [];
  const y = row.y + row.height / 2;
  context.fillStyle = hue(rows, row.index);
  context.font = `600 9px ${colours.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const wide = each >= 9;
  let drawn = -2;
  for (let m = firstAfter(members, from); m < members.length; m += 1) {
    const n = members[m] ?? 0;
    if (n > to) break;
    const centre = x(scene, n, each);
    if (!wide && centre - drawn < 1) continue;
    drawn = centre;
    const size = wide ? 7.5 : Math.max(0.75, each * 0.4);
    context.beginPath();
    if (wide) context.arc(centre, y, size, 0, 7);
    else context.rect(centre - size, y - 5, size * 2, 10);
    context.fill();
    if (!wide) continue;
    context.fillStyle = "#fff";
    context.fillText(m + 1 < 100 ? String(m + 1) : "…", centre, y + 0.5);
    context.fillStyle = hue(rows, row.index);
  }
}

function ghostRow(scene: Scene, row: Row, each: number): void {
  const { context, overlay, colours } = scene;
  if (!overlay) return;
  const [from, to] = inView(scene);
  const y = row.y + row.height / 2;
  context.fillStyle = colours.accentSoft;
  for (let n = from; n < to; n += 1) {
    if (overlay.saved(n)) context.fillRect((n - scene.view.from) * each, row.y + 4, Math.max(1, each), row.height - 8);
  }
  for (let n = from; n < to; n += 1) {
    const verdict = overlay.verdict(n);
    if (verdict <= 0 && !overlay.changed(n)) continue;
    if (verdict < 0) continue;
    const hollow = !overlay.changed(n);
    mark(context, verdict, x(scene, n, each), y, Math.max(7, sizeOf(Math.max(1, verdict), each)), colours, hollow);
  }
}

function times({ context, timeline, rows, view, colours, width }: Scene, each: number): void {
  context.fillStyle = colours.quiet;
  context.font = `11px ${colours.font}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const every = Math.max(1, Math.ceil(110 / each));
  for (let n = Math.ceil(view.from / every) * every; n < Math.min(timeline.length, view.from + view.span); n += every) {
    const at = (n - view.from) * each + 2;
    if (at < width - 70) context.fillText(clock(timeline.at[n] ?? 0, each > 60), at, rows.height - 9);
  }
}

function cursorLine({ context, view, cursor, colours, rows }: Scene, each: number): void {
  const centre = Math.round((cursor - view.from + 0.5) * each) + 0.5;
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(centre, 0);
  context.lineTo(centre, rows.height - 18);
  context.stroke();
}

/** The whole session in one strip, the part in view framed. */
export function paintMap(scene: Scene, height: number): void {
  const { context, timeline, view, colours, width, cursor } = scene;
  const length = Math.max(1, timeline.length);
  const worst = new Uint8Array(Math.ceil(width) + 1);
  const any = new Uint8Array(Math.ceil(width) + 1);
  for (let n = 0; n < timeline.length; n += 1) {
    const column = Math.floor((n / length) * width);
    any[column] = 1;
    worst[column] = Math.max(worst[column] ?? 0, timeline.verdict[n] ?? 0);
  }
  const wide = Math.max(1, width / length - 1);
  for (let column = 0; column < width; column += 1) {
    if (!any[column]) continue;
    const verdict = worst[column] ?? 0;
    const tall = verdict === 0 ? 6 : 6 + verdict * 4;
    context.fillStyle = colours.verdicts[verdict] ?? colours.ink;
    context.fillRect(column, height - tall - 2, Math.max(verdict > 0 ? 2 : 1, Math.min(wide, 6)), tall);
  }
  const [left, right] = [(view.from / length) * width, Math.min(width, ((view.from + view.span) / length) * width)];
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.strokeRect(left + 0.75, 0.75, Math.max(4, right - left - 1.5), height - 1.5);
  context.fillStyle = colours.accent;
  context.fillRect(((cursor + 0.5) / length) * width - 0.75, 0, 1.5, height);
}
