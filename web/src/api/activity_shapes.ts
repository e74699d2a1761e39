// What the server answers about many sessions at once. Times are milliseconds since the epoch.
import type { Decision, SessionState } from "./shapes.ts";

/** How far back the numbers reach. */
export interface Reach {
  /** From when on nothing is missing; null if nothing is missing at all. */
  complete_since: number | null;
  /** Whether the log from before the start was read. */
  ready: boolean;
}

export interface Spend {
  requests: number;
  tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cost_usd: number;
}

export interface Stop {
  seq: number;
  at: number;
  session: string;
  agent: string | null;
  flow: string | null;
  rule: string;
  verdict: Decision;
  shadow: boolean;
  message: string;
  spent: Spend;
}

export interface StopGroup {
  group: string;
  newest: Stop;
  count: number;
  sessions: number;
  still_stopped: number;
  first: number;
  last: number;
  spent: Spend;
  wrong: number;
}

export interface StopPage extends Reach {
  items: StopGroup[];
  total: number;
  stops: number;
}

export interface MarkedStop extends Stop {
  wrong: boolean;
  state: SessionState | null;
}

export interface StopGroupDetail extends StopGroup {
  items: MarkedStop[];
}

export interface BulkAnswer {
  done: string[];
  failed: { session: string; why: string }[];
  left: number;
  by: string;
}

export interface SpendRow {
  name: string | null;
  spend: Spend;
  sessions: number;
}

export interface SpendPage extends Reach {
  total: Spend;
  /** What sessions had spent when a rule stopped them. */
  stopped: Spend;
  items: SpendRow[];
  rows: number;
  times: SpendRow[];
  /** Seconds. */
  step: number;
}

export interface AgentTotals {
  agent: string | null;
  sessions: number;
  events: number;
  warned: number;
  refused: number;
  last: number;
  spend: Spend;
  stops: Record<string, number>;
  wrong: number;
}

export interface AgentPage extends Reach {
  items: AgentTotals[];
  total: number;
}

export interface AgentDetail extends AgentTotals {
  groups: StopGroup[];
  days: SpendRow[];
  models: SpendRow[];
  overrides: string[];
}

export interface FlowRow {
  flow: string;
  started: number;
  touched: number;
  root: string | null;
  agent: string | null;
  sessions: number;
  messages: number;
  calls: number;
  refused: number;
  depth: number;
  spend: Spend;
}

export interface FlowPage extends Reach {
  items: FlowRow[];
  total: number;
}

export interface CaseDetail {
  case: string;
  seq: number;
  session: string;
  agent: string | null;
  rule: string;
  by: string;
  why: string;
  records: number;
  passes: boolean;
  message_now: string | null;
  proposal: { changes: { key: string; old: string | null; value: string; command: string }[]; snippet: string; text: string } | null;
  was_reset: boolean;
}

export interface Notifications {
  channels: { channel: "webhook" | "command"; to: string }[];
  attempts: { at: number; channel: string; seq: number; text: string; result: "sent" | "failed" | "dropped"; why: string | null }[];
}
