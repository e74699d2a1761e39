// What other limits would have done at each event of the timeline.
import { DECISIONS, type Decision, type Seen } from "../api/shapes.ts";
import type { Timeline } from "./timeline.ts";

export interface Ghost {
  seq: number;
  seen: Seen;
  verdict: Decision | null;
  rule: string | null;
  message: string | null;
}

export class Ghosts {
  readonly #timeline: Timeline;
  readonly #bySeq: Map<number, Ghost>;

  constructor(timeline: Timeline, ghosts: Ghost[]) {
    this.#timeline = timeline;
    this.#bySeq = new Map(ghosts.map((ghost) => [ghost.seq, ghost]));
  }

  at(n: number): Ghost | undefined {
    return this.#bySeq.get(this.#timeline.seq[n] ?? NaN);
  }

  /** The place in DECISIONS; -1 where it would not have happened or nobody knows. */
  verdict(n: number): number {
    const ghost = this.at(n);
    return ghost?.verdict ? DECISIONS.indexOf(ghost.verdict) : -1;
  }

  /** It would not have happened at all, because the session was stopped before. */
  saved(n: number): boolean {
    const seen = this.at(n)?.seen;
    return seen === "saved" || seen === "skipped";
  }

  changed(n: number): boolean {
    const ghost = this.at(n);
    if (!ghost?.verdict) return false;
    return ghost.verdict !== this.#timeline.decision(n) || ghost.rule !== this.#timeline.rule(n);
  }

  /** The first events whose verdict would be another, in order. */
  changes(most: number): number[] {
    const found: number[] = [];
    for (let n = 0; n < this.#timeline.length && found.length < most; n += 1) if (this.changed(n)) found.push(n);
    return found;
  }

  /** The first event at which these limits would have stopped the session. */
  stop(): number | null {
    for (let n = 0; n < this.#timeline.length; n += 1) {
      if (this.verdict(n) >= DECISIONS.indexOf("block")) return n;
    }
    return null;
  }

  get savedCount(): number {
    let sum = 0;
    for (const ghost of this.#bySeq.values()) if (ghost.seen === "saved") sum += 1;
    return sum;
  }
}
