//! Honest work that looks like a loop, and the loop that looks like it.
//!
//! Each case is a pair: work that a person would let go on, and a frantic or failing twin. The honest
//! side must never be stopped and is warned about once at the most; the twin must be stopped by its
//! 40th call. The cases are generated, so that many tools and words are in them that no list knows.

#[cfg(test)]
mod batches;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod evasions;
#[cfg(test)]
mod hints;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod mistakes;
#[cfg(test)]
mod notices;
#[cfg(test)]
mod probes;
#[cfg(test)]
mod runners;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod session;
#[cfg(test)]
mod step_histories;
#[cfg(test)]
mod sweeps;
#[cfg(test)]
mod truth;
#[cfg(test)]
mod unreported;
#[cfg(test)]
mod waits;
