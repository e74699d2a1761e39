//! The rules, a file for each family. A rule judges before, and counts after something was let through.

pub(crate) mod actions;
pub(crate) mod arrival;
pub(crate) mod chatter;
pub(crate) mod defiance;
pub(crate) mod destruction;
pub(crate) mod destructive;
pub(crate) mod echo;
pub(crate) mod effects;
pub(crate) mod flow;
pub(crate) mod gates;
pub(crate) mod identical;
pub(crate) mod output;
mod progress;
pub(crate) mod rerun;
pub(crate) mod spawns;
pub(crate) mod spending;
pub(crate) mod text;
