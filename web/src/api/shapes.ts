// What the server answers, as its OpenAPI document says it. Times are milliseconds since the epoch.

export type Decision = "allow" | "warn" | "ask" | "deny" | "block" | "kill";
export const DECISIONS: readonly Decision[] = ["allow", "warn", "ask", "deny", "block", "kill"];
export const REFUSALS: readonly Decision[] = ["ask", "deny", "block", "kill"];

export type SessionState = "active" | "blocked" | "killed";
export type EventType =
  | "message"
  | "call"
  | "step"
  | "usage"
  | "kill"
  | "reset"
  | "approve"
  | "decline"
  | "output"
  | "dispatch_start"
  | "dispatch_end";

export type Evidence = Record<string, unknown>;

export interface Would {
  verdict: Decision;
  rule: string;
  message: string;
  evidence: Evidence;
}

export interface Verdict {
  verdict: Decision;
  rule: string | null;
  code: string | null;
  message: string | null;
  evidence: Evidence | null;
  hint: string | null;
  also: string[];
  would: Would | null;
  flow: string | null;
  depth: number | null;
  generation: number;
  retry_after_ms: number | null;
}

export interface Approach {
  server?: string;
  tool?: string;
  exact: string;
  normal: string;
  kind?: string;
  fields?: { name: string; digest: string; text?: string }[];
  oversized?: boolean;
}

export interface Outcome {
  exact: string;
  normal: string;
  is_error?: boolean;
  tone?: string;
  oversized?: boolean;
}

/** An event after digestion: every kind's fields, those of other kinds left out. */
export interface Observed {
  type: EventType;
  session?: string;
  from?: string;
  to?: string;
  source?: string;
  agent?: string;
  to_agent?: string;
  flow?: string;
  conversation?: string;
  content?: string;
  kind?: string;
  id?: string;
  use_id?: string;
  approach?: Approach;
  outcome?: Outcome;
  tokens?: number;
  cost_micros?: number;
  by?: string;
  why?: string;
  generation?: number;
  effects?: Effect[];
}

/** One thing that a call destroys. */
export interface Effect {
  verb: "delete" | "reset" | "drop" | "destroy" | "format";
  reach: "scratch" | "workspace" | "outside" | "shared" | "sweeping";
  by: string;
  text?: string;
}

export interface Noted {
  note: string;
  [field: string]: unknown;
}

export interface LogRecord {
  seq: number;
  at: number;
  event?: Observed;
  /** Who sent the event, if the guard could tell. */
  sender?: { role: string; name?: string };
  note?: Noted;
  verdict?: Verdict;
  captured?: unknown;
  policy: string;
  rules_version: number;
  prev: string;
  hash: string;
}

export interface Gauge {
  rule: string;
  of: string;
  used: number;
  limit: number;
}

export interface Mark {
  at: number;
  rule: string | null;
  why: string;
  by: string | null;
}

export interface RuleState {
  session: string | null;
  agent: string | null;
  generation: number;
  killed: Mark | null;
  blocked: Mark | null;
  killed_above: boolean;
  pending: number;
  dispatches: string[];
  stack: string[];
  gauges: Gauge[];
  /** What the session with its sub-agents, its flow and its agent's day have spent; left out if nothing. */
  spent?: Spent[];
}

export interface Spent {
  of: 'session' | 'flow' | 'agent_day';
  tokens: number;
  cache_read_tokens: number;
  cost_micros: number;
  unpriced_tokens: number;
  /** The one without a name stands for all other models. */
  models: { model: string | null; tokens: number; cost_micros: number }[];
}

export interface SessionItem {
  id: string;
  agent: string | null;
  state: SessionState;
  would: SessionState | null;
  generation: number;
  touched: number;
  events: number;
  refused: number;
  tokens: number;
  cost_usd: number;
  last_rule: string | null;
  mark: Mark | null;
  gauges: Gauge[];
}

export interface SessionDetail extends SessionItem {
  parents: string[];
  rules: RuleState;
}

export interface Page<T, C = string> {
  items: T[];
  next: C | null;
  total?: number;
}

