//! The server: decisions, operators, metrics.
//!
//! One process that owns the store and answers over HTTP: agents, hooks and relays ask what to do, operators
//! see, kill, reset and change the policy. The same API is on a TCP port and on a Unix socket. A
//! [`Server`] is bound first, so that whatever is wrong is told before anyone is answered, and then runs.

mod acceptor;
mod activity;
mod app;
mod approval_link;
mod approval_page;
mod body;
mod call_notes;
mod caller;
mod config;
mod credentials;
mod dashboard;
mod decide;
mod doors;
mod edge;
mod error;
mod event_kind;
mod flow_tree;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod gateway_mount;
mod guardrail;
pub mod limits;
pub mod log_lines;
mod mcp_mount;
pub mod metrics;
pub mod notify;
mod origin;
mod param;
mod problem;
mod record_pump;
mod relay;
mod route;
mod router;
mod server;
mod session_limits;
mod signals;
pub mod stats;
mod stopwatch;
pub mod systemd;
pub mod telemetry;
mod tokens;
mod unread;
mod watchers;
mod wire;

pub use config::{PORT, ServerConfig, SharedClock, Transport};
pub use error::ServerError;
pub use mcp_mount::MOUNT;
pub use relay::{FieldError, FieldNames, RelayConfig, RelayTrust, message_path};
pub use reqwest::Url;
pub use router::openapi;
pub use server::Server;
pub use session_limits::SessionQuota;
pub use signals::asked_to_end;
pub use tokens::{GivenToken, TokenError, TokenFile, TokenInfo};
