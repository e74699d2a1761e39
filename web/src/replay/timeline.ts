// A session's events as columns of small numbers. Fifty thousand of them must fit, scroll and draw,
// so what is not drawn (evidence, state) is left to be asked for when the cursor stands on it.
import { DECISIONS, type Decision, type LogRecord, type Observed } from "../api/shapes.ts";
import { eventText, toolName } from "../text/events.ts";

export const LANES = ["Calls", "Results", "Messages in", "Messages out", "Orders, usage"] as const;
export const LANE = { calls: 0, results: 1, incoming: 2, outgoing: 3, other: 4 } as const;

/** The same call, or the same words to the same receiver, again and again. */
export interface Group {
  name: string;
  members: number[];
}

const NONE = -1;
const ORDERS = ["kill", "reset", "approve", "decline"];

export class Timeline {
  readonly session: string;
  readonly seq: number[] = [];
  readonly at: number[] = [];
  readonly lane: number[] = [];
  /** The place in DECISIONS. */
  readonly verdict: number[] = [];
  readonly group: number[] = [];
  readonly failed: boolean[] = [];
  /** The log holds its payload. */
  readonly captured: boolean[] = [];
  readonly groups: Group[] = [];

  #label: string[] = [];
  #rule: (string | null)[] = [];
  #shadow: (string | null)[] = [];
  #type: string[] = [];
  #flow: (string | null)[] = [];
  #groupByKey = new Map<string, number>();
  #words = new Map<string, string>();
  #groupOfCall = new Map<string, number>();
  #readOnlyFlows = new Set<string>();
  #alarms: number[] = [];

  constructor(session: string) {
    this.session = session;
  }

  get length(): number {
    return this.seq.length;
  }

  get lastSeq(): number {
    return this.seq.at(-1) ?? 0;
  }

  /** Takes what is newer than what it has, in order. */
  append(records: LogRecord[]): number {
    let taken = 0;
    for (const record of records) {
      const { event, verdict } = record;
      if (!event || !verdict || record.seq <= this.lastSeq || !this.#concerns(event)) continue;
      this.#take(record, event, verdict.verdict);
      this.#rule.push(verdict.rule === null ? null : this.#kept(verdict.rule));
      this.#shadow.push(verdict.would ? this.#kept(verdict.would.rule) : null);
      const flow = verdict.flow ?? event.flow ?? null;
      this.#flow.push(flow === null ? null : this.#kept(flow));
      if (flow) this.#readOnlyFlows.add(flow);
      taken += 1;
    }
    return taken;
  }

  #concerns(event: Observed): boolean {
    return event.session === this.session || event.from === this.session || event.to === this.session;
  }

  #take(record: LogRecord, event: Observed, decision: Decision): void {
    const n = this.seq.length;
    this.seq.push(record.seq);
    this.at.push(record.at);
    this.#type.push(event.type);
    this.lane.push(this.#laneOf(event));
    this.verdict.push(DECISIONS.indexOf(decision));
    this.failed.push(event.outcome?.is_error === true);
    this.captured.push(record.captured !== undefined && record.captured !== null);
    const group = this.#relate(event, n);
    this.group.push(group);
    if (decision !== "allow") this.#alarms.push(n);
    const own = event.type === "step" && !event.approach && group !== NONE ? ` of ${this.groups[group]?.name ?? ""}` : "";
    this.#label.push(this.#kept(eventText(event).replace(/^(result|error)/, `$1${own}`)));
  }

