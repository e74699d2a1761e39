//! Stops runaway LLM agents: the library to embed.
//!
//! The engine in `sprag-core` is pure: it knows no file, no clock and no person. This crate puts the
//! things around it that every front end needs and none should build twice: a [`Judge`] that takes
//! events as they stand on the wire, scenarios by which people test their policies, figures of
//! how a policy does on recorded runs, and the texts that explain each rule.

pub mod eval;
mod explain;
mod judge;
mod nearest;
pub mod scenario;
pub mod tune;

pub use explain::{Explanation, explain};
pub use judge::{Judge, JudgeError};
pub use nearest::nearest;
