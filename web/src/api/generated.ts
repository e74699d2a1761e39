// What the server publishes: the types of its OpenAPI document, the rules, the keys of policies. Written by
// `make shapes`; `make test` fails if it is not what would be written now.

export const RULES = [
  "session.killed",
  "session.panic",
  "access.denied",
  "access.self",
  "session.blocked",
  "flow.correlation",
  "flow.self_call",
  "flow.depth",
  "flow.sessions",
  "flow.duration",
  "flow.rate",
  "flow.total",
  "flow.revisits",
  "flow.spawns",
  "flow.chatter",
  "flow.echo",
  "flow.unattended",
  "inbox.rate",
  "conversation.length",
  "call.identical",
  "call.repeat",
  "destructive.sweeping",
  "destructive.volume",
  "destructive.target",
  "session.defiance",
  "session.rerun",
  "progress.stagnation",
  "progress.stuck",
  "progress.recurrence",
  "progress.churn",
  "progress.probe",
  "output.chant",
  "output.repeat",
  "budget.actions",
  "budget.tokens",
  "budget.cost",
  "budget.time",
] as const;
export type RuleName = (typeof RULES)[number];

export const DECISIONS = [
  "allow",
  "warn",
  "ask",
  "deny",
  "block",
  "kill",
] as const;
export type DecisionName = (typeof DECISIONS)[number];

export const POLICY_KEYS = [
  "flow.max_depth",
  "flow.max_sessions",
  "flow.max_duration",
  "flow.max_calls_per_minute",
  "flow.max_calls",
  "flow.max_revisits",
  "flow.chatter",
  "flow.echo.warn",
  "flow.echo.deny",
  "flow.max_unattended",
  "flow.spawns.warn",
  "flow.spawns.deny",
  "flow.spawns.root_warn",
  "flow.spawns.root_deny",
  "flow.spawns.per_minute",
  "inbox.max_messages_per_minute",
  "inbox.scope",
  "conversation.max_messages",
  "access.allow",
  "access.deny",
  "call.max_identical",
  "call.window",
  "call.repeat",
  "destructive.tools",
  "destructive.targets",
  "destructive.max_calls",
  "destructive.max_same_target",
  "destructive.window",
  "destructive.scope",
  "destructive.trust_hints",
  "destructive.scratch",
  "destructive.protected",
  "destructive.allow",
  "session.max_refused",
  "session.human_unblocks",
  "session.rerun",
  "progress.classifier",
  "progress.stagnation.warn",
  "progress.stagnation.block",
  "progress.stuck.warn",
  "progress.stuck.block",
  "progress.empty.warn",
  "progress.empty.block",
  "progress.recurrence.warn",
  "progress.recurrence.block",
  "progress.churn.warn",
  "progress.churn.block",
  "progress.probe.warn",
  "progress.probe.block",
  "output.chant",
  "output.repeat.warn",
  "output.repeat.block",
  "budget.actions",
  "budget.strict",
  "budget.tokens.session",
  "budget.tokens.flow",
  "budget.tokens.agent_day",
  "budget.cost_usd.session",
  "budget.cost_usd.flow",
  "budget.cost_usd.agent_day",
  "budget.time.session",
  "budget.time.flow",
  "budget.time.agent_day",
  "ask.expires",
] as const;
export type PolicyKey = (typeof POLICY_KEYS)[number];

export type AgentDetail = AgentTotals & { days: SpendRow[]; groups: StopGroup[]; models: SpendRow[]; overrides: string[]; };

export interface AgentPage {
  complete_since: number | null;
  items: AgentTotals[];
  ready: boolean;
  total: number;
}

export interface AgentTotals {
  agent: string | null;
  events: number;
  last: number;
  refused: number;
  sessions: number;
  spend: Spend;
  stops: Record<string, number>;
  warned: number;
  wrong: number;
}

export type Answer = "approve" | "decline";

export interface AnswerEvent {
  approval: Id;
  by?: string | null;
  scope?: ApprovalScope | null;
  session: Id;
  why?: string | null;
}

