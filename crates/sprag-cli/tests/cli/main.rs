//! Whole runs of the real binary, as a person or a script would start it.

mod decide;
mod eval;
mod explain;
mod help;
mod policy;
mod policy_set;
mod rules;
#[cfg(test)]
mod sandbox;
mod scenarios;
mod tune;
