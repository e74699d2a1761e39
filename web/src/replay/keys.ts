// The keys of the replay. They rest while somebody types or a dialog is open.
import type { ReplayModel } from "./model.svelte.ts";
import type { Player } from "./player.svelte.ts";
import { zoomed } from "./viewport.ts";

const TYPING = "input:not([type=range]), textarea, select, [contenteditable]";

export function replayKeys(event: KeyboardEvent, model: ReplayModel, player: Player): void {
  const target = event.target as Element | null;
  if (event.ctrlKey || event.metaKey || event.altKey || target?.matches?.(TYPING) || document.querySelector("dialog[open]")) return;
  // A slider and a scrolled list have arrow keys of their own, a button its space.
  const arrows = event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End";
  if (arrows && target?.matches?.("input, [role=rowgroup]")) return;
  if (event.key === " " && target?.matches?.("button, a, summary, [role=rowgroup]")) return;
  const { timeline, cursor } = model;
  const go = (n: number | null) => {
    player.pause();
    if (n !== null) model.go(n);
  };
  const far = event.shiftKey ? 10 : 1;
  const keys: Record<string, () => void> = {
    " ": () => player.toggle(),
    ArrowLeft: () => go(cursor - far),
    ArrowRight: () => go(cursor + far),
    Home: () => go(0),
    End: () => go(model.length - 1),
    n: () => go(timeline.alarm(cursor, 1)),
    p: () => go(timeline.alarm(cursor, -1)),
    "]": () => go(timeline.again(cursor, 1)),
    "[": () => go(timeline.again(cursor, -1)),
    "+": () => model.look(zoomed(model.view, 1 / 1.6, cursor, model.length)),
    "-": () => model.look(zoomed(model.view, 1.6, cursor, model.length)),
    ">": () => player.faster(1),
    "<": () => player.faster(-1),
  };
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
