// What the overview shows: asked once, then kept up by the stream.
import { get, words } from "../api/client.ts";
import { REFUSALS, type LogRecord, type Page, type SessionItem, type SessionState, type Stats, type StatsAnswer } from "../api/shapes.ts";
import type { Span } from "../shell/range.svelte.ts";
import { grown, read } from "./history.ts";

const DAYS_30 = 30 * 86_400_000;
const SHOWN = 20;
const NEWEST = 60;
const STOPS_MS = 400;

export class OverviewModel {
  stats = $state.raw<Stats | null>(null);
  stopped = $state.raw<SessionItem[] | null>(null);
  counts = $state.raw<Record<SessionState, number> | null>(null);
  newest = $state.raw<LogRecord[] | null>(null);
  trouble = $state<string | null>(null);

  /** From when on the counts are whole; null while that is not known. */
  complete = $state.raw<{ since: number | null; ready: boolean } | null>(null);

  #span: () => Span = () => ({ from: undefined, to: undefined });
  #rule = "";
  #stopsTimer: ReturnType<typeof setTimeout> | undefined;

  /** Asks for everything. `span` is asked again with it: a span that ends now moves on. */
  async load(span: () => Span, rule: string): Promise<void> {
    this.#span = span;
    this.#rule = rule;
    try {
      const query = { verdict: "warn,ask,deny,block,kill", rule, until: span().to, limit: NEWEST };
      const [, , newest] = await Promise.all([this.#counts(), this.#stops(), get<Page<LogRecord>>("/v1/log", query)]);
      if (span === this.#span) this.newest = newest.items;
      this.trouble = null;
    } catch (error) {
      this.trouble = words(error);
    }
  }

  leave(): void {
    clearTimeout(this.#stopsTimer);
    this.#stopsTimer = undefined;
  }

  async #counts(): Promise<void> {
    const span = this.#span;
    const { from: since = Date.now() - DAYS_30, to: until } = span();
    const answer = await get<StatsAnswer>("/v1/stats", { since, until });
    if (span !== this.#span) return;
    this.stats = read(answer, since, until);
    this.complete = { since: answer.complete_since ?? null, ready: answer.rebuilt };
  }

  async #stops(): Promise<void> {
    const ask = (state: SessionState, limit: number) => get<Page<SessionItem>>("/v1/sessions", { state, limit });
    const [killed, blocked, active] = await Promise.all([ask("killed", SHOWN), ask("blocked", SHOWN), ask("active", 1)]);
    const at = (session: SessionItem) => session.mark?.at ?? session.touched;
    this.stopped = [...killed.items, ...blocked.items].sort((a, b) => at(b) - at(a)).slice(0, SHOWN);
    this.counts = { killed: killed.total ?? 0, blocked: blocked.total ?? 0, active: active.total ?? 0 };
  }

  saw(records: LogRecord[]): void {
    const { to } = this.#span();
    const isOver = to !== undefined && to < Date.now();
    if (this.stats && !isOver) this.stats = grown(this.stats, records);
    const told = records.filter((record) => this.#isTold(record)).reverse();
    if (told.length > 0 && this.newest && !isOver) this.newest = [...told, ...this.newest].slice(0, NEWEST);
    const isFirst = this.counts !== null && this.counts.active + this.counts.blocked + this.counts.killed === 0;
    if (isFirst || records.some(changesStops)) this.#soonStops();
  }

  #isTold(record: LogRecord): boolean {
    const verdict = record.verdict;
    return verdict !== undefined && verdict.verdict !== "allow" && (this.#rule === "" || verdict.rule === this.#rule);
  }

  /** A storm of kills asks once, not once each. */
  #soonStops(): void {
    if (this.#stopsTimer !== undefined) return;
    this.#stopsTimer = setTimeout(() => {
      this.#stopsTimer = undefined;
      void Promise.all([this.#stops(), this.#counts()]).catch(() => {});
    }, STOPS_MS);
  }
}

function changesStops(record: LogRecord): boolean {
  const type = record.event?.type;
  if (type === "kill" || type === "reset") return true;
  const verdict = record.verdict;
  return verdict !== undefined && verdict.verdict !== "deny" && verdict.verdict !== "ask" && REFUSALS.includes(verdict.verdict) && verdict.rule !== "session.killed";
}
