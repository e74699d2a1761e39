//! The message relay with a real agent server behind it.

mod agent_server;
pub(crate) mod house;
mod mechanics;
mod patterns;
mod roles;
mod trouble;
