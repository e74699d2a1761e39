//! What a person meant who wrote something else.

/// The candidate that `word` is most likely a slip of, if any is near enough to say so.
///
/// Near is a third of the word's letters wrong, or one letter in a short one; the last part alone
/// (`depth` for `flow.depth`) is near as well.
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
    let to = |other: &str| strsim::damerau_levenshtein(word, other);
    let near = |distance: &usize| *distance <= reach;
    let tail = candidate.rsplit('.').next().unwrap_or(candidate);
    let by_tail = || Some(to(tail)).filter(near).map(|distance| distance + 1);
    Some(to(candidate)).filter(near).or_else(by_tail)
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
        assert_eq!(nearest("depht", WORDS), Some("flow.depth"));
    }

    #[test]
    fn something_else_altogether_is_not_guessed_at() {
        assert_eq!(nearest("kubernetes", WORDS), None);
        assert_eq!(nearest("", WORDS), None);
    }
}
