//! Verdicts, as they go out.

#![expect(dead_code, reason = "only their shapes are used")]

use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What to do.
#[derive(ToSchema)]
#[schema(as = Decision)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    /// Go on.
    Allow,
    /// Go on, and give the agent the message next to the real result.
    Warn,
    /// This call may not run until a person has approved it. A client that can't ask refuses it.
    Ask,
    /// This call or message is refused.
    Deny,
    /// Refused, and so is every further call of this session until a reset.
    Block,
    /// Everything in this session is refused until an operator resets it.
    Kill,
}

/// A stable machine word for callers that branch on the reason.
#[derive(ToSchema)]
#[schema(as = Code)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Code {
    /// The session, or one above it, was killed.
    SessionKilledLoopGuard,
    /// The session is blocked: it may talk, not act.
    SessionBlockedLoopGuard,
    /// The event belongs to a time before the last reset.
    SessionStaleGeneration,
    /// A person has to approve the call first.
    ApprovalRequired,
    /// No new session may be opened: there are too many killed ones, or the caller opened too many.
    SessionLimit,
    /// A person stopped everything that agents do.
    Panic,
}

/// The verdict on one event.
#[derive(ToSchema)]
#[schema(as = Verdict)]
pub(crate) struct Verdict {
    /// Always what to do.
    verdict: Decision,
    /// The rule that decided; null when nothing fired.
    #[schema(required, example = "flow.depth")]
    rule: Option<String>,
    /// A machine word where a caller needs one.
    #[schema(required)]
    code: Option<Code>,
    /// What happened, in a sentence for the agent.
    #[schema(required)]
    message: Option<String>,
    /// What convinces a person: counts, limits, windows, ids.
    #[schema(required)]
    evidence: Option<Map<String, Value>>,
    /// The command that lifts or tunes it, for where a person reads.
    #[schema(required)]
    hint: Option<String>,
    /// The other rules that fired.
    also: Vec<String>,
    /// What rules in shadow would have done.
    #[schema(required)]
    would: Option<Would>,
    /// The flow of a message, also where it was inherited or drawn.
    #[schema(required)]
    flow: Option<String>,
    /// The length of the collapsed call stack, for every message with a flow.
    #[schema(required)]
    depth: Option<u32>,
    /// The session's generation: it grows with each reset.
    generation: u32,
    /// The newest earlier generation that ended in a kill. Only there if there is one.
    killed_generation: Option<u32>,
    /// When to come back, for limits that a window lifts by itself.
    #[schema(required)]
    retry_after_ms: Option<u64>,
    /// False if it is enforced but could not be written, as on a full disk. Only there then.
    durable: Option<bool>,
    /// Something for a person to know, such as that an agent has waited for long. Not for the model. Only there
    /// then.
    notice: Option<String>,
    /// The agent goes on against a block: end its turn. Only there if true.
    end_turn: Option<bool>,
    /// The code under which a person approves or declines the call. Only there if the verdict asks.
    #[schema(example = "k7f3wq2m")]
    approval: Option<String>,
    /// How long the question stays open. Only there if the verdict asks.
    expires_ms: Option<u64>,
}

/// The strongest finding among the rules in shadow.
#[derive(ToSchema)]
#[schema(as = Would)]
pub(crate) struct Would {
    /// What it would have been.
    verdict: Decision,
    /// The rule in shadow.
    rule: String,
    /// Its message.
    message: String,
    /// Its evidence.
    evidence: Map<String, Value>,
}

/// One line of a batch's answer: a verdict, or why there is none.
#[derive(ToSchema)]
#[schema(as = BatchLine)]
#[serde(untagged)]
pub(crate) enum BatchLine {
    /// The verdict on the event of that line.
    Verdict(Box<Verdict>),
    /// There is none.
    Error(BatchError),
}

/// Why a line got no verdict.
#[derive(ToSchema)]
pub(crate) struct BatchError {
    /// What went wrong.
    error: LineError,
}

/// What went wrong with a line.
#[derive(ToSchema)]
pub(crate) struct LineError {
    /// Its number, from 1.
    line: u64,
    /// The status that it would have had by itself.
    status: u16,
    /// What happened.
    message: String,
}