  #laneOf(event: Observed): number {
    if (event.type === "call") return LANE.calls;
    if (event.type === "step") return LANE.results;
    if (event.type === "message") return event.from === this.session ? LANE.outgoing : LANE.incoming;
    return LANE.other;
  }

  /** Ties equal calls together, and a result to its call. */
  #relate(event: Observed, n: number): number {
    const id = event.id ?? event.use_id;
    if (event.type === "call" && event.approach) {
      const group = this.#grouped(`call ${event.approach.exact}`, callName(event), n);
      if (id) this.#groupOfCall.set(id, group);
      return group;
    }
    if (event.type === "message" && event.content) {
      return this.#grouped(`words ${event.from ?? ""} ${event.to} ${event.content}`, `the same words to ${event.to}`, n);
    }
    if (event.type !== "step" || !event.outcome) return NONE;
    const called = id ? this.#groupOfCall.get(id) : undefined;
    if (id) this.#groupOfCall.delete(id);
    if (called !== undefined) return called;
    return event.approach ? this.#grouped(`call ${event.approach.exact}`, toolName(event), n) : NONE;
  }

  #grouped(key: string, name: string, n: number): number {
    let group = this.#groupByKey.get(key);
    if (group === undefined) {
      group = this.groups.length;
      this.#groupByKey.set(key, group);
      this.groups.push({ name: this.#kept(name), members: [] });
    }
    this.groups[group]?.members.push(n);
    return group;
  }

  /** One string for all that are equal. */
  #kept(text: string): string {
    const short = text.length > 300 ? `${text.slice(0, 300)}…` : text;
    const known = this.#words.get(short);
    if (known !== undefined) return known;
    this.#words.set(short, short);
    return short;
  }

  decision(n: number): Decision {
    return DECISIONS[this.verdict[n] ?? 0] ?? "allow";
  }
  label(n: number): string {
    return this.#label[n] ?? "";
  }
  rule(n: number): string | null {
    return this.#rule[n] ?? null;
  }
  shadow(n: number): string | null {
    return this.#shadow[n] ?? null;
  }
  type(n: number): string {
    return this.#type[n] ?? "";
  }
  flow(n: number): string | null {
    return this.#flow[n] ?? null;
  }
  get flows(): string[] {
    return [...this.#readOnlyFlows];
  }
  /** Everything above allow. */
  get alarms(): readonly number[] {
    return this.#alarms;
  }

  /** The event with this number in the log, else the last one before it. */
  indexOf(seq: number): number {
    let low = 0;
    let high = this.seq.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.seq[middle] ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** The groups that repeat most, most often first. */
  loops(most: number, least = 3): { group: number; name: string; count: number }[] {
    return this.groups
      .map((group, n) => ({ group: n, name: group.name, count: group.members.length }))
      .filter((loop) => loop.count >= least)
      .sort((a, b) => b.count - a.count || a.group - b.group)
      .slice(0, most);
  }

  /** The alarm after or before a place. */
  alarm(from: number, direction: 1 | -1): number | null {
    const found = direction > 0 ? this.#alarms.find((n) => n > from) : this.#alarms.findLast((n) => n < from);
    return found ?? null;
  }

  /** The block or kill of this moment, by a rule or by hand. */
  stopAt(at: number): number | null {
    const n = this.at.lastIndexOf(at);
    for (let m = n; m >= 0 && this.at[m] === at; m -= 1) {
      if (this.#type[m] === "kill" || this.decision(m) === "block" || this.decision(m) === "kill") return m;
    }
    return null;
  }

  /** The same call after or before a place. */
  again(from: number, direction: 1 | -1): number | null {
    const members = this.groups[this.group[from] ?? NONE]?.members ?? [];
    const found = direction > 0 ? members.find((n) => n > from) : members.findLast((n) => n < from);
    return found ?? null;
  }

  /** Whether the session itself does it; a message to it and an operator's order are somebody else's. */
  acts(n: number): boolean {
    return this.lane[n] !== LANE.incoming && !ORDERS.includes(this.type(n));
  }

  /** How often this was done up to here, and in all. */
  repetition(n: number): { nth: number; of: number } | null {
    const members = this.groups[this.group[n] ?? NONE]?.members;
    const place = members?.indexOf(n) ?? NONE;
    return members && place >= 0 && members.length > 1 ? { nth: place + 1, of: members.length } : null;
  }
}

function callName(event: Observed): string {
  return eventText(event).replace(/^calls /, "");
}
