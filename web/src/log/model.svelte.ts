// The log as a list that grows at both ends: older records when one scrolls down, newer ones live.
import { get, post, words } from "../api/client.ts";
import type { LogRecord, LogStatus, Proof, SearchPage } from "../api/shapes.ts";
import { span } from "../shell/range.svelte.ts";
import { fits, type LogQuery } from "./query.ts";
import { follow, type Progress } from "./search.ts";

const PAGE = 200;
export const MOST_LIVE = 5000;

export class LogModel {
  records = $state.raw<LogRecord[]>([]);
  next = $state.raw<number | null>(null);
  loading = $state(true);
  trouble = $state<string | null>(null);
  status = $state.raw<LogStatus | null>(null);
  /** How far a search is that has not found a page yet. */
  progress = $state.raw<Progress | null>(null);
  /** Records that came while the reader was further down; they are shown when asked for. */
  waiting = $state.raw<LogRecord[]>([]);
  /** The reader stopped the tail. */
  paused = $state(false);
  /** The time that is shown has an end, so nothing new belongs to it. */
  ends = $state(false);
  #reading = false;
  #query: LogQuery | null = null;
  #giveUp = new AbortController();

  async ask(query: LogQuery): Promise<void> {
    this.#giveUp.abort();
    this.#giveUp = new AbortController();
    this.#query = query;
    this.loading = true;
    this.waiting = [];
    let first = true;
    try {
      const found = await this.#search(query, null, (page) => {
        this.records = first ? page : [...this.records, ...page];
        first = false;
      });
      if (query !== this.#query) return;
      this.next = found;
      this.trouble = null;
    } catch (error) {
      const said = words(error);
      if (said !== null) this.trouble = said;
    }
    if (query === this.#query) this.loading = false;
  }

  async older(): Promise<void> {
    const query = this.#query;
    if (this.loading || this.next === null || !query) return;
    this.loading = true;
    try {
      const found = await this.#search(query, this.next, (page) => (this.records = [...this.records, ...page]));
      if (query !== this.#query) return;
      this.next = found;
    } catch (error) {
      this.trouble = words(error);
    }
    this.loading = false;
  }

  /** Follows the cursor until a page is found, shows what is found on the way, and answers where it ended. */
  async #search(query: LogQuery, after: number | null, show: (page: LogRecord[]) => void): Promise<number | null> {
    const { since: _since, until, range: _range, ...rest } = query;
    const { from: earliest, to: latest } = span("all");
    this.ends = until !== "";
    const ask = async (from: number | null) => {
      const page = await get<SearchPage>("/v1/log", { ...rest, from: earliest, to: latest, after: from, limit: PAGE }, this.#giveUp.signal);
      if (query === this.#query) show(page.items);
      return page;
    };
    try {
      const found = await follow(ask, after, PAGE, (progress) => {
        if (query !== this.#query) return false;
        this.progress = progress;
        return true;
      });
      return found.next;
    } finally {
      if (query === this.#query) this.progress = null;
    }
  }

  /** The reader is further down, or back at the top. */
  reads(further: boolean): void {
    this.#reading = further;
    if (!further && !this.paused) this.catchUp();
  }

  /** Stops the tail, or lets it go on. */
  pause(paused: boolean): void {
    this.paused = paused;
    if (!paused) this.catchUp();
  }

  /** Shows what came meanwhile. */
  catchUp(): void {
    const waiting = this.waiting;
    this.waiting = [];
    this.#prepend(waiting);
  }

  /** What the stream brings, where it would be in the answer too. */
  saw(records: LogRecord[]): void {
    const query = this.#query;
    const last = records.at(-1);
    if (last && this.status) this.status = { ...this.status, last: last.seq, hash: last.hash, pending: 0 };
    if (!query || this.loading || query.q !== "" || query.until !== "") return;
    const newest = this.waiting[0]?.seq ?? this.records[0]?.seq ?? 0;
    const fitting = records.filter((record) => record.seq > newest && fits(record, query)).reverse();
    if (fitting.length === 0) return;
    if (this.#reading || this.paused) this.waiting = [...fitting, ...this.waiting].slice(0, MOST_LIVE);
    else this.#prepend(fitting);
  }

  #prepend(fitting: LogRecord[]): void {
    if (fitting.length === 0) return;
    const all = [...fitting, ...this.records];
    // What falls off the end can be loaded again by scrolling.
    if (all.length > MOST_LIVE) {
      all.length = MOST_LIVE;
      this.next = all.at(-1)?.seq ?? null;
    }
    this.records = all;
  }

  async learn(): Promise<void> {
    try {
      this.status = await get<LogStatus>("/v1/log/status");
    } catch {
      this.status = null;
    }
  }
}

/** The last proof that was made from this page; it outlives a look at another one. */
class Prover {
  proof = $state.raw<{ found: Proof; at: number } | null>(null);
  busy = $state(false);

  async prove(): Promise<Proof> {
    this.busy = true;
    try {
      const found = await post<Proof>("/v1/log/verify");
      this.proof = { found, at: Date.now() };
      return found;
    } finally {
      this.busy = false;
    }
  }
}

export const prover = new Prover();
