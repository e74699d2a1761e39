//! The answer to an event: what to do, which rule decided, and the evidence for a person.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::Id;
use crate::rule::RuleId;

words! {
    "decision",
    /// What to do, from mild to final. The order is the rank: the highest of several wins.
    #[derive(
        Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
    )]
    #[serde(rename_all = "lowercase")]
    #[non_exhaustive]
    pub enum Decision {
        /// Go on.
        #[default]
        Allow = "allow",
        /// Go on, and give the agent the message next to the real result.
        Warn = "warn",
        /// This call may not run until a person has approved it.
        Ask = "ask",
        /// This call or message is refused. Nothing else changes.
        Deny = "deny",
        /// Refused, and so is every further call of this session until a reset.
        Block = "block",
        /// Everything in this session is refused until an operator resets it.
        Kill = "kill",
    }
}

impl Decision {
    /// Whether the call or message may not happen.
    #[must_use]
    pub fn refuses(self) -> bool {
        self >= Self::Ask
    }
}

/// A stable machine word for callers that branch on the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// The session (or a session above it) was killed.
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

impl Code {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SessionKilledLoopGuard => "session_killed_loop_guard",
            Self::SessionBlockedLoopGuard => "session_blocked_loop_guard",
            Self::SessionStaleGeneration => "session_stale_generation",
            Self::ApprovalRequired => "approval_required",
            Self::SessionLimit => "session_limit",
            Self::Panic => "panic",
        }
    }
}

/// Counts, limits, windows and ids behind a verdict.
pub type Evidence = Map<String, Value>;

/// The verdict on one event, as it stands on the wire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// What to do.
    #[serde(rename = "verdict")]
    pub decision: Decision,
    /// The rule that decided; none when nothing fired.
    pub rule: Option<RuleId>,
    /// A stable code for callers that branch on the reason.
    pub code: Option<Code>,
    /// What happened, in a sentence for the agent.
    pub message: Option<String>,
    /// What convinces a person.
    pub evidence: Option<Evidence>,
    /// The command that lifts or tunes it, for output that a person reads.
    pub hint: Option<String>,
    /// The other rules that fired.
    #[serde(default)]
    pub also: Vec<RuleId>,
    /// What rules in shadow would have done.
    pub would: Option<Box<Would>>,
    /// The flow of a message, also if it was inherited or drawn.
    pub flow: Option<Id>,
    /// The length of the collapsed call stack, for every message with a flow.
    pub depth: Option<u32>,
    /// The session's generation: it grows with each reset.
    pub generation: u32,
    /// The newest earlier generation of the session that ended in a kill: whoever acts for it since then must
    /// begin again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed_generation: Option<u32>,
    /// When to come back, for limits that a window lifts by itself.
    pub retry_after_ms: Option<u64>,
    /// False if it is enforced but could not be written: it is lost if the guard ends before it can be. Part
    /// of the answer, not of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable: Option<bool>,
    /// Something for a person to know, such as that an agent has waited for long. Not for the model: an adapter
    /// shows it where only a person reads, or drops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The agent goes on against a block: end its turn, where the client allows that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub end_turn: bool,
    /// The code under which a person approves or declines the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Id>,
    /// How long the question stays open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

impl Verdict {
    /// A verdict that says nothing but what to do.
    #[must_use]
    pub fn new(decision: Decision) -> Self {
        Self {
            decision,
            ..Self::default()
        }
    }

    /// The same, decided by `rule`.
    #[must_use]
    pub fn with_rule(mut self, rule: RuleId) -> Self {
        self.rule = Some(rule);
        self
    }

    /// The same, with a code for programs.
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }

    /// The same, with words for the agent.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// The same, with the command that lifts or tunes it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether the call or message may not happen.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.decision.refuses()
    }
}

/// The strongest finding among the rules in shadow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Would {
    /// What it would have been.
    #[serde(rename = "verdict")]
    pub decision: Decision,
    /// The rule in shadow.
    pub rule: RuleId,
    /// Its message.
    pub message: String,
    /// Its evidence.
    pub evidence: Evidence,
}