export interface AnswerRequest {
  answer: Answer;
  by?: string | null;
  scope?: ApprovalScope | null;
  why?: string | null;
}

export interface Approval {
  agent: string | null;
  approval: string;
  asked_at: number | null;
  by: string | null;
  call: string | null;
  commands: string[];
  expires_at: number | null;
  root: string | null;
  rule: string | null;
  said: string | null;
  seq: number | null;
  session: string;
  state: string;
  why: string | null;
}

export type ApprovalScope = "once" | "session" | "project" | "agent";

export interface ApprovalsResponse {
  approvals: Approval[];
}

export interface Attempt {
  at: number;
  channel: string;
  result: string;
  seq: number;
  text: string;
  why: string | null;
}

export interface BatchError {
  error: LineError;
}

export type BatchLine = Verdict | BatchError;

export interface BucketCounts {
  at: number;
  enforced: Record<string, number>;
  events: EventCounts;
  sessions?: SessionCounts | null;
  shadow: Record<string, number>;
  verdicts: VerdictCounts;
}

export type BulkOrder = "kill" | "reset";

export interface BulkOrderRequest {
  by?: string | null;
  group?: string;
  order: BulkOrder;
  sessions?: string[];
  why: string;
}

export interface BulkOrderResponse {
  by: string;
  done: string[];
  failed: OrderFailure[];
  left: number;
}

export interface Call {
  agent?: Id | null;
  args?: unknown;
  cwd?: string | null;
  dialog?: boolean | null;
  flow?: Id | null;
  generation?: number | null;
  hints?: Hints | null;
  id?: Id | null;
  identity?: Identity | null;
  root?: string | null;
  server?: Id | null;
  session: Id;
  tool: Id;
  turn?: string | null;
  use_id?: Id | null;
  via?: Via | null;
}

export interface CalmResult {
  ended: boolean;
  panic: boolean;
}

export interface CaseChange {
  command: string;
  key: string;
  old: string | null;
  value: string;
}

export type CaseDetail = CaseItem & { message_now: string | null; passes: boolean; proposal: CaseProposal | null; records: number; was_reset: boolean; };

export interface CaseItem {
  agent: string | null;
  at: number;
  by: string;
  case: string;
  cut: boolean;
  marked: number;
  message: string;
  rule: string;
  seq: number;
  session: string;
  verdict: Decision;
  why: string;
}

export interface CaseList {
  items: CaseItem[];
}

export interface CaseProposal {
  changes: CaseChange[];
  snippet: string;
  text: string;
}

export interface ChangedVerdict {
  at: number;
  message: string | null;
  object: string | null;
  seq: number;
  session: string;
  type: string;
  was: Decision | null;
  was_rule: string | null;
  would: Decision | null;
  would_rule: string | null;
}

export type Code = "session_killed_loop_guard" | "session_blocked_loop_guard" | "session_stale_generation" | "approval_required" | "session_limit" | "panic";

export type Decision = "allow" | "warn" | "ask" | "deny" | "block" | "kill";

export interface Dispatch {
  flow?: Id | null;
  session: Id;
}

export interface EditedPolicy {
  text: string;
}

export type Event = Message & { type: "message"; } | Call & { type: "call"; } | Step & { type: "step"; } | Usage & { type: "usage"; } | Output & { type: "output"; } | Order & { type: "kill"; } | Order & { type: "reset"; } | Dispatch & { type: "dispatch_start"; } | Dispatch & { type: "dispatch_end"; } | AnswerEvent & { type: "approve"; } | AnswerEvent & { type: "decline"; };

export interface EventCounts {
  approve: number;
  call: number;
  decline: number;
  dispatch_end: number;
  dispatch_start: number;
  kill: number;
  message: number;
  output: number;
  reset: number;
  step: number;
  usage: number;
}

export interface FirstStop {
  saved: number;
  seq: number;
  until: number | null;
}

export interface Flow {
  calls: FlowCall[];
  cut: boolean;
  flow: string;
  sessions: FlowNode[];
  started: number;
  touched: number;
}

