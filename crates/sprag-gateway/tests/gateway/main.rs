//! The gateway with a real guard behind it, between agents that behave as clients do and an upstream
//! that refuses what the real APIs refuse.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod api;
#[cfg(test)]
mod budget;
#[cfg(test)]
mod bytes;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod gemini;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod messages_model;
#[cfg(test)]
mod place;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod upstream;
#[cfg(test)]
mod words;
