// The log as a list that grows at both ends: older records when one scrolls down, newer ones live.
import { get, post, words } from "../api/client.ts";
import type { LogRecord, LogStatus, Page, Proof } from "../api/shapes.ts";
import { fits, millis, type LogQuery } from "./query.ts";

const PAGE = 200;
const MOST_LIVE = 5000;

export class LogModel {
  records = $state.raw<LogRecord[]>([]);
  next = $state.raw<number | null>(null);
  loading = $state(true);
  trouble = $state<string | null>(null);
  status = $state.raw<LogStatus | null>(null);
  #query: LogQuery | null = null;
  #giveUp = new AbortController();

  async ask(query: LogQuery): Promise<void> {
    this.#giveUp.abort();
    this.#giveUp = new AbortController();
    this.#query = query;
    this.loading = true;
    try {
      const page = await this.#page(query, null);
      if (query !== this.#query) return;
      this.records = page.items;
      this.next = page.next;
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
      const page = await this.#page(query, this.next);
      if (query !== this.#query) return;
      this.records = [...this.records, ...page.items];
      this.next = page.next;
    } catch (error) {
      this.trouble = words(error);
    }
    this.loading = false;
  }

  #page(query: LogQuery, after: number | null): Promise<Page<LogRecord, number>> {
    const { since, until, ...rest } = query;
    return get("/v1/log", { ...rest, from: millis(since), to: millis(until), after, limit: PAGE }, this.#giveUp.signal);
  }

  /** What the stream brings, where it would be in the answer too. */
  saw(records: LogRecord[]): void {
    const query = this.#query;
    if (!query || this.loading || query.q !== "" || query.until !== "") return;
    const newest = this.records[0]?.seq ?? 0;
    const fitting = records.filter((record) => record.seq > newest && fits(record, query)).reverse();
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
