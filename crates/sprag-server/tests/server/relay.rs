//! The message relay with a real agent server behind it.

pub(crate) mod agent_server;
mod mechanics;
mod paths;
mod patterns;
pub(crate) mod relay_server;
mod roles;
mod trouble;
