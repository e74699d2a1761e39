//! Stops runaway LLM agents: the library to embed.
//!
//! The engine in `sprag-core` is pure: it knows no file, no clock and no person. This crate puts the
//! things around it that every front end needs and none should build twice: a [`Guard`] with a durable
//! log, a [`Judge`] that takes events as they stand on the wire, scenarios by which people test
//! their policies, figures of how a policy does on recorded runs, and the texts that explain
//! each rule.

pub mod capture;
mod clock;
pub mod eval;
mod explain;
mod export;
mod feed;
mod guard;
mod judge;
mod nearest;
pub mod replay;
mod role;
pub mod scenario;
pub mod tune;
mod utc;

pub use capture::Capture;
pub use clock::{Clock, SystemClock, TestClock};
pub use explain::{Explanation, explain};
pub use export::{cloud_event, record_json};
pub use feed::{FEED_LENGTH, Subscription, Told};
pub use guard::{
    Guard, GuardBuilder, GuardError, Pause, PolicyFile, PolicyFileError, Reload, Watch, read_policy,
};
pub use judge::{Judge, JudgeError};
pub use nearest::nearest;
pub use replay::ReplayError;
pub use role::Role;
pub use utc::rfc3339;

pub use sprag_core::{
    Code, Decision, Event, EventError, Id, Millis, Policy, RuleId, RuleState, Timestamp, Verdict,
};
pub use sprag_store::{
    LogQuery, LogScope, MemoryStore, Page, Record, RecordKind, Retention, Session, SessionQuery,
    SessionState, SessionSummary, Store, StoreError, Verification,
};
