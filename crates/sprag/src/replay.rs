//! Replays of what happened: verdict by verdict, with the state of the rules, under any policy.
//!
//! The engine is a fold, so a recording can be folded as often as one likes. A [`Recording`] is a log or a
//! trace file; a [`Replay`] folds it and returns an outcome for each item.
//!
//! - Under the policies that the log names it must reach the verdicts that the log holds.
//! - Under another policy ([`Replay::what_if`]) it returns what would have happened. A session that would have been
//!   blocked or killed would not have gone on: its later events are skipped, and counted as saved. A
//!   call that was refused and would now be allowed has a result that nobody knows; the outcome says so.
//! - Two replays over one recording show what a change of policy changes: [`differs`].

mod assumed_time;
mod error;
mod fold;
mod log;
mod recorded;
mod tally;
mod trace;
mod what_if;

pub use assumed_time::assumed_time;
pub use error::ReplayError;
pub use fold::{Replay, ReplayOutcome, differs};
pub use log::LogRecording;
pub use recorded::{RecordedEvent, RecordedForm, RecordedItem};
pub use tally::ReplayTally;
pub use trace::TraceRecording;

/// A recording, item by item.
pub type Recording<'a> = Box<dyn Iterator<Item = Result<RecordedItem, ReplayError>> + 'a>;
