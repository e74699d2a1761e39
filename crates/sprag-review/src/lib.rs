//! What is a policy worth? Answers for people, from data: nothing here sees an event while it happens.
//!
//! - [`explain()`] says why a rule exists, when it trips, and how to set it.
//! - [`scenario`] runs histories that must get certain verdicts: the tests of a policy.
//! - [`eval`] counts what a policy would have done to labelled runs that really happened.
//! - [`tune`] finds the limits that fit a user's own history.
//! - [`propose`] finds the mildest change that would have let a wrong stop pass.

pub mod eval;
mod explain;
mod proposal;
pub mod scenario;
pub mod tune;

pub use explain::{Explanation, explain};
pub use proposal::{Proposal, ProposedChange, propose};
