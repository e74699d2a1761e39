//! One file for each command.

pub(crate) mod agent_tools;
pub(crate) mod approvals;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod decide;
pub(crate) mod doctor;
pub(crate) mod effects;
pub(crate) mod eval;
pub(crate) mod explain;
#[cfg(unix)]
pub(crate) mod gateway;
pub(crate) mod health;
pub(crate) mod hook;
pub(crate) mod install;
pub(crate) mod log;
pub(crate) mod man;
#[cfg(unix)]
pub(crate) mod mcp;
pub(crate) mod open;
pub(crate) mod panic;
pub(crate) mod pause;
pub(crate) mod policy;
pub(crate) mod replay;
pub(crate) mod rules;
pub(crate) mod scan;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod test;
pub(crate) mod token;
pub(crate) mod tune;
pub(crate) mod uninstall;
pub(crate) mod verify;
