//! Everything that reads bytes from outside, as plain functions that panic if a promise is broken.
//!
//! `make fuzz` drives them with coverage from a nightly compiler (the folder `fuzz` holds one program for
//! each); `tests/corpus.rs` runs them in every `make test`, over the examples in `corpus` and many small
//! changes of them. So an input that once broke a promise is tried for ever, with any compiler. Bodies that
//! need what a crate keeps to itself stand in that crate, behind its feature `fuzz`.
#![expect(
    clippy::expect_used,
    reason = "a fuzz target reports a broken promise by panicking"
)]

mod commands;
mod events;
mod hooks;
mod mcp;
mod policies;
mod redaction;
mod stored;
mod transcripts;

pub use mcp::counting_gate;

/// A target: its name, which is also that of its folder in `corpus` and of its program in `fuzz`, and what it
/// does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 20] = [
    ("canonical_json", events::canonical_json),
    ("cell", stored::cell),
    ("event_line", events::event_line),
    ("gateway_exchange", sprag_gateway::fuzz::exchange),
    ("hook_payload", hooks::hook_payload),
    ("hook_settings", hooks::hook_settings),
    ("mcp_frames", sprag_mcp::fuzz::frames),
    ("mcp_message", mcp::mcp_message),
    ("mcp_settings", mcp::mcp_settings),
    ("mcp_stream", sprag_mcp::fuzz::stream),
    ("policy", policies::policy),
    ("policy_edit", policies::policy_edit),
    ("record", stored::record),
    ("redaction", redaction::redaction),
    ("relay_body", sprag_server::fuzz::relay_body),
    ("scenario", policies::scenario),
    ("shell_text", commands::shell_text),
    ("spent_line", hooks::spent_line),
    ("sql_text", commands::sql_text),
    ("transcript", transcripts::transcript),
];

/// Runs the target called `name`.
///
/// # Panics
/// Panics if there is no such target, or if the bytes break one of its promises.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, target) = target.expect("a program of `fuzz` runs a target of this list");
    target(data);
}
