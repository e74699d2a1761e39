// What other limits would have done at each event of the timeline. The server tells what changes, up to
// some number, and where the session would first have been stopped; what it does after that, until it is let
// go, would not have happened, listed or not.
import { DECISIONS, type Change, type Trial } from "../api/shapes.ts";
import type { Timeline } from "./timeline.ts";

export class WhatIfOverlay {
  readonly trial: Trial;
  readonly #timeline: Timeline;
  readonly #changes = new Map<number, Change>();
  /** The first event at which these limits would have stopped the session, where they do something new. */
  readonly stop: number | null;
  readonly #stopEnds: number;

  constructor(timeline: Timeline, trial: Trial) {
    this.trial = trial;
    this.#timeline = timeline;
    for (const change of trial.changes) {
      const n = timeline.indexOf(change.seq);
      if (timeline.seq[n] === change.seq) this.#changes.set(n, change);
    }
    const { stop } = trial;
    this.stop = stop === null ? null : timeline.indexOf(stop.seq);
    this.#stopEnds = stop?.until ? timeline.indexOf(stop.until) : timeline.length;
  }

  at(n: number): Change | undefined {
    return this.#changes.get(n);
  }

  /** The place in DECISIONS; -1 where it would not have happened. */
  verdict(n: number): number {
    if (this.saved(n)) return -1;
    const change = this.at(n);
    return change?.would ? DECISIONS.indexOf(change.would) : (this.#timeline.verdict[n] ?? 0);
  }

  /** It would not have happened, because the session was stopped before. */
  saved(n: number): boolean {
    const change = this.at(n);
    if (change) return change.would === null;
    return this.stop !== null && n > this.stop && n < this.#stopEnds && this.#timeline.acts(n);
  }

  /** It would have got another verdict, or the same by another rule. */
  changed(n: number): boolean {
    const would = this.at(n)?.would;
    return would !== undefined && would !== null;
  }

  /** The events whose verdict would be another, in order. */
  changes(): number[] {
    return [...this.#changes].filter(([, change]) => change.would !== null).map(([n]) => n);
  }
}
