//! The known word that a mistyped one was probably meant to be, for error messages that help.

/// Longer words are nobody's typing errors.
const MAX_CHARS: usize = 64;

/// The candidate with the fewest edits to `word`, if it takes at most a third of its letters.
pub(crate) fn nearest<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    if word.chars().nth(MAX_CHARS).is_some() {
        return None;
    }
    let allowed = word.chars().count().div_ceil(3);
    candidates
        .iter()
        .map(|candidate| (edits(word, candidate), *candidate))
        .min_by_key(|(edits, _)| *edits)
        .filter(|(edits, _)| *edits <= allowed)
        .map(|(_, candidate)| candidate)
}

/// The Levenshtein distance, one row at a time.
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (at, a) in from.chars().enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(to.chars()) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *cell;
            left = replaced.min(left + 1).min(diagonal + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_word_and_nonsense_finds_none() {
        let words = ["message", "call", "step"];
        assert_eq!(nearest("mesage", &words), Some("message"));
        assert_eq!(nearest("Call", &words), Some("call"));
        assert_eq!(nearest("steps", &words), Some("step"));
        assert_eq!(nearest("banana", &words), None);
        assert_eq!(nearest("", &words), None);
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
