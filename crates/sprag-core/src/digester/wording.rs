//! How a message between agents reads without its noise.
//!
//! Agents that run in a circle put a fresh request id or time into the same words, and count their attempts.
//! So a content is also kept without ids and times, and without numbers, with the first numbers beside it.

use crate::digest::DigestKey;
use crate::observation::Wording;

use super::outcome::{numbers, short};
use super::payload::Digested;
use super::shape::shape;

/// So many numbers of a message are kept.
const MAX_FIGURES: usize = 4;

/// Returns none if the content has neither noise nor numbers: then its digest says everything.
pub(super) fn of_content(key: &DigestKey, content: &Digested<'_>) -> Option<Wording> {
    let mut figures = numbers(&content.form);
    if content.oversized || (figures.is_empty() && content.normal == content.exact) {
        return None;
    }
    figures.truncate(MAX_FIGURES);
    let mut words = String::new();
    shape(&content.form, &mut words);
    Some(Wording {
        normal: content.normal,
        words: short(key, &words),
        figures,
    })
}
