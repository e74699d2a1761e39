//! The server as its clients meet it: over real connections, with real agent servers behind it.

#[cfg(test)]
mod agent_tools;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod relay;
