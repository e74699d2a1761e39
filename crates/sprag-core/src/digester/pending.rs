//! Whether an answer says that something is not done yet, or in the way for now.
//!
//! Whoever is told so asks again, and is right to. The words are hints: how soon one may ask again is judged by
//! time.

use super::words::{PhraseList, WordList};

/// States of what is not done yet that do not end in `-ing`.
const ON_ITS_WAY: WordList = WordList::new("queued scheduled unsettled progress");
/// Words in `-ing` that are no state.
const THINGS: WordList =
    WordList::new("nothing anything something everything string warning missing during");
/// A shorter word in `-ing` is a thing (`ring`, `king`, `ping`).
const ON_ITS_WAY_LETTERS: usize = 6;

/// What says that something else is in the way for now.
const BUSY: PhraseList = PhraseList::new(
    "too many requests|rate limit|try again|retry|throttl|temporarily|not ready|is locked|get lock|\
     held by|is busy|resource busy|in use|another process|not yet|in progress|timed out|\
     connection refused|unreachable|no route to host",
);

/// Whether an answer says that something is on its way (`"status":"processing"`, `(health: starting)`,
/// `warming`), or that something is in the way for now. What stands alone as a value and ends in `-ing` is
/// on its way, in whatever trade.
pub(super) fn is_pending(words: &str) -> bool {
    let is_state = |text: &str| {
        let mut parts = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty());
        let first = [parts.next(), parts.next()];
        parts.next().is_none() && first.into_iter().flatten().any(is_on_its_way)
    };
    let columns = words.replace("  ", "\t");
    let is_value = |text: &str| {
        let text = text.trim_start_matches([' ', '"', '\'']);
        let is_arrow = text.starts_with(['>', '=']);
        let end = text.find([
            ':', '=', '(', ',', '"', '\'', ')', '}', '\n', ';', '\t', '|', ']',
        ]);
        !is_arrow && is_state(text.get(..end.unwrap_or(text.len())).unwrap_or_default())
    };
    let mut pieces = columns.split_inclusive([':', '=', '(', '\t']).skip(1);
    BUSY.places(words).next().is_some()
        || (!words.contains('"') && is_state(words))
        || pieces.any(|piece| !is_name(piece) && is_value(piece))
}

/// Whether a piece is a name, which a value follows, and not a value: `padding:`.
fn is_name(piece: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name = piece.strip_suffix([':', '=']);
    name.is_some_and(|name| name.trim().chars().all(plain))
}

fn is_on_its_way(word: &str) -> bool {
    let in_ing = word.len() >= ON_ITS_WAY_LETTERS && word.ends_with("ing") && !THINGS.has(word);
    in_ing || ON_ITS_WAY.has(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_is_not_done_is_known_in_whatever_trade() {
        for text in [
            "{\"id\":7,\"status\":\"processing\"}",
            "kafka up 10 seconds (health: starting)",
            "warming",
            "api-6d5f  0/1     containercreating   0   3s",
            "e: could not get lock /var/lib/dpkg/lock",
            "429 too many requests",
            "phase: in_progress",
        ] {
            assert!(is_pending(text), "{text}");
        }
        for text in [
            "- heading \"cart\"",
            "    11\t  padding: 16px 12px;",
            "nothing",
            "==> linting chart\n1 chart(s) linted",
            "done",
            "all tests are running fine here now",
            "{\"status\":\"ok\"}",
        ] {
            assert!(!is_pending(text), "{text}");
        }
    }
}
