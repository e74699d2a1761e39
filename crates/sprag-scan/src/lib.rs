//! The loops in what agents already did.
//!
//! Agent CLIs keep transcripts of everything. This crate finds them, reads each format, folds the sessions through the engine
//! and tells the loops: where they are, what they cost, what a guard would have done and when, and where it may have
//! been wrong. It needs no set-up, sends nothing anywhere and writes nothing.
//!
//! ```no_run
//! use sprag_scan::{Options, named, scan};
//! let transcripts = named(&["transcripts".into()])?;
//! let (report, _history) = scan(&transcripts, &Options::default(), &|_bytes| {});
//! for found in &report.loops {
//!     println!("{} calls in {}: {}", found.calls, found.session, found.what);
//! }
//! # Ok::<(), sprag_scan::ScanError>(())
//! ```
//!
//! The way of a transcript: `places` finds it, `sniff` says what it is, `lines` or `elements` cut it into pieces in bounded
//! memory, a `reader` says what a piece tells, a `session` folds that and makes `episode`s of what the rules say. What
//! leaves as text passes `brief`, which takes secrets out.

pub mod amounts;
mod elements;
mod episode;
mod error;
mod excerpt;
mod file;
mod file_sessions;
mod fold;
mod found_loop;
mod html;
mod lines;
mod opencode_store;
mod own_words;
mod piece;
mod reader;
mod recent_calls;
mod report;
mod scan;
mod session_fold;
mod sniff;
mod sweeping;
mod transcript_item;
mod transcript_source;
mod transcripts;

pub use error::ScanError;
pub use file::Skipped;
pub use found_loop::{Ending, Loop, LoopStep, LoopTokens, Reaction, Saved};
pub use html::page;
pub use lines::MAX_LINE_BYTES;
pub use report::{ScanReport, SourceTotals, Totals};
pub use scan::{Options, scan};
pub use sprag_hooks::parse_time;
pub use sweeping::SweepingCommand;
pub use transcript_source::TranscriptSource;
pub use transcripts::{KnownFolders, Transcript, named};
