//! What a person meant who wrote something else.

/// The candidate that `word` is most likely a slip of, if any is near enough to say so.
///
/// Near is a third of the word's letters wrong, or one letter in a short one; a last part that is
/// right (`depth` for `flow.depth`) is near as well.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let reach = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&word, candidate, reach)?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn distance(word: &str, candidate: &str, reach: usize) -> Option<usize> {
    let whole = strsim::damerau_levenshtein(word, candidate);
    let tail = candidate.rsplit('.').next().unwrap_or(candidate);
    let distance = if tail == word { whole.min(1) } else { whole };
    (distance <= reach).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 4] = ["flow.depth", "flow.rate", "inbox.rate", "session.defiance"];

    #[test]
    fn a_slip_is_understood() {
        assert_eq!(nearest("flow.dpeth", WORDS), Some("flow.depth"));
        assert_eq!(nearest("Flow.Depth", WORDS), Some("flow.depth"));
        assert_eq!(nearest("session.defience", WORDS), Some("session.defiance"));
    }

    #[test]
    fn the_last_part_is_enough() {
        assert_eq!(nearest("depth", WORDS), Some("flow.depth"));
    }

    #[test]
    fn something_else_altogether_is_not_guessed_at() {
        assert_eq!(nearest("kubernetes", WORDS), None);
        assert_eq!(nearest("", WORDS), None);
    }
}
