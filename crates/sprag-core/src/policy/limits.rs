//! The limits in force for one session: plain data that the rules read.
//!
//! The defaults here are the tables of the documentation. A number that a policy may set is a
//! [`Limit`], so none can exceed what the cells keep.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::limit::Limit;
use super::mode::Modes;
use super::output::OutputLimits;
use super::spawns::Spawns;
use crate::glob::Glob;
use crate::observation::ToolKind;
use crate::price::Price;
use crate::time::Millis;

/// Everything that the rules may ask for one session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// The mode of each rule.
    pub modes: Modes,
    /// Messages in a flow.
    pub flow: FlowLimits,
    /// Messages that arrive.
    pub inbox: InboxLimits,
    /// Tracked conversations.
    pub conversation: ConversationLimits,
    /// Which tools may be called.
    pub access: AccessLimits,
    /// Identical calls.
    pub call: CallLimits,
    /// Destructive calls.
    pub destructive: DestructiveLimits,
    /// The session as a whole.
    pub session: SessionLimits,
    /// Steps.
    pub progress: ProgressLimits,
    /// What models say.
    pub output: OutputLimits,
    /// Budgets.
    pub budget: BudgetLimits,
    /// Questions to a person.
    pub ask: AskLimits,
    /// What single tools are for, first match wins; by glob on `server/tool` or the bare tool.
    pub tools: Arc<[(Glob, ToolKind)]>,
    /// What models cost, by glob on the model, before the shipped table.
    pub prices: Arc<[(Glob, Price)]>,
}

/// `[flow]`.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowLimits {
    /// The longest collapsed call stack.
    pub max_depth: Limit,
    /// The most sessions in one flow.
    pub max_sessions: Limit,
    /// How long a flow may go on without anything new; also how long it must be silent to start afresh.
    pub max_duration: Millis,
    /// Messages in a flow per minute.
    pub max_calls_per_minute: Limit,
    /// Messages in a flow.
    pub max_calls: Limit,
    /// Returns to one session.
    pub max_revisits: Limit,
    /// Messages between two sessions without work; the warning comes on this one.
    pub chatter: Limit,
    /// Repetitions of the same words.
    pub echo: Echo,
    /// Agents' messages into a session that no user is behind.
    pub max_unattended: Limit,
    /// Sub-agents.
    pub spawns: Spawns,
}

impl Default for FlowLimits {
    fn default() -> Self {
        Self {
            max_depth: Limit::of(5),
            max_sessions: Limit::of(10),
            max_duration: Millis(300_000),
            max_calls_per_minute: Limit::of(20),
            max_calls: Limit::of(100),
            max_revisits: Limit::of(4),
            chatter: Limit::of(6),
            echo: Echo {
                warn: Limit::of(3),
                deny: Limit::of(5),
            },
            max_unattended: Limit::of(200),
            spawns: Spawns::default(),
        }
    }
}

/// `flow.echo`: on which repetition to warn and to refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// Warn on this one.
    pub warn: Limit,
    /// Refuse on this one, if the answers were all the same.
    pub deny: Limit,
}

/// Whether something is counted for one session or over all sessions of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One session.
    #[default]
    Session,
    /// All sessions of one agent.
    Agent,
}

/// `[ask]`.
#[derive(Debug, Clone, PartialEq)]
pub struct AskLimits {
    /// How long a question stays open, and how long an approval is good for.
    pub expires: Millis,
}

impl Default for AskLimits {
    fn default() -> Self {
        Self {
            expires: Millis(600_000),
        }
    }
}

/// `[inbox]`.
#[derive(Debug, Clone, PartialEq)]
pub struct InboxLimits {
    /// Agents' messages that arrive per minute.
    pub max_messages_per_minute: Limit,
    /// Whose inbox it is.
    pub scope: Scope,
}

impl Default for InboxLimits {
    fn default() -> Self {
        Self {
            max_messages_per_minute: Limit::of(10),
            scope: Scope::Session,
        }
    }
}

/// `[conversation]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationLimits {
    /// Agents' messages since a user last wrote in it.
    pub max_messages: Limit,
}

impl Default for ConversationLimits {
    fn default() -> Self {
        Self {
            max_messages: Limit::of(10),
        }
    }
}

/// `[access]`: globs on `server/tool`; a glob without `/` is on the bare tool of any server.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessLimits {
    /// What may be called; empty allows all.
    pub allow: Arc<[Glob]>,
    /// What may not; wins over `allow`.
    pub deny: Arc<[Glob]>,
}

impl Default for AccessLimits {
    fn default() -> Self {
        Self {
            allow: Arc::new([]),
            deny: Arc::new([]),
        }
    }
}

/// `[call]`.
#[derive(Debug, Clone, PartialEq)]
pub struct CallLimits {
    /// Identical calls in the window; at most 256.
    pub max_identical: Limit,
    /// The window.
    pub window: Millis,
    /// Warn on this repetition in a row if no results are reported.
    pub repeat: Limit,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            max_identical: Limit::of(20),
            window: Millis::MINUTE,
            repeat: Limit::of(4),
        }
    }
}

