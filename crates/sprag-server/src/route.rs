//! One file for each group of routes: what it takes, whom it serves, what it answers.

pub(crate) mod approvals;
pub(crate) mod batch;
pub(crate) mod check;
mod cursor;
pub(crate) mod docs;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod flows;
pub(crate) mod guardrail;
pub(crate) mod health;
pub(crate) mod hooks;
pub(crate) mod log;
pub(crate) mod login;
pub(crate) mod me;
pub(crate) mod metrics;
pub(crate) mod openapi;
pub(crate) mod orders;
pub(crate) mod page;
pub(crate) mod panic;
pub(crate) mod pause;
pub(crate) mod policy;
pub(crate) mod policy_draft;
pub(crate) mod replay;
pub(crate) mod sessions;
pub(crate) mod stats;
pub(crate) mod stream;
pub(crate) mod try_policy;
