// "What would these limits have done?": the server folds the same events under other limits.
import { get, path, post, words } from "../api/client.ts";
import type { Decision, PolicyInForce, Seen, Tally, Verdict } from "../api/shapes.ts";
import { limitsOf, type Limit } from "../text/rules.ts";
import { Ghosts, type Ghost } from "./ghosts.ts";
import { valueInForce, wire, type Tried } from "./tried.ts";
import type { ReplayModel } from "./model.svelte.ts";

const WAIT_MS = 150;
const PAGE = 50_000;

export interface Slider extends Limit {
  rule: string;
  inForce: number;
}

interface BriefPage {
  items: { seq: number; seen: Seen; verdict: Decision | Verdict | null; rule?: string | null; message?: string | null }[];
  next: number | null;
  summary: Tally;
}

export class WhatIf {
  ghosts = $state.raw<Ghosts | null>(null);
  summary = $state.raw<Tally | null>(null);
  trouble = $state<string | null>(null);
  busy = $state(false);
  policy = $state.raw<PolicyInForce | null>(null);
  #model: ReplayModel;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | null = null;

  constructor(model: ReplayModel) {
    this.#model = model;
  }

  async learn(): Promise<void> {
    if (this.policy) return;
    try {
      this.policy = await get<PolicyInForce>("/v1/policy");
    } catch (error) {
      this.trouble = words(error);
    }
  }

  /** The limits that matter here: of rules that fired, then of those that filled. */
  sliders(): Slider[] {
    const { timeline, detail, states, cursor } = this.#model;
    const fired = timeline.alarms.map((n) => timeline.rule(n));
    const full = [...(states.item(cursor)?.state?.gauges ?? []), ...(detail?.state.gauges ?? [])];
    full.sort((a, b) => b.used / Math.max(1, b.limit) - a.used / Math.max(1, a.limit));
    const rules = new Set([...fired, ...full.map((gauge) => gauge.rule)].filter((rule) => rule !== null));
    const effective = this.policy?.effective ?? {};
    return [...rules]
      .flatMap((rule) => limitsOf(rule).map((limit) => ({ ...limit, rule, inForce: valueInForce(effective, limit.key) })))
      .filter((slider): slider is Slider => slider.inForce !== null)
      .slice(0, 8);
  }

  try(tried: Tried): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    if (Object.keys(tried).length === 0) {
      this.ghosts = null;
      this.summary = null;
      this.trouble = null;
      this.busy = false;
      return;
    }
    this.busy = true;
    this.#timer = setTimeout(() => void this.#ask(tried), WAIT_MS);
  }

  async #ask(tried: Tried): Promise<void> {
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const found: Ghost[] = [];
      let after: number | null = null;
      for (;;) {
        const body: Record<string, unknown> = { policy: null, set: wire(tried), after, limit: PAGE, brief: true };
        const page: BriefPage = await post<BriefPage>(path`/v1/sessions/${this.#model.id}/replay`, body, asking.signal);
        found.push(...page.items.map(plain));
        this.ghosts = new Ghosts(this.#model.timeline, found);
        this.summary = page.summary;
        if (page.next === null) break;
        after = page.next;
      }
      this.trouble = null;
    } catch (error) {
      const said = words(error);
      if (said === null) return;
      this.trouble = said;
      this.ghosts = null;
    }
    if (this.#asking === asking) this.busy = false;
  }
}

/** Brief answers hold the word, full ones the whole verdict. */
function plain(item: BriefPage["items"][number]): Ghost {
  if (typeof item.verdict !== "object" || item.verdict === null) {
    return { seq: item.seq, seen: item.seen, verdict: item.verdict, rule: item.rule ?? null, message: item.message ?? null };
  }
  const { verdict, rule, message } = item.verdict;
  return { seq: item.seq, seen: item.seen, verdict, rule, message };
}
