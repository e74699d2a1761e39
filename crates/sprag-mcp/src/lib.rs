//! The MCP proxy of Sprag: a guard before any MCP server.
//!
//! A proxy that people leave switched on must not be noticed. So messages stay the bytes they are: a
//! [`Gate`] looks at the few members that say whether a message is a call of a tool or the result of
//! one, asks a [`VerdictSource`] for a verdict on those, and tells what goes on: the message as it is, the
//! message with one more text in it, or an answer in its place. The gate holds no stream, so that
//! every transport can share it.
//!
//! - [`stdio`] runs a server as a child process behind a gate.
//! - [`http`] stands before servers that are reached over the network.
//! - [`install`] puts that wrapper into the settings of MCP clients, and takes it out again.
//! - [`inspect`] asks a server for its tools.
//!
//! ```
//! use sprag::{FailMode, Guard, Id};
//! use sprag_mcp::{Gate, GateOptions, OnKill, ClientAction};
//!
//! let options = GateOptions {
//!     session: Id::new("s1")?,
//!     shared: false,
//!     agent: None,
//!     server: None,
//!     unnamed: Id::new("catalog")?,
//!     mark: "gate-1".to_owned(),
//!     fail: FailMode::Closed,
//!     on_kill: OnKill::Refuse,
//! };
//! let gate = Gate::new(options, Box::new(Guard::in_memory()?), Box::new(|what| eprintln!("{what}")));
//! let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_assets"}}"#;
//! assert_eq!(gate.from_client(&gate.scope(), call), ClientAction::Pass);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounded_map;
mod call_meta;
mod call_outcome;
mod duplicate_keys;
mod envelope;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod gate;
mod guidance;
mod header_arguments;
#[cfg(unix)]
pub mod http;
mod in_flight;
pub mod inspect;
pub mod install;
mod json_lexer;
mod large_payload;
mod misread;
mod refusal;
pub mod splice;
#[cfg(unix)]
pub mod stdio;
mod stream_scan;
mod tools;
mod verdict_source;

pub use gate::{ClientAction, Gate, GateOptions, OnKill, RequestScope, ServerAction};
pub use tools::Tool;
pub use verdict_source::{FallbackSource, GuardAnswer, LogSink, VerdictSource};
