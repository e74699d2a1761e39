//! Evaluation on runs of our own making, and on public ones where they are at hand.

#[cfg(test)]
#[path = "eval/chants.rs"]
mod chants;
#[cfg(test)]
#[path = "eval/own.rs"]
mod own;
#[cfg(test)]
#[path = "eval/public.rs"]
mod public;
