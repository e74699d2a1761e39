//! How good is a policy on runs that really happened?
//!
//! A guard is left on only if it stops the loops and leaves the work alone, and no reasoning tells
//! how often it does: recorded runs do. This module replays labelled runs, each in a world of its
//! own, and counts what came of them against what people and benchmarks said of the runs.
//!
//! - [`read_labels`] and [`trace_files`] find what there is, [`replay`] folds it ([`EvalRun`]).
//! - A [`Metric`] is a question about one run; an [`EvalReport`] counts the answers for all runs, for
//!   each source, for each family of rules, and for all sources but one.
//! - [`StopLine`] is the shortest account of a run, a line in a file for other tools.
//!
//! **Time.** Some recordings have no times and got made-up ones. The rules of [`NEED_TIME`] judge by
//! nothing but time and are left out there, since what they say would be about the making-up. Rules
//! on calls stay, though `call.identical` and the destructive rules have windows: the made-up pace,
//! eight seconds a step, is that of a model which calls tools, and leaving rules out can hide a false
//! stop, while keeping them can only show one.

mod error;
mod figures;
mod files;
mod label;
mod metric;
mod policy;
mod replay;
mod report;
mod run;
mod split;
mod stop_line;
mod workers;

pub use error::EvalError;
pub use figures::{Delays, Figures, SavedCalls, Score};
pub use files::{TraceFile, trace_files};
pub use label::{Label, ReaderNote, ReaderVerdict, RepetitionKind, TimeSource, read_labels};
pub use metric::{Metric, UnknownMetric, Want};
pub use policy::{EvalPolicy, NEED_TIME, merge};
pub use replay::{Flaw, Replayed, replay};
pub use report::{EvalReport, JudgedRun, WrongAnswer};
pub use run::{EvalRun, FirstVerdict};
pub use stop_line::StopLine;

pub(crate) use files::read_bytes;
pub(crate) use split::{Trace, split};
pub(crate) use workers::each;
