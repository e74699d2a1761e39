// One session being looked at: its summary, its events as they load and come in, and the cursor.
import { get, path, words } from "../api/client.ts";
import type { LogRecord, Page, SessionDetail } from "../api/shapes.ts";
import { States } from "./states.svelte.ts";
import { Timeline } from "./timeline.ts";
import { clamped, following, type View } from "./viewport.ts";

const PAGE = 500;
const FIRST_SPAN = 80;

export class ReplayModel {
  readonly id: string;
  readonly timeline: Timeline;
  readonly states: States;
  detail = $state.raw<SessionDetail | null>(null);
  trouble = $state<string | null>(null);
  missing = $state(false);
  /** The store keeps so many sessions and gave this one up, but its records are still in the log. */
  evicted = $state(false);
  /** Events are still being loaded. */
  loading = $state(true);
  /** Grows when the timeline did; it is no reactive thing itself. */
  grown = $state(0);
  cursor = $state(0);
  view = $state.raw<View>({ from: 0, span: FIRST_SPAN });
  length = $derived.by(() => {
    void this.grown;
    return this.timeline.length;
  });

  #gone = new AbortController();
  #detailTimer: ReturnType<typeof setTimeout> | undefined;
  /** The cursor was not moved yet: it goes to where the session was stopped, or to the end. */
  #unplaced: boolean;

  constructor(id: string, at: number | null) {
    this.id = id;
    this.timeline = new Timeline(id);
    this.states = new States(this.timeline);
    this.#unplaced = at === null;
    this.#wanted = at;
  }
  #wanted: number | null;

  /** When everything that was there is here. */
  loaded: Promise<void> = Promise.resolve();

  load(): Promise<void> {
    this.loaded = this.#load();
    return this.loaded;
  }

  async #load(): Promise<void> {
    try {
      const signal = this.#gone.signal;
      this.detail = await get<SessionDetail>(path`/v1/sessions/${this.id}`, {}, signal);
      await this.#events(signal);
      this.trouble = null;
    } catch (error) {
      this.missing = (error as { status?: number }).status === 404;
      this.trouble = words(error);
      if (this.missing) this.evicted = await this.#isLogged();
    } finally {
      this.loading = false;
    }
  }

  async #isLogged(): Promise<boolean> {
    const page = await get<Page<LogRecord, number>>("/v1/log", { session: this.id, limit: 1 }).catch(() => null);
    return (page?.items.length ?? 0) > 0;
  }

  async #events(signal: AbortSignal): Promise<void> {
    for (;;) {
      const query = { order: "asc", after: this.timeline.lastSeq || undefined, limit: PAGE };
      const page = await get<Page<LogRecord, number>>(path`/v1/sessions/${this.id}/events`, query, signal);
      const taken = this.timeline.append(page.items);
      this.grown += 1;
      this.#place();
      if (page.next === null || taken === 0) break;
    }
    this.#place(true);
  }

  /** Puts the cursor where it was wanted as soon as that is loaded; else to the stop or the end, once. */
  #place(all = false): void {
    if (this.#wanted !== null) {
      if (this.timeline.lastSeq >= this.#wanted) {
        this.cursor = this.timeline.indexOf(this.#wanted);
        this.#wanted = null;
        this.#follow();
      }
    } else if (this.#unplaced) {
      const stopped = this.#stopped();
      if (stopped === null && !all) return;
      this.#unplaced = false;
      this.cursor = stopped ?? Math.max(0, this.timeline.length - 1);
      this.#follow();
    }
  }

  /** The event that stopped the session, where it still is stopped and that event is loaded. */
  #stopped(): number | null {
    const mark = this.detail?.mark;
    return mark ? this.timeline.stopAt(mark.at) : null;
  }

  go(n: number): void {
    this.#unplaced = false;
    this.#wanted = null;
    this.cursor = Math.max(0, Math.min(Math.round(n), this.length - 1));
    this.#follow();
  }

  /** The record of the stop; null where the log does not show it. */
  get stopSeq(): number | null {
    const n = this.length > 0 && !this.loading ? this.#stopped() : null;
    return n === null ? null : (this.timeline.seq[n] ?? null);
  }

  jumpToStop(): void {
    const n = this.#stopped();
    if (n !== null) this.go(n);
  }

  look(view: View): void {
    this.view = clamped(view, this.length);
  }

  #follow(): void {
    this.view = clamped(following(this.view, this.cursor, this.length), this.length);
  }

  /** What the stream brings; the cursor goes along where it stood at the end. */
  saw(records: LogRecord[]): void {
    if (this.loading) return;
    const atEnd = this.cursor >= this.timeline.length - 1;
    if (this.timeline.append(records) === 0) return;
    this.grown += 1;
    if (atEnd) {
      this.cursor = this.timeline.length - 1;
      this.#follow();
    }
    this.#soonDetail();
  }

  /** After a break of the line: what came in between. */
  async catchUp(): Promise<void> {
    if (this.loading) return;
    try {
      await this.#events(this.#gone.signal);
      await this.refresh();
    } catch (error) {
      this.trouble = words(error);
    }
  }

  async refresh(): Promise<void> {
    this.detail = await get<SessionDetail>(path`/v1/sessions/${this.id}`, {}, this.#gone.signal);
  }

  #soonDetail(): void {
    if (this.#detailTimer !== undefined) return;
    this.#detailTimer = setTimeout(() => {
      this.#detailTimer = undefined;
      void this.refresh().catch(() => {});
    }, 300);
  }

  leave(): void {
    clearTimeout(this.#detailTimer);
    this.#gone.abort();
  }
}
