// What the server answers, as its OpenAPI document says it. Times are milliseconds since the epoch.

export type Decision = "allow" | "warn" | "deny" | "block" | "kill";
export const DECISIONS: readonly Decision[] = ["allow", "warn", "deny", "block", "kill"];
export const REFUSALS: readonly Decision[] = ["deny", "block", "kill"];

export type SessionState = "active" | "blocked" | "killed";
export type EventType =
  | "message"
  | "call"
  | "step"
  | "usage"
  | "kill"
  | "reset"
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
}

export interface Noted {
  note: string;
  [field: string]: unknown;
}

export interface LogRecord {
  seq: number;
  at: number;
  event?: Observed;
  note?: Noted;
  verdict?: Verdict;
  captured?: unknown;
  policy: string;
  rules_version: number;
  prev: string;
  hash: string;
  line?: string | null;
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
}

export interface SessionItem {
  id: string;
  agent: string | null;
  state: SessionState;
  generation: number;
  touched: number;
  events: number;
  refused: number;
  last_rule: string | null;
  reason: string | null;
  streaks?: Record<string, number>;
  gauges?: Gauge[];
  budget: { used: number; limit: number } | null;
}

export interface SessionDetail {
  summary: SessionItem;
  mark: { rule: string | null; message?: string; at: number; by: string | null; why: string | null } | null;
  state: RuleState;
}

export interface Page<T, C = string> {
  items: T[];
  next: C | null;
  total?: number;
}

export type Seen = "judged" | "saved" | "skipped" | "unknown" | "noted" | "error";

export interface ReplayItem {
  seq: number;
  at: number;
  type: string;
  session: string | null;
  object: string | null;
  event: Observed | null;
  recorded: Verdict | null;
  seen: Seen;
  verdict: Verdict | null;
  unknown: boolean;
  state: RuleState | null;
  captured?: unknown;
}

export interface Tally {
  events: number;
  verdicts: Partial<Record<Decision, number>>;
  rules: Record<string, number>;
  stopped: string[];
  saved: number;
  unknown: number;
  different: number;
  errors: number;
}

export interface ReplayPage {
  items: ReplayItem[];
  next: number | null;
  summary: Tally;
}

export interface FlowSession {
  id: string;
  agent: string | null;
  parent: string | null;
  depth: number;
  state: SessionState;
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
}

export interface Flow {
  id: string;
  started_by: { source: string; at: number } | null;
  age_ms: number;
  calls: number;
  depth_max: number;
  sessions: FlowSession[];
  calls_list: FlowCall[];
  next: number | null;
}

export interface PolicyError {
  key: string | null;
  line: number | null;
  column: number | null;
  message: string;
}

export interface EffectiveValue {
  value: unknown;
  default: unknown;
  set: boolean;
}

export interface PolicyInForce {
  toml: string;
  digest: string;
  source: string | null;
  paused_until: number | null;
  effective: Record<string, EffectiveValue>;
  overrides: Record<string, unknown>[];
  rules: { id: string; mode: string; default_mode: string; summary: string }[];
}

export interface PolicyChange {
  at: number;
  seq: number;
  digest: string;
  from: string | null;
  by: string | null;
  why: string | null;
  source: string | null;
}

export interface Change {
  seq: number;
  at: number;
  session: string;
  type: string;
  object: string | null;
  from: { verdict: Decision; rule: string | null };
  to: { verdict: Decision; rule: string | null; message: string | null } | "saved";
}

export interface Trial {
  as_recorded: Tally;
  would: Tally;
  changes: Change[];
  more: number;
  events: number;
  truncated: boolean;
}

export interface LogStatus {
  first_seq: number | null;
  last_seq: number;
  last_hash: string;
  records: number;
  pending: number;
  verified: { ok: boolean; records: number; at: number; problem?: string | null } | null;
}

export interface Bucket {
  at: number;
  verdicts: Partial<Record<Decision, number>>;
  rules: Record<string, number>;
  shadow: Record<string, number>;
  events: Record<string, number>;
}

export interface Stats {
  step_ms: number;
  from: number;
  to: number;
  buckets: Bucket[];
  sessions: Record<SessionState, number>;
}

export interface Me {
  role: "agent" | "hook" | "relay" | "operator";
  name: string | null;
}

export interface Info {
  version: string;
  store: string;
  uptime_ms: number;
  paused_until: number | null;
  demo?: boolean;
}
