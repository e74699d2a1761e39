//! The bytes of a record: small, in one form only, and readable by every later build.
//!
//! The hash chain covers these bytes, and a verified replay reads millions of them, so they are
//! written by hand: a format number first, then fields in a fixed order, lengths and numbers as
//! varints, a bit per optional field. A new field means a new format number and a reader for both.

mod body;
mod bytes;
mod observation;
#[cfg(feature = "redis")]
mod tally;
mod tool_use;
mod verdict;

pub(crate) use body::{Body, Content, encode_event, encode_note};
pub(crate) use bytes::Malformed;
#[cfg(feature = "redis")]
pub(crate) use tally::{decode_tally, encode_tally};
pub(crate) use verdict::{decode_verdict, encode_verdict};