/** A call that waits for a person. */
export interface Approval {
  approval: string;
  session: string;
  state: "open" | "approved" | "declined" | "over";
  agent: string | null;
  rule: string | null;
  /** The call, in words. */
  call: string | null;
  why: string | null;
  commands: string[];
  root: string | null;
  asked_at: number | null;
  expires_at: number | null;
  seq: number | null;
}

export interface Approvals {
  approvals: Approval[];
}

/** A page of a search; `scanned` records were looked at for it. */
export interface SearchPage extends Page<LogRecord, number> {
  scanned: number;
}

export type Seen = "judged" | "saved" | "skipped" | "unknown" | "noted" | "error";

export interface ReplayItem {
  seq: number;
  at: number;
  event: Observed | null;
  recorded: Verdict | null;
  seen: Seen;
  verdict: Verdict | null;
  unknown: boolean;
  error: string | null;
  state: RuleState | null;
}

export interface ReplayPage {
  items: ReplayItem[];
  next: number | null;
  /** How many records were folded. */
  folded: number;
  /** There are more than one replay folds. */
  cut: boolean;
}

export interface FlowSession {
  session: string;
  agent: string | null;
  parent: string | null;
  sent: number;
  received: number;
  refused: number;
  returns: number;
  calls: number;
  state: SessionState | null;
}

export interface FlowCall {
  seq: number;
  at: number;
  from: string | null;
  to: string;
  kind: "say" | "spawn" | "return";
  depth: number | null;
  is_return: boolean;
  verdict: Decision;
  rule: string | null;
  message: string | null;
  stack: string[];
  chain: number;
}

export interface Flow {
  flow: string;
  started: number;
  touched: number;
  sessions: FlowSession[];
  calls: FlowCall[];
  cut: boolean;
}

export interface PolicyError {
  key: string | null;
  line: number | null;
  column: number | null;
  message: string;
}

export interface Panic {
  panic: boolean;
  by: string | null;
  why: string | null;
}

export interface Pause {
  paused: boolean;
  until: number | null;
  by: string | null;
  why: string | null;
}

export interface PolicyInForce {
  digest: string;
  /** Everything, defaults included. */
  text: string;
  /** The file as it was written. */
  file_text: string | null;
  file: string | null;
  pause: Pause;
}

export interface Defaults {
  text: string;
  rules: { id: string; keys: string[]; verdicts: Decision[]; why: string; trips: string; resets: string; tune: string; odd: string[] }[];
}

export interface PolicyChange {
  at: number;
  seq: number;
  digest: string;
  note: { note: string; from?: string; source?: string; by?: string; why?: string };
}

export interface Counts {
  events: number;
  verdicts: Partial<Record<Decision, number>>;
  rules: Record<string, number>;
  stopped: string[];
}

export interface Change {
  seq: number;
  at: number;
  session: string;
  type: string;
  object: string | null;
  was: Decision | null;
  was_rule: string | null;
  /** None where it would not have happened. */
  would: Decision | null;
  would_rule: string | null;
  message: string | null;
}

export interface Trial {
  was: Counts;
  would: Counts;
  saved: number;
  unknown: number;
  changes: Change[];
  changed: number;
  folded: number;
  approximate: boolean;
}

export interface LogStatus {
  store: string;
  first: number;
  last: number;
  hash: string;
  pending: number;
  degraded: string | null;
}

export interface Proof {
  sound: boolean;
  first: number;
  last: number;
  recomputed: number;
  notes: number;
  not_recomputed: number;
  bad: string | null;
}

/** The counts of the server over time. */
export interface StatsAnswer {
  now: number;
  /** Seconds. */
  step: number;
  complete_since: number | null;
  rebuilt: boolean;
  buckets: {
    at: number;
    verdicts: Record<Decision, number>;
    events: Record<string, number>;
    enforced: Record<string, number>;
    shadow: Record<string, number>;
  }[];
}

export interface Bucket {
  at: number;
  verdicts: Partial<Record<Decision, number>>;
  rules: Record<string, number>;
  shadow: Record<string, number>;
  events: Record<string, number>;
}

/** The history that charts are drawn from, kept up by the stream. */
export interface Stats {
  step_ms: number;
  from: number;
  to: number;
  buckets: Bucket[];
}
