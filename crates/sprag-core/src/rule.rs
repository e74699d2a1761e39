//! The rules by name, in the order of the tables: among equal verdicts the earlier one decides.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $id:literal,)+) => {
        /// A rule of the engine.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum RuleId { $($(#[$doc])* $variant,)+ }

        impl RuleId {
            /// Every rule, in the order that decides among equals.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name that people write: `flow.depth`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }
        }
    };
}

rules! {
    /// The gate of killed sessions and old generations.
    SessionKilled = "session.killed",
    /// The gate of a panic: a person stopped all agents.
    SessionPanic = "session.panic",
    /// The gate of tools that the policy does not allow.
    AccessDenied = "access.denied",
    /// The gate of calls that would lift the guard itself.
    AccessSelf = "access.self",
    /// The gate of blocked sessions.
    SessionBlocked = "session.blocked",
    /// An agent's message that belongs to no flow.
    FlowCorrelation = "flow.correlation",
    /// A message to oneself.
    FlowSelfCall = "flow.self_call",
    /// A call stack that is too deep.
    FlowDepth = "flow.depth",
    /// Too many sessions in one flow.
    FlowSessions = "flow.sessions",
    /// A flow that goes on for too long.
    FlowDuration = "flow.duration",
    /// Too many messages in a flow within a minute.
    FlowRate = "flow.rate",
    /// Too many messages in a flow.
    FlowTotal = "flow.total",
    /// Too many returns to one session.
    FlowRevisits = "flow.revisits",
    /// Too many sub-agents that are open, or started too fast by sub-agents.
    FlowSpawns = "flow.spawns",
    /// Two sessions that only talk.
    FlowChatter = "flow.chatter",
    /// The same words again and again.
    FlowEcho = "flow.echo",
    /// Agents' messages that no user is behind.
    FlowUnattended = "flow.unattended",
    /// Too many messages that arrive at one session or agent.
    InboxRate = "inbox.rate",
    /// A conversation of agents that does not end.
    ConversationLength = "conversation.length",
    /// The same call too often in a window.
    CallIdentical = "call.identical",
    /// The same call in a row if no results are reported.
    CallRepeat = "call.repeat",
    /// A whole place where data lives would go at once.
    DestructiveSweeping = "destructive.sweeping",
    /// Too many destructive calls in a window.
    DestructiveVolume = "destructive.volume",
    /// Destructive calls on the same target.
    DestructiveTarget = "destructive.target",
    /// Calls that go on against refusals.
    SessionDefiance = "session.defiance",
    /// Fresh sessions on the same task with the same results.
    SessionRerun = "session.rerun",
    /// The same approach with the same outcome.
    ProgressStagnation = "progress.stagnation",
    /// New approaches with the same outcome.
    ProgressStuck = "progress.stuck",
    /// One approach that keeps coming back with an unchanged outcome.
    ProgressRecurrence = "progress.recurrence",
    /// The same change again and again.
    ProgressChurn = "progress.churn",
    /// Calls that only talk to themselves.
    ProgressProbe = "progress.probe",
    /// One answer that repeats itself.
    OutputChant = "output.chant",
    /// The same words again and again, and nothing done.
    OutputRepeat = "output.repeat",
    /// Actions since a user last spoke.
    BudgetActions = "budget.actions",
    /// Model tokens.
    BudgetTokens = "budget.tokens",
    /// Money.
    BudgetCost = "budget.cost",
    /// Time.
    BudgetTime = "budget.time",
}

impl RuleId {
    /// Whether the rule judges calls by themselves, so that a person can be asked about one.
    #[must_use]
    pub const fn can_ask(self) -> bool {
        matches!(
            self,
            Self::AccessDenied
                | Self::AccessSelf
                | Self::SessionBlocked
                | Self::FlowSpawns
                | Self::CallIdentical
                | Self::CallRepeat
                | Self::DestructiveSweeping
                | Self::DestructiveVolume
                | Self::DestructiveTarget
                | Self::BudgetActions
                | Self::BudgetTokens
                | Self::BudgetCost
                | Self::BudgetTime
        )
    }

    /// Whether a policy may set its mode: the gates that a person's order stands behind always enforce.
    #[must_use]
    pub const fn has_mode(self) -> bool {
        !matches!(self, Self::SessionKilled | Self::SessionPanic)
    }

    /// The part before the dot: `flow`.
    #[must_use]
    pub fn family(self) -> &'static str {
        self.as_str().split('.').next().unwrap_or_default()
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A name that no rule has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown rule `{0}`; `sprag rules` lists all rules")]
pub struct UnknownRule(pub String);

impl FromStr for RuleId {
    type Err = UnknownRule;
    fn from_str(text: &str) -> Result<Self, UnknownRule> {
        Self::ALL
            .iter()
            .copied()
            .find(|rule| rule.as_str() == text)
            .ok_or_else(|| UnknownRule(text.to_owned()))
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}
