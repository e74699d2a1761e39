// The state of the rules at the cursor. The server folds, so it is asked for a window of events at a
// time; windows are kept while they are near.
import { get, path, words } from "../api/client.ts";
import type { ReplayItem, ReplayPage } from "../api/shapes.ts";
import type { Timeline } from "./timeline.ts";

const WINDOW = 100;
const KEPT = 24;
const WAIT_MS = 60;

export class States {
  trouble = $state<string | null>(null);
  #windows = $state.raw(new Map<number, Map<number, ReplayItem>>());
  /** How many records the server folds at most, once it said that there are more. */
  #folded = $state(0);
  #asked = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #timeline: Timeline;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** What is known of an event; undefined while it is being asked for. */
  item(n: number): ReplayItem | undefined {
    return this.#windows.get(Math.floor(n / WINDOW))?.get(this.#timeline.seq[n] ?? NaN);
  }

  /** Why the state at an event will not be known; none while it may. */
  beyond(n: number): string | null {
    const isThere = this.#windows.has(Math.floor(n / WINDOW)) && this.item(n) === undefined;
    if (this.#folded === 0 || !isThere) return null;
    return `The server folds ${this.#folded.toLocaleString("en")} records for a replay; this event lies beyond them, so the state of the rules here is not known.`;
  }

  /** Asks for the window around an event, a little later, so that a scrub does not ask for all. */
  want(n: number): void {
    if (this.item(n)) return this.#ahead(n);
    if (this.beyond(n) !== null) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(Math.floor(n / WINDOW)), WAIT_MS);
  }

  /** While it plays, the next window is there before the cursor is. */
  #ahead(n: number): void {
    const next = Math.floor(n / WINDOW) + 1;
    const near = n % WINDOW > WINDOW / 2;
    if (near && next * WINDOW < this.#timeline.length && !this.#windows.has(next)) void this.#load(next);
  }

  async #load(window: number): Promise<void> {
    const first = this.#timeline.seq[window * WINDOW];
    if (first === undefined || this.#asked.has(window)) return;
    this.#asked.add(window);
    try {
      const url = path`/v1/sessions/${this.#timeline.session}/replay`;
      const page = await get<ReplayPage>(url, { after: first - 1, limit: WINDOW });
      const windows = new Map(this.#windows);
      windows.delete(window);
      windows.set(window, new Map(page.items.map((item) => [item.seq, item])));
      for (const old of windows.keys()) {
        if (windows.size <= KEPT) break;
        windows.delete(old);
      }
      this.#windows = windows;
      if (page.cut) this.#folded = page.folded;
      this.trouble = null;
    } catch (error) {
      this.trouble = words(error);
    } finally {
      this.#asked.delete(window);
    }
  }
}
