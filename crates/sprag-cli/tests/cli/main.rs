//! Whole runs of the real binary, as a person or a script would start it.

#[cfg(test)]
mod approvals;
#[cfg(test)]
mod check;
#[cfg(unix)]
#[cfg(test)]
mod crashes;
mod decide;
#[cfg(test)]
mod effects;
mod eval;
mod explain;
#[cfg(unix)]
#[cfg(test)]
mod first_start;
#[cfg(unix)]
#[cfg(test)]
mod hardening;
mod help;
#[cfg(test)]
mod hook;
#[cfg(test)]
mod hook_spend;
#[cfg(test)]
mod install;
mod log;
#[cfg(test)]
mod mask;
#[cfg(all(test, unix))]
mod mcp;
#[cfg(test)]
mod mcp_http;
#[cfg(test)]
mod odd_payloads;
#[cfg(unix)]
#[cfg(test)]
mod open;
#[cfg(test)]
mod panic;
mod policy;
#[cfg(test)]
mod policy_page;
mod policy_set;
#[cfg(test)]
mod relay;
#[cfg(test)]
mod replay;
mod rules;
#[cfg(unix)]
#[cfg(test)]
mod run;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod scan;
mod scenarios;
#[cfg(test)]
mod serve;
mod sessions;
mod tune;