export interface FlowCall {
  at: number;
  chain: number;
  depth: number | null;
  from: string | null;
  is_return: boolean;
  kind: string;
  message: string | null;
  rule: string | null;
  seq: number;
  stack: string[];
  to: string;
  verdict: Decision;
}

export interface FlowNode {
  agent: string | null;
  calls: number;
  parent: string | null;
  received: number;
  refused: number;
  returns: number;
  sent: number;
  session: string;
  state: Standing | null;
}

export interface FlowPage {
  complete_since: number | null;
  items: FlowRow[];
  ready: boolean;
  total: number;
}

export interface FlowRow {
  agent: string | null;
  calls: number;
  depth: number;
  flow: string;
  messages: number;
  refused: number;
  root: string | null;
  sessions: number;
  spend: Spend;
  started: number;
  touched: number;
}

export interface Gauge {
  limit: number;
  of: string;
  rule: string;
  used: number;
}

export interface GuardrailAnswer {
  action: string;
  blocked_reason?: string | null;
  structured_messages?: unknown[] | null;
}

export interface Health {
  status: string;
  version: string;
}

export interface Hints {
  destructive?: boolean | null;
  idempotent?: boolean | null;
  read_only?: boolean | null;
}

export type Id = string;

export type Identity = "exact" | "shared";

export interface LineError {
  line: number;
  message: string;
  status: number;
}

export interface LinkRequest {
  answer?: Answer | null;
  secret: string;
}

export interface LogStatus {
  degraded: string | null;
  first: number;
  hash: string;
  last: number;
  others: number;
  pending: number;
  sessions: number;
  store: string;
}

export interface LogVerification {
  bad: string | null;
  checkpoint: number | null;
  first: number;
  last: number;
  not_recomputed: number;
  notes: number;
  recomputed: number;
  sound: boolean;
}

export interface Login {
  code?: string;
  token?: string;
}

export interface LoginAnswer {
  expires: number;
  name: string;
  token: string;
}

export interface LoginLink {
  code: string;
  expires: number;
  link: string;
}

export interface Mark {
  at: number;
  by: string | null;
  rule: string | null;
  why: string;
}

export interface MarkRequest {
  by?: string | null;
  reset?: boolean;
  seq: number;
  session: string;
  why: string;
}

export type MarkedStop = Stop & { state: Standing | null; wrong: boolean; };

export interface Me {
  name: string;
  person: string | null;
  role: string;
  store: string;
  version: string;
}

export interface Message {
  agent?: Id | null;
  content?: unknown;
  conversation?: Id | null;
  flow?: Id | null;
  from?: Id | null;
  generation?: number | null;
  identity?: Identity | null;
  kind?: MessageKind | null;
  source?: Source | null;
  to: Id;
  to_agent?: Id | null;
  unblock?: boolean | null;
  use_id?: Id | null;
}

export type MessageKind = "say" | "spawn" | "return";

export type MessageSource = "user" | "applet" | "scheduler" | "agent";

export interface Notifications {
  attempts: Attempt[];
  channels: NotifyChannel[];
}

export interface NotifyChannel {
  channel: string;
  to: string;
}

export interface NotifyTest {
  channels: string[];
}

export interface Order {
  by?: string | null;
  session: Id;
  why?: string | null;
}

export interface OrderFailure {
  session: string;
  why: string;
}

export interface OrderRequest {
  by?: string | null;
  why: string;
}

export interface OrderResponse {
  by: string;
  generation: number;
  session: string;
  state: string;
}

export interface Output {
  agent?: Id | null;
  flow?: Id | null;
  generation?: number | null;
  identity?: Identity | null;
  session: Id;
  text?: unknown;
}

export interface PanicOrder {
  by?: string | null;
  why: string;
}

export interface PanicState {
  by: string | null;
  panic: boolean;
  why: string | null;
}

export interface PauseOrder {
  by?: string | null;
  for: string;
  why?: string | null;
}

export interface PauseState {
  by: string | null;
  paused: boolean;
  until: number | null;
  why: string | null;
}

export interface PolicyChange {
  at: number;
  digest: string;
  note: Record<string, unknown>;
  seq: number;
}

