//! The hooks of agent CLIs: what a coding agent is about to do, judged where it does it.
//!
//! The shell and edit tools of coding agents never pass through MCP; their hooks see everything. Each
//! client has its own JSON in, its own JSON out and its own idea of what an answer means. Some answers
//! that look safe let the tool run. So there is one codec for each, made from payloads of the real client
//! and tried against it.
//!
//! [`answer`] takes a hook from its payload to its answer. [`install`] adds hooks to a client's settings.

mod answer;
mod client;
mod codec;
pub mod install;
pub mod output;
mod parsed_hook;
mod reply;
mod spend;
mod time;
pub mod tool_name;

pub use answer::{AnsweredHook, HookOptions, HookResponse, answer, unreadable};
pub use client::Client;
pub use codec::{is_own_prompt, phase};
pub use parsed_hook::{Dialect, HookPhase, ParsedHook, ReadError, has_loose_id};
pub use reply::reason;
pub use spend::{SpendReader, SpendSource, SpentLine, TranscriptLine, spent_in};
pub use time::parse_time;
