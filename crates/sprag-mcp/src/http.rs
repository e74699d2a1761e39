//! The proxy before servers that are reached over HTTP.
//!
//! A client is pointed at the [`Proxy`] in place of the server; it needs nothing else. A request body is judged by the
//! same [`Gate`](crate::Gate) as over standard input, and goes on as the bytes it came as. Answers pass as they come:
//! only what may answer a call of a tool is looked at, one message or one event at a time, and an event stream
//! is never held beyond the event that is arriving. When either side goes away the other is told at once, because
//! closing a stream is how this protocol cancels.
//!
//! - [`ProxyConfig`] says which servers there are and where.
//! - [`Proxy`] answers one request; the server of this project mounts it beside its own routes.
//! - [`sprag_http::Listener`] lets it answer on a port of its own.

mod credentials;
mod exchange;
pub mod limits;
mod local_response;
mod mirrored_headers;
mod open_exchange;
mod protocol_sessions;
mod proxy;
mod proxy_config;
mod public_address;
mod readable;
mod response_body;
mod response_forwarder;
pub(crate) mod sse;
mod upstream;

pub use hyper::Uri;
pub use proxy::{Proxy, ProxyOptions};
pub use proxy_config::{ProxyConfig, ProxyConfigError, UpstreamConfig};
pub use response_body::ResponseBody;
