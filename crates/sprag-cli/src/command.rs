//! One file for each command.

pub(crate) mod completions;
pub(crate) mod decide;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod policy;
pub(crate) mod rules;
pub(crate) mod test;
pub(crate) mod tune;
