//! The engine of Sprag: `(policy, state, event, now) -> (state, verdict)`, pure and deterministic.
//!
//! No clock, no I/O, no randomness, no async. The [`Digester`] reduces an event to an
//! [`Observation`]; the engine folds it into small bounded cells and answers with a [`Verdict`].

#[macro_use]
mod words;

mod cell;
mod cell_map;
mod chant;
mod destructive_name;
mod digest;
mod digester;
mod effect;
pub mod encoding;
mod engine;
mod event;
mod finding;
mod glob;
mod id;
mod nearest;
mod observation;
mod policy;
mod price;
mod resolve;
mod role;
mod rule;
mod rules;
mod secret_name;
mod sender;
mod sha256;
mod snake_name;
mod time;
mod verdict;
mod view;

pub use cell::{
    AgentCell, AliasCell, Approval, ApprovalScope, ApprovalState, CellKey, CellKeys, Cells,
    ConversationCell, EarlierRun, FlowCell, InboxCell, InboxKey, Mark, PairCell, SessionAbove,
    SessionCell, ShadowMark, SpentAbove, StepMemory, TaskCell, approval_code,
};
pub use cell_map::{Above, CellMap, MAX_STARTERS};
pub use chant::{CHANT_COPIES, Chant, ChantDetector};
pub use destructive_name::is_destructive;
pub use digest::{Digest, DigestKey};
pub use digester::{CanonicalError, Digester, canonical_json, reduced_json};
pub use effect::{
    CallText, Effect, EffectReader, Effects, MAX_EFFECTS, ObservedEffect, Reach, Verb, allowed_in,
    effects_in_words,
};
pub use engine::{AnswerError, EngineError, RULES_VERSION, fold};
pub use event::{
    AnswerEvent, CallEvent, DispatchEvent, Event, EventError, MAX_EVENT_BYTES, MessageEvent,
    OrderEvent, OutputEvent, Payload, StepEvent, UsageEvent,
};
pub use glob::Glob;
pub use id::{Id, IdError, MAX_ID_BYTES};
pub use nearest::nearest;
pub use observation::{
    Answer, Approach, Call, Dispatch, Field, Hints, Identity, MAX_SAID, Message, MessageKind,
    Observation, Observed, Order, Outcome, Output, Panic, Source, Step, Subject, Tone, ToolKind,
    Usage, Via, Wording,
};
#[cfg(feature = "schema")]
pub use policy::policy_schema;
pub use policy::{
    AccessLimits, Amounts, AskLimits, BudgetLimits, CallLimits, Classifier, ConversationLimits,
    DestructiveLimits, DurationError, Echo, FlowLimits, InboxLimits, Limit, LimitError, Limits,
    LimitsRef, MAX_LIMIT, MAX_OPEN_SUB_AGENTS, MAX_POLICY_BYTES, Mode, Modes, OutputLimits, Policy,
    PolicyError, PolicyErrors, PolicyKey, PolicyProblem, ProgressLimits, Scope, SessionLimits,
    Spawns, Threshold, import,
};
pub use price::{PRICES_DATE, Price, Priced, Tokens};
pub use resolve::{Family, FlowCounter, Known, resolve};
pub use role::Role;
pub use rule::{RuleId, UnknownRule};
pub use rules::text::{is_hidden, plain_name, shell_word};
pub use secret_name::{is_secret_name, is_token_count};
pub use sender::{ForeignSession, Owner, Sender};
pub use sha256::sha256;
pub use time::{Millis, Timestamp};
pub use verdict::{Code, Decision, Evidence, Verdict, Would};
pub use view::{Gauge, RuleState, Spent, SpentOn, StepProgress};
pub use words::{UnknownWord, Words};

/// The most top-level scalar arguments that an observation names.
pub const MAX_FIELDS: usize = 16;

/// The most numbers of a result that an observation keeps.
pub const MAX_NUMBERS: usize = 6;

/// How many words of a failure an outcome keeps.
pub const MAX_FAILURE_WORDS: usize = 24;
