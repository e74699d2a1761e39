//! The model gateway of Sprag: a guard between an agent and its model API.
//!
//! Hooks can't end every client's session, and see no text, no retries and no spend. Whatever an
//! agent does goes through its model API, so the [`Gateway`] stands there. Requests and answers
//! become events, verdicts become what every client understands:
//!
//! - A warning is put next to the tool result that it belongs to, in this request and in every later
//!   one, so that the provider's prompt cache stays valid.
//! - A refused call is taken out of the answer, and a sentence is put in its place.
//! - A stop is an ordinary answer: status 200, one text, a normal end. Errors make clients retry.
//!
//! What no verdict touches passes byte for byte. Nothing is held but a tool call until it is
//! complete, which the client could not run before anyway.

mod answer;
mod body;
mod chat;
mod content;
mod conversation;
mod conversations;
mod dialect;
mod estimates;
mod exchange;
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub mod fuzz;
mod gateway;
mod gemini;
mod identity;
mod judge;
mod launch;
mod limits;
mod messages;
mod options;
mod pump;
mod request;
mod responses;
mod route;
mod sse;
mod stop;
mod stream;
mod tally;
mod upstream;

pub use body::AnswerBody;
pub use gateway::Gateway;
pub use launch::{GatewayClient, Launch, LaunchError, Surroundings};
pub use options::{GatewayError, GatewayOptions, StopMode, Upstreams, WarnMode};
pub use route::is_mounted;
pub use tally::Tally;
