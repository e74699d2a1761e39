//! The message relay with a real agent server behind it.

mod agent_server;
mod mechanics;
mod patterns;
pub(crate) mod relay_server;
mod roles;
mod trouble;