/// `[destructive]`.
#[derive(Debug, Clone, PartialEq)]
pub struct DestructiveLimits {
    /// Which tools destroy, by normalised bare name.
    pub tools: Arc<[Glob]>,
    /// Which top-level arguments name the target.
    pub targets: Arc<[Box<str>]>,
    /// Kill on this destructive call in the window.
    pub max_calls: Limit,
    /// How many destructive calls one target may be in.
    pub max_same_target: Limit,
    /// The window.
    pub window: Millis,
    /// Count per session or per agent.
    pub scope: Scope,
    /// Whether a server's own word makes a tool destructive.
    pub trust_hints: bool,
    /// More places whose content can be made again.
    pub scratch: Arc<[Glob]>,
    /// Places below which any removal is sweeping.
    pub protected: Arc<[Glob]>,
    /// Programs with their subcommand that are never judged, except on what is vital.
    pub allow: Arc<[Box<str>]>,
}

impl Default for DestructiveLimits {
    fn default() -> Self {
        Self {
            tools: [
                "delete", "drop", "truncate", "trash", "purge", "wipe", "destroy", "erase",
            ]
            .map(Glob::new)
            .into(),
            targets: ["asset_id", "schema", "table", "path", "id"]
                .map(Box::from)
                .into(),
            max_calls: Limit::of(3),
            max_same_target: Limit::of(2),
            window: Millis::MINUTE,
            scope: Scope::Session,
            trust_hints: false,
            scratch: Arc::default(),
            protected: Arc::default(),
            allow: Arc::default(),
        }
    }
}

/// `[session]`.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionLimits {
    /// Refused calls in a row: block on this one, kill on twice as many.
    pub max_refused: Limit,
    /// Whether any word of a user lifts a block.
    pub human_unblocks: bool,
    /// Runs of one task with the same steps and results.
    pub rerun: Limit,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            max_refused: Limit::of(10),
            human_unblocks: false,
            rerun: Limit::of(5),
        }
    }
}

/// How steps are judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Classifier {
    /// The matrix on exact digests, and nothing else.
    Plain,
    /// The matrix with a better idea of what counts as new.
    #[default]
    Informed,
}

/// When a streak is warned about and when it blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    /// Warn from this streak on.
    pub warn: Limit,
    /// Block at this streak.
    pub block: Limit,
}

impl Threshold {
    pub(super) const fn of(warn: u32, block: u32) -> Self {
        Self {
            warn: Limit::of(warn),
            block: Limit::of(block),
        }
    }
}

/// `[progress]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressLimits {
    /// How steps are judged.
    pub classifier: Classifier,
    /// The same approach with the same outcome.
    pub stagnation: Threshold,
    /// New approaches with the same telling outcome.
    pub stuck: Threshold,
    /// New approaches with the same empty finding.
    pub empty: Threshold,
    /// One approach with an unchanged outcome, other work in between.
    pub recurrence: Threshold,
    /// The same change again.
    pub churn: Threshold,
    /// Calls that only talk to themselves.
    pub probe: Threshold,
}

impl Default for ProgressLimits {
    fn default() -> Self {
        Self {
            classifier: Classifier::Informed,
            stagnation: Threshold::of(3, 5),
            stuck: Threshold::of(5, 8),
            empty: Threshold::of(8, 20),
            recurrence: Threshold::of(5, 10),
            churn: Threshold::of(4, 7),
            probe: Threshold::of(20, 40),
        }
    }
}

/// An amount per session, per flow, and per agent and UTC day. None means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Per session.
    pub session: Option<u64>,
    /// Per flow, over all its sessions.
    pub flow: Option<u64>,
    /// Per agent and UTC day.
    pub agent_day: Option<u64>,
}

/// `[budget]`.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetLimits {
    /// Calls, messages and steps without a call since a user last spoke; up to a million.
    pub actions: u32,
    /// Whether the actions budget holds if no user was ever seen.
    pub strict: bool,
    /// Tokens.
    pub tokens: Amounts,
    /// Money, in millionths of a US dollar.
    pub cost_micros: Amounts,
    /// Time, in milliseconds.
    pub time_ms: Amounts,
}

impl BudgetLimits {
    /// Whether any amount is set for all sessions of an agent together.
    pub(super) fn has_agent_day(&self) -> bool {
        [self.tokens, self.cost_micros, self.time_ms]
            .iter()
            .any(|amounts| amounts.agent_day.is_some())
    }
}

impl Default for BudgetLimits {
    fn default() -> Self {
        Self {
            actions: 2000,
            strict: false,
            tokens: Amounts::default(),
            cost_micros: Amounts::default(),
            time_ms: Amounts::default(),
        }
    }
}
