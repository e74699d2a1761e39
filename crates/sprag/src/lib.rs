//! Stops runaway LLM agents: the library to embed.
//!
//! Agents loop, hammer, bounce messages and delete again and again because something went wrong. A
//! [`Guard`] sits where they act, sees when they stop making progress, and answers with a [`Verdict`]:
//! `allow`, `warn`, `deny`, `block` or `kill`. It is against errors, not enemies.
//!
//! # A guarded loop
//!
//! Ask before each call, tell what came of it, do what the verdict says:
//!
//! ```
//! use sprag::{Event, Guard};
//!
//! let guard = Guard::in_memory()?;
//! let call = Event::call("s1", "delete_asset")?.id("t1")?;
//! let verdict = guard.check(call.args(serde_json::json!({"asset_id": "fact_sales"})))?;
//! if verdict.refuses() {
//!     // don't run it; give the agent `verdict.message` instead of a result
//! } else {
//!     let result = "asset still exists"; // what the tool answered
//!     let step = Event::step("s1")?.id("t1")?.result(result).is_error(true);
//!     let verdict = guard.check(step)?;
//!     // give the agent the result, and `verdict.message` next to it where there is one
//! #   let _ = verdict;
//! }
//! # Ok::<(), sprag::GuardError>(())
//! ```
//!
//! A program that reports only calls is guarded too, but not against loops that only results show.
//!
//! # What it remembers
//!
//! [`Guard::in_memory`] forgets with its process. [`Guard::open`] keeps everything in one SQLite file that many
//! processes may share. Kill, block and reset are on disk when the call returns; whatever else happened
//! follows at once, or within 50 ms where one process owns the file ([`GuardBuilder::owned_file`]).
//!
//! ```
//! # let folder = std::env::temp_dir().join(format!("sprag-doc-{}", std::process::id()));
//! use sprag::{Capture, Guard, PolicyFile};
//!
//! let guard = Guard::builder()
//!     .file(folder.join("sprag.db"))
//!     .policy_file(PolicyFile::optional(folder.join("policy.toml")))
//!     .capture(Capture::Preview) // by default the log holds no payload at all
//!     .build()?;
//! let _watch = guard.watch(std::time::Duration::from_millis(500))?; // the file is reloaded
//! # drop(guard);
//! # std::fs::remove_dir_all(folder).ok();
//! # Ok::<(), sprag::GuardError>(())
//! ```
//!
//! Many processes behind a load balancer share one memory with `GuardBuilder::redis`: a session killed by
//! one is dead for all, and windows count over all. That is the feature `redis`, which is off unless asked
//! for: `cargo add sprag --features redis`.
//!
//! # Who may say what
//!
//! [`Guard::check`] takes what an agent may tell: its calls, steps, usage, and messages from it. A user's
//! message renews budgets and a reset forgives everything, so they need another [`Role`], which the
//! caller vouches for: [`Guard::check_as`], [`Guard::kill`], [`Guard::reset`].
//!
//! # Watching, proving, asking "what if"
//!
//! [`Guard::subscribe`] tells what happens without ever holding a decision up. [`Guard::verify`] folds the log again
//! and compares every verdict. [`replay`] shows it verdict by verdict with the state of the rules, and
//! under another policy: what would have been stopped, what would have been saved, and what nobody can
//! know. [`Guard::pause`] puts every rule into shadow for a while, and [`Guard::panic`] refuses all that agents do.
//!
//! # Threads and async
//!
//! A guard is `Clone + Send + Sync`; clones share everything. `check` blocks for one commit of the store at
//! most. In async code call it as it is, or inside `spawn_blocking` where the store is a file and even
//! a few milliseconds matter.
//!
//! # One guard for a whole machine
//!
//! A program that lives for one event, or stands beside others, uses a [`Link`]: it asks the running
//! `sprag serve` over its socket, and the shared file itself where no server runs.
//!
//! # Features
//!
//! | feature | by default | brings |
//! |---|---|---|
//! | `effects` | yes | reads from shell commands and SQL what they destroy |
//! | `sqlite` | yes | everything in one SQLite file: [`Guard::open`], [`Link`] |
//! | `redis` | no | many processes that share one memory in Redis: `GuardBuilder::redis` |
//!
//! # When the guard itself fails
//!
//! An error means that there is no verdict. Whether the agent then goes on is the caller's choice; one
//! that goes on should at least not do so where the last verdict was a refusal.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod atomic;
pub mod capture;
pub mod case;
mod clock;
mod digester;
mod export;
mod feed;
mod guard;
mod judge;
#[cfg(feature = "sqlite")]
pub mod link;
pub mod policy_edit;
mod policy_file;
mod questions;
pub mod replay;
mod secret_variables;
mod utc;

pub use capture::Capture;
#[cfg(feature = "redis")]
pub use clock::RedisClock;
pub use clock::{Clock, SystemClock, TestClock};
pub use export::{CSV_HEADER, cloud_event, csv_row, record_json};
pub use feed::{FEED_LENGTH, FeedItem, Subscription};
pub use guard::{
    AllowError, Guard, GuardBuilder, GuardError, PendingVerdict, Reload, Watch,
    make_private_folder, panic_file,
};
pub use judge::{Judge, JudgeError};
#[cfg(feature = "sqlite")]
pub use link::{FailMode, LazyLink, Link, LinkError, LinkOptions, NoVerdict, Reached};
pub use policy_file::{PolicyFile, PolicyFileError};
pub use questions::{MAX_QUESTIONS, Question, QuestionUpdate, Questions};
pub use replay::ReplayError;
pub use secret_variables::SECRET_VARIABLES;
pub use utc::rfc3339;

pub use sprag_core::{
    AnswerEvent, ApprovalScope, ApprovalState, Code, Decision, EngineError, Event, EventError, Id,
    Millis, Owner, Panic, Policy, Role, RuleId, RuleState, Sender, Timestamp, UnknownWord, Verdict,
    Words,
};
#[cfg(feature = "sqlite")]
pub use sprag_store::Marks;
pub use sprag_store::{
    Census, Durable, LogQuery, LogScope, MemoryStore, Page, Pause, Record, RecordKind, Retention,
    Session, SessionQuery, SessionSort, SessionState, SessionSummary, Store, StoreError,
    Verification, Wait, read_policy,
};
#[cfg(feature = "redis")]
pub use sprag_store::{
    FailModeError, OfflineDecision, OnOfflineDecision, RedisCounts, RedisOptions, RedisStore,
    RuleFailMode, RuleFailModes,
};