export interface PolicyDefaults {
  rules: RuleText[];
  text: string;
}

export interface PolicyDigest {
  digest: string;
}

export interface PolicyDraft {
  text: string;
}

export interface PolicyEdit {
  agent?: string | null;
  key: string;
  session?: string | null;
  text: string;
  value: string;
}

export interface PolicyHistory {
  items: PolicyChange[];
  next: number | null;
}

export interface PolicyMistake {
  column: number | null;
  key: string;
  line: number | null;
  message: string;
}

export interface PolicyOrder {
  base?: string | null;
  by?: string | null;
  text: string;
  why: string;
}

export interface PolicyReplaced {
  changed: boolean;
  digest: string;
  from: string;
}

export interface PolicyResponse {
  digest: string;
  file: string | null;
  file_text: string | null;
  pause: PauseState;
  text: string;
}

export interface PolicyText {
  digest: string;
  text: string;
}

export interface Problem {
  column?: number;
  detail: string;
  errors?: PolicyMistake[];
  field?: string;
  line?: number;
  status: number;
  title: string;
  type: string;
}

export interface LogRecord {
  at: number;
  captured?: unknown;
  event?: Record<string, unknown>;
  hash: string;
  note?: Record<string, unknown>;
  policy: string;
  prev: string;
  rules_version: number;
  sender?: Sender;
  seq: number;
  verdict?: Verdict;
}

export interface RecordPage {
  items: LogRecord[];
  next: number | null;
}

export interface Refused {
  code: Code | null;
  detail: string;
  evidence: Record<string, unknown> | null;
  help?: string;
  hint?: string;
  retry_after_ms: number | null;
  rule: string | null;
  status: number;
  title: string;
  type: string;
  verdict: Decision;
}

export interface RelayMessage {
  agent?: string | null;
  conversationId?: string | null;
  correlationId?: string | null;
  fromAgent?: string | null;
  fromSession?: string | null;
  generation?: number | null;
  message?: unknown;
  prompt?: unknown;
  sessionId?: string | null;
  source?: MessageSource | null;
}

export interface ReplayItem {
  at: number;
  error: string | null;
  event: Record<string, unknown>;
  own: boolean;
  recorded: Verdict | null;
  seen: string;
  seq: number;
  state: RuleState | null;
  unknown: boolean;
  verdict: Verdict | null;
}

export interface ReplayPage {
  cut: boolean;
  folded: number;
  items: ReplayItem[];
  next: number | null;
  tally: ReplayTally;
}

export interface ReplayQuery {
  after?: number | null;
  all?: boolean | null;
  limit?: number | null;
  policy?: string | null;
}

export interface ReplayTally {
  different: number;
  errors: number;
  events: number;
  rules: Record<string, number>;
  saved: number;
  stopped: string[];
  unknown: number;
  verdicts: Record<string, number>;
}

export interface ResumeOrder {
  by?: string | null;
}

export interface ResumeResult {
  ended: boolean;
  paused: boolean;
}

export interface RuleState {
  agent: string | null;
  blocked: Mark | null;
  dispatches: string[];
  gauges: Gauge[];
  generation: number;
  killed: Mark | null;
  killed_above: boolean;
  pending: number;
  progress: StepProgress | null;
  session: string | null;
  spent?: Spent[] | null;
  stack: string[];
}

export interface RuleText {
  id: string;
  keys: string[];
  odd: string[];
  resets: string;
  trips: string;
  tune: string;
  verdicts: Decision[];
  why: string;
}

export interface SearchPage {
  items: LogRecord[];
  next: number | null;
  scanned: number;
}

export interface Sender {
  name?: string;
  role: string;
}

export interface SessionCounts {
  active: number;
  blocked: number;
  killed: number;
}

export type SessionDetail = SessionItem & { parents: string[]; rules: RuleState; };

export interface SessionItem {
  agent: string | null;
  cost_usd: number;
  events: number;
  gauges: Gauge[];
  generation: number;
  id: string;
  last_rule: string | null;
  mark: Mark | null;
  refused: number;
  state: Standing;
  tokens: number;
  touched: number;
  would: Standing | null;
}

