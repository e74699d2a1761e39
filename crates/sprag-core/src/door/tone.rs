//! What an answer is like, judged from its text.

use crate::observation::Tone;

/// The tone of `text`.
pub(crate) fn tone(text: &str, is_error: bool) -> Tone {
    if is_error {
        Tone::Failure
    } else if text.trim().is_empty() {
        Tone::Silent
    } else {
        Tone::Telling
    }
}
