//! The proxy before servers that are reached over HTTP.
//!
//! A client is pointed at the [`Proxy`] in place of the server; it needs nothing else. A request body is judged by the
//! same [`Gate`](crate::Gate) as over standard input, and goes on as the bytes it came as. Answers pass as they come:
//! only what may answer a call of a tool is looked at, one message or one event at a time, and an event stream
//! is never held beyond the event that is arriving. When either side goes away the other is told at once, because
//! closing a stream is how this protocol cancels.
//!
//! - [`Config`] says which servers there are and where.
//! - [`Proxy`] answers one request; the server of this project mounts it beside its own routes.
//! - [`Listener`] answers on a port of its own.

mod again;
mod answer;
mod body;
mod config;
pub mod connection;
mod credentials;
mod events;
mod exchange;
mod headers;
mod hosts;
pub mod limits;
mod listen;
mod mirror;
mod open;
mod passing;
mod proxy;
mod public;
mod reply;
mod sessions;
mod upstream;

pub use answer::Answer;
pub use config::{Config, ConfigError, UpstreamConfig};
pub use hosts::{Hosts, is_own_origin};
pub use hyper::Uri;
pub use listen::{Listener, ListenerError, ListenerOptions};
pub use proxy::{Proxy, ProxyError, ProxyOptions};
