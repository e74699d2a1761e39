//! Expansion: from words to the fields that a program is given, as far as the text tells.
//!
//! A field is text with marks in it: a home, something unknown, a variable that nobody set. A mark is
//! a character of Unicode's private area, so that a path stays one string and can be taken apart by `/`.

mod brace;
mod environment;
mod field;
mod trim;
mod word;

pub(crate) use environment::{Environment, Value};
pub(crate) use field::{Field, HOME, UNKNOWN, is_known, show};