export interface SessionPage {
  items: SessionItem[];
  next: string | null;
  total: number;
}

export type Source = "user" | "applet" | "scheduler";

export interface Spend {
  cache_read_tokens: number;
  cost_usd: number;
  output_tokens: number;
  requests: number;
  tokens: number;
}

export interface SpendPage {
  complete_since: number | null;
  items: SpendRow[];
  ready: boolean;
  rows: number;
  step: number;
  stopped: Spend;
  times: SpendRow[];
  total: Spend;
}

export interface SpendRow {
  name: string | null;
  sessions: number;
  spend: Spend;
}

export interface Spent {
  cache_read_tokens: number;
  cost_micros: number;
  models: SpentOn[];
  of: string;
  tokens: number;
  unpriced_tokens: number;
}

export interface SpentOn {
  cost_micros: number;
  model: string | null;
  tokens: number;
}

export type Standing = "active" | "blocked" | "killed";

export interface StatsResponse {
  buckets: BucketCounts[];
  complete_since?: number | null;
  missed: number;
  now: number;
  rebuilt: boolean;
  step: number;
}

export interface Step {
  agent?: Id | null;
  approach?: unknown;
  args?: unknown;
  flow?: Id | null;
  generation?: number | null;
  id?: Id | null;
  identity?: Identity | null;
  is_error?: boolean | null;
  outcome?: unknown;
  result?: unknown;
  server?: Id | null;
  session: Id;
  tool?: Id | null;
  use_id?: Id | null;
  via?: Via | null;
}

export type StepProgress = "full_progress" | "world_changed" | "stuck" | "full_stagnation" | "quiet";

export interface Stop {
  agent: string | null;
  at: number;
  flow: string | null;
  message: string;
  rule: string;
  seq: number;
  session: string;
  shadow: boolean;
  spent: Spend;
  verdict: Decision;
}

export interface StopGroup {
  count: number;
  first: number;
  group: string;
  last: number;
  newest: Stop;
  sessions: number;
  spent: Spend;
  still_stopped: number;
  wrong: number;
}

export type StopGroupDetail = StopGroup & { items: MarkedStop[]; };

export interface StopPage {
  complete_since: number | null;
  items: StopGroup[];
  ready: boolean;
  stops: number;
  total: number;
}

export interface TryPolicyRequest {
  hours?: number | null;
  session?: string | null;
  text: string;
}

export interface TryPolicyResponse {
  approximate: boolean;
  changed: number;
  changes: ChangedVerdict[];
  folded: number;
  saved: number;
  stop: FirstStop | null;
  unknown: number;
  was: VerdictTotals;
  would: VerdictTotals;
}

export interface Usage {
  agent?: Id | null;
  cache_read_tokens?: number | null;
  cache_write_tokens?: number | null;
  cost_usd?: number | null;
  flow?: Id | null;
  generation?: number | null;
  id?: Id | null;
  identity?: Identity | null;
  input_tokens?: number | null;
  model?: Id | null;
  output_tokens?: number | null;
  pending?: boolean | null;
  session: Id;
}

export interface Verdict {
  also: string[];
  approval?: string | null;
  code: Code | null;
  depth: number | null;
  durable?: boolean | null;
  end_turn?: boolean | null;
  evidence: Record<string, unknown> | null;
  expires_ms?: number | null;
  flow: string | null;
  generation: number;
  hint: string | null;
  killed_generation?: number | null;
  message: string | null;
  notice?: string | null;
  retry_after_ms: number | null;
  rule: string | null;
  verdict: Decision;
  would: Would | null;
}

export interface VerdictCounts {
  allow: number;
  ask: number;
  block: number;
  deny: number;
  kill: number;
  warn: number;
}

export interface VerdictTotals {
  events: number;
  rules: Record<string, number>;
  stopped: string[];
  verdicts: Record<string, number>;
}

export type Via = "api" | "hook" | "mcp" | "gateway";

export interface Would {
  evidence: Record<string, unknown>;
  message: string;
  rule: string;
  verdict: Decision;
}
