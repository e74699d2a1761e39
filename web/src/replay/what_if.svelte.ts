// "What would these limits have done?": the server folds the same events under other limits.
import { get, post, words } from "../api/client.ts";
import type { PolicyInForce, Trial } from "../api/shapes.ts";
import { readValues, withValues } from "../policy/toml_text.ts";
import { limitsOf, type Limit } from "../text/rules.ts";
import { WhatIfOverlay } from "./what_if_overlay.ts";
import type { ReplayModel } from "./model.svelte.ts";
import { valueInForce, wire, type TrialLimits } from "./trial_limits.ts";

const WAIT_MS = 150;
const MOST_SLIDERS = 8;

export interface Slider extends Limit {
  rule: string;
  inForce: number;
}

export class WhatIf {
  overlay = $state.raw<WhatIfOverlay | null>(null);
  trouble = $state<string | null>(null);
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
    const full = [...(states.item(cursor)?.state?.gauges ?? []), ...(detail?.gauges ?? [])];
    full.sort((a, b) => b.used / Math.max(1, b.limit) - a.used / Math.max(1, a.limit));
    const rules = new Set([...fired, ...full.map((gauge) => gauge.rule)].filter((rule) => rule !== null));
    const { values } = readValues(this.policy?.text ?? "");
    return [...rules]
      .flatMap((rule) => limitsOf(rule).map((limit) => ({ ...limit, rule, inForce: valueInForce(values, limit.key) })))
      .filter((slider): slider is Slider => slider.inForce !== null)
      .slice(0, MOST_SLIDERS);
  }

  try(limits: TrialLimits): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    this.trouble = null;
    if (Object.keys(limits).length === 0) this.overlay = null;
    else this.#timer = setTimeout(() => void this.#ask(limits), WAIT_MS);
  }

  async #ask(limits: TrialLimits): Promise<void> {
    await this.learn();
    if (!this.policy) return;
    const asking = new AbortController();
    this.#asking = asking;
    const text = withValues(this.policy.text, wire(limits));
    try {
      const trial = await post<Trial>("/v1/policy/try", { text, session: this.#model.id }, asking.signal);
      await this.#model.loaded;
      this.overlay = new WhatIfOverlay(this.#model.timeline, trial);
    } catch (error) {
      const said = words(error);
      if (said === null) return;
      this.trouble = said;
      this.overlay = null;
    }
  }
}
