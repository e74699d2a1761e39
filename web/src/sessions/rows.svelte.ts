// The sessions that match a query, a page at a time: only what is on the screen is asked for, so a
// hundred thousand sessions cost as much as fifty.
import { get, words } from "../api/client.ts";
import type { Page, SessionItem } from "../api/shapes.ts";

export interface SessionQuery {
  q: string;
  state: string;
  agent: string;
  rule: string;
  sort: string;
  order: string;
  from: number | undefined;
  to: number | undefined;
}

const PAGE = 100;
const MOST_PAGES = 40;
const WAIT_MS = 100;

export class SessionRows {
  total = $state<number | null>(null);
  trouble = $state<string | null>(null);
  #pages = $state.raw(new Map<number, SessionItem[]>());
  #asked = new Map<number, AbortController>();
  #query: SessionQuery | null = null;
  #range = { from: 0, to: 0 };
  #soon: ReturnType<typeof setTimeout> | undefined;

  ask(query: SessionQuery): void {
    this.#giveUpExcept(-1, -1);
    this.#query = query;
    // What is there stays until the answer comes: a table that blinks can't be read.
    void this.#load(0, true);
  }

  /** The rows in view change under it: asks for those again. */
  refresh(): void {
    const first = Math.floor(this.#range.from / PAGE);
    const last = Math.floor(Math.max(this.#range.from, this.#range.to - 1) / PAGE);
    for (let page = first; page <= last; page += 1) void this.#load(page);
  }

  /** Asks for what came into view and stayed: a quick scroll passes by many pages. */
  see(from: number, to: number): void {
    this.#range = { from, to };
    if (to <= from) return;
    const [first, last] = [Math.floor(from / PAGE), Math.floor((to - 1) / PAGE)];
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => {
      this.#giveUpExcept(first, last);
      for (let page = first; page <= last; page += 1) {
        if (!this.#pages.has(page) && !this.#asked.has(page)) void this.#load(page);
      }
    }, WAIT_MS);
  }

  #giveUpExcept(first: number, last: number): void {
    for (const [page, asking] of this.#asked) {
      if (page >= first && page <= last) continue;
      asking.abort();
      this.#asked.delete(page);
    }
  }

  row(n: number): SessionItem | undefined {
    return this.#pages.get(Math.floor(n / PAGE))?.[n % PAGE];
  }

  async #load(page: number, fresh = false): Promise<void> {
    const query = this.#query;
    if (!query) return;
    const asking = new AbortController();
    // The first page of a new query is wanted wherever the view stands: it replaces all others.
    if (!fresh) this.#asked.set(page, asking);
    try {
      const answer = await get<Page<SessionItem>>("/v1/sessions", { ...query, offset: page * PAGE, limit: PAGE }, asking.signal);
      if (query !== this.#query) return;
      const pages = fresh ? new Map<number, SessionItem[]>() : new Map(this.#pages);
      pages.delete(page);
      pages.set(page, answer.items);
      for (const old of pages.keys()) {
        if (pages.size <= MOST_PAGES) break;
        pages.delete(old);
      }
      this.#pages = pages;
      this.total = answer.total ?? answer.items.length;
      this.trouble = null;
      if (fresh) this.see(this.#range.from, this.#range.to);
    } catch (error) {
      const said = words(error);
      if (said !== null && query === this.#query) this.trouble = said;
    } finally {
      if (this.#asked.get(page) === asking) this.#asked.delete(page);
    }
  }
}
