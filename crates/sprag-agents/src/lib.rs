//! The agents' side of the server of Sprag: clients of its API, like everyone else's.
//!
//! - [`AgentTools`] are the tools with which one agent writes to another, through the relay.
//! - [`Demo`] has scripted agents that show a newcomer every verdict.

mod agent_tools;
mod demo;

pub use agent_tools::{AgentTools, AgentToolsConfig, AgentToolsError, RelayAddress};
pub use demo::{Demo, DemoError};
