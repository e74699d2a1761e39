// What the server answers: the generated types, and what its document leaves open. Times are milliseconds since the
// epoch.
import type * as api from "./generated.ts";

export { DECISIONS } from "./generated.ts";
export type {
  Approval,
  Decision,
  Flow,
  FlowCall,
  Gauge,
  LogStatus,
  Mark,
  RuleState,
  SessionDetail,
  SessionItem,
  Spent,
  StepProgress,
  Verdict,
  Would,
} from "./generated.ts";
export type Approvals = api.ApprovalsResponse;
export type Change = api.ChangedVerdict;
export type Counts = api.VerdictTotals;
export type Defaults = api.PolicyDefaults;
export type EventType = api.Event["type"];
export type Evidence = Record<string, unknown>;
export type FlowSession = api.FlowNode;
export type Panic = api.PanicState;
export type Pause = api.PauseState;
export type PolicyError = api.PolicyMistake;
export type PolicyInForce = api.PolicyResponse;
export type Proof = api.LogVerification;
export type SessionState = api.Standing;
export type StatsAnswer = api.StatsResponse;
export type Trial = api.TryPolicyResponse;

type Decision = api.Decision;
export const REFUSALS: readonly Decision[] = ["ask", "deny", "block", "kill"];

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

/** The document leaves the event and the note open, because each kind has fields of its own. */
export type LogRecord = Omit<api.LogRecord, "event" | "note"> & { event?: Observed; note?: Noted };

export type Seen = "judged" | "saved" | "skipped" | "unknown" | "noted" | "error";

export type ReplayItem = Omit<api.ReplayItem, "event" | "seen"> & { event: Observed | null; seen: Seen };

export type ReplayPage = Omit<api.ReplayPage, "items"> & { items: ReplayItem[] };

/** A page of a search; `scanned` records were looked at for it. */
export type SearchPage = Omit<api.SearchPage, "items"> & Page<LogRecord, number>;

export type PolicyChange = Omit<api.PolicyChange, "note"> & {
  note: { note: string; from?: string; source?: string; by?: string; why?: string };
};

export interface Page<T, C = string> {
  items: T[];
  next: C | null;
  total?: number;
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
