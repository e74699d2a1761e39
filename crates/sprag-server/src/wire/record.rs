//! Records of the log and the state of the rules, as they go out.

#![expect(dead_code, reason = "only their shapes are used")]

use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::verdict::Verdict;

/// Who sent an event.
#[derive(ToSchema)]
#[schema(as = Sender)]
pub(crate) struct Sender {
    /// In which role: `agent`, `relay`, `hook` or `operator`.
    role: String,
    /// The name of the token that proved it; none if nothing did.
    #[schema(nullable = false)]
    name: Option<String>,
}

/// One record of the log: an event with its verdict, or a note of what the guard did itself.
#[derive(ToSchema)]
#[schema(as = Record)]
pub(crate) struct Record {
    /// Its number: 1, 2, 3…
    seq: u64,
    /// When it happened.
    at: u64,
    /// What happened, with everything resolved and payloads as digests.
    #[schema(nullable = false)]
    event: Option<Map<String, Value>>,
    /// Who sent the event.
    #[schema(nullable = false)]
    sender: Option<Sender>,
    /// What the guard or the store did; `note` says what kind of note it is.
    #[schema(nullable = false)]
    note: Option<Map<String, Value>>,
    /// What was answered to an event.
    #[schema(nullable = false)]
    verdict: Option<Verdict>,
    /// The payload, where capture is on.
    #[schema(nullable = false)]
    captured: Option<Value>,
    /// The digest of the policy in force.
    policy: String,
    /// The rules it was judged under.
    rules_version: u32,
    /// The hash of the record before.
    prev: String,
    /// Its hash.
    hash: String,
}

/// Why a session is blocked or killed.
#[derive(ToSchema)]
#[schema(as = Mark)]
pub(crate) struct Mark {
    /// When it was set.
    at: u64,
    /// The rule that set it; null for an operator's kill.
    #[schema(required)]
    rule: Option<String>,
    /// What happened, in a sentence.
    why: String,
    /// The operator, for a kill by hand.
    #[schema(required)]
    by: Option<String>,
}

/// How much of one limit is used.
#[derive(ToSchema)]
#[schema(as = Gauge)]
pub(crate) struct Gauge {
    /// The rule.
    #[schema(example = "budget.actions")]
    rule: String,
    /// Whose: `session`, `flow`, `pair`, `inbox`, `conversation`, `agent`, `receiver`.
    of: String,
    /// How much is used; times in milliseconds, money in millionths of a dollar.
    used: u64,
    /// The limit.
    limit: u64,
}

/// The state of the rules around one event, or of one session.
#[derive(ToSchema)]
#[schema(as = RuleState)]
pub(crate) struct RuleState {
    /// The session that acts.
    #[schema(required)]
    session: Option<String>,
    /// Its agent.
    #[schema(required)]
    agent: Option<String>,
    /// Its generation.
    generation: u32,
    /// Why it is killed.
    #[schema(required)]
    killed: Option<Mark>,
    /// Why it is blocked.
    #[schema(required)]
    blocked: Option<Mark>,
    /// A session above it is killed.
    killed_above: bool,
    /// Calls that wait for their step.
    pending: usize,
    /// The flows that are worked on in it.
    dispatches: Vec<String>,
    /// The collapsed stack of calls in the flow, root first.
    stack: Vec<String>,
    /// How full the rules are; those that stand at zero are left out.
    gauges: Vec<Gauge>,
    /// What the progress rules made of a step; null for other events, and for a step that they did not judge.
    #[schema(required)]
    progress: Option<StepProgress>,
    /// What the session with its sub-agents, its flow and its agent's day have spent; left out if nothing.
    spent: Option<Vec<Spent>>,
}

/// Where a step fell: a new or known approach, news or none; `quiet` if nothing is held against it.
#[derive(ToSchema)]
#[schema(as = StepProgress, rename_all = "snake_case")]
pub(crate) enum StepProgress {
    FullProgress,
    WorldChanged,
    Stuck,
    FullStagnation,
    Quiet,
}

/// What was spent.
#[derive(ToSchema)]
#[schema(as = Spent)]
pub(crate) struct Spent {
    /// Whose: `session`, `flow`, `agent_day`.
    of: String,
    /// Tokens, without those that came from a provider's cache.
    tokens: u64,
    /// Tokens that came from a provider's cache.
    cache_read_tokens: u64,
    /// Money, in millionths of a US dollar.
    cost_micros: u64,
    /// Tokens of models without a known price.
    unpriced_tokens: u64,
    /// On which models; the one without a name stands for all others.
    models: Vec<SpentOn>,
}

/// What was spent on one model.
#[derive(ToSchema)]
#[schema(as = SpentOn)]
pub(crate) struct SpentOn {
    /// The model.
    #[schema(required)]
    model: Option<String>,
    /// Tokens.
    tokens: u64,
    /// Money, in millionths of a US dollar.
    cost_micros: u64,
}
