//! Why something is not an event: each error names the field and its position.

use crate::digester::CanonicalError;
use crate::id::IdError;

use super::MAX_EVENT_BYTES;
use super::call::MAX_FOLDER_BYTES;

/// What is wrong with an event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// It is longer than [`MAX_EVENT_BYTES`].
    #[error("an event has at most {MAX_EVENT_BYTES} bytes, this one has {bytes}")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It is not text.
    #[error("an event is UTF-8 text; byte {at} (counted from 0) is not")]
    NotUtf8 {
        /// The offset of the first broken character.
        at: usize,
    },
    /// It is not one JSON object, or has a field twice.
    #[error("not an event: {0}")]
    NotAnEvent(#[source] serde_json::Error),
    /// Its type is none that is known.
    #[error("type: unknown event type {found:?}; {advice}", advice = advice(*.nearest))]
    UnknownType {
        /// The type that it names.
        found: Box<str>,
        /// The type that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A field that its type needs is not there.
    #[error("{field}: missing, and {needed_by} needs it")]
    Missing {
        /// The field.
        field: &'static str,
        /// Who needs it: `a call`.
        needed_by: &'static str,
    },
    /// Two fields exclude each other.
    #[error("{field}: a step has `{field}` or `{other}`, not both")]
    Both {
        /// One of them.
        field: &'static str,
        /// The other one.
        other: &'static str,
    },
    /// A field holds something else than it should.
    #[error("{field}: expected {expected}, found {found} at line {line} column {column}")]
    IllTyped {
        /// The field.
        field: &'static str,
        /// What should be there.
        expected: &'static str,
        /// What is there.
        found: Box<str>,
        /// The line of its value, from 1.
        line: usize,
        /// The column of its value, from 1.
        column: usize,
    },
    /// A name is not an id.
    #[error("{field}: {source}")]
    Id {
        /// The field.
        field: &'static str,
        /// Why not.
        source: IdError,
    },
    /// A folder's path is longer than any path.
    #[error("{field}: a path has at most {MAX_FOLDER_BYTES} bytes, this one has {bytes}")]
    Folder {
        /// The field.
        field: &'static str,
        /// How long it is.
        bytes: usize,
    },
    /// Money below zero, not a number, or more than anybody spends at once.
    #[error("cost_usd: expected 0 to {max} US dollars, found {found:?}", max = super::usage::MAX_COST_USD)]
    Cost {
        /// The amount.
        found: f64,
    },
    /// A payload can't be digested. Lines and columns are counted from where its value starts.
    #[error("{field}: {source}")]
    Payload {
        /// The field.
        field: &'static str,
        /// Why not.
        source: CanonicalError,
    },
}

fn advice(nearest: Option<&'static str>) -> String {
    match nearest {
        Some(nearest) => format!("did you mean {nearest:?}?"),
        None => format!("known types are {}", super::wire::TYPES.join(", ")),
    }
}
