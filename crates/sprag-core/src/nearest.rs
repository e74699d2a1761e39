//! The name that somebody probably meant.
//!
//! Most wrong keys are a slip of one or two letters, another spelling of the same words
//! (`maxDepth`, `max-depth`), or half of the name (`depth`). Each gets the right name told; where
//! nothing is near, silence beats a misleading guess.

/// Longer names are not typing mistakes, and the comparison costs their product.
const MAX_CHARS: usize = 64;

/// The nearest of `names` to `wrong`, if one is near; among equals the first.
#[must_use]
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = plain(wrong);
    if wrong.is_empty() || wrong.len() > MAX_CHARS {
        return None;
    }
    names
        .into_iter()
        .filter_map(|name| distance(&wrong, &plain(name)).map(|far| (far, name)))
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// Letters and digits only, in lower case: spelling without style.
fn plain(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .take(MAX_CHARS + 1)
        .flat_map(char::to_lowercase)
        .collect()
}

/// How far apart two names are, or none if they have nothing to do with each other.
fn distance(wrong: &[char], right: &[char]) -> Option<usize> {
    let edits = edits(wrong, right);
    let slips = (wrong.len().min(right.len()) / 3).max(1);
    if edits <= slips && edits < right.len() {
        return Some(edits);
    }
    // Half of a name is further away than any slip.
    let half = wrong.len() >= 3 && right.windows(wrong.len()).any(|part| part == wrong);
    half.then(|| MAX_CHARS + edits)
}

/// The number of letters to insert, drop, replace or swap with their neighbour.
fn edits(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    let mut previous = None;
    for (row, letter) in from.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let at = |cells: &[usize], i: usize| cells.get(i).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&above, column) + usize::from(letter != other);
            let mut best = replaced
                .min(at(&above, column + 1) + 1)
                .min(at(&line, column) + 1);
            let left = column.checked_sub(1);
            if let Some(left) = left
                && previous == Some(other)
                && to.get(left) == Some(letter)
            {
                best = best.min(at(&before, left) + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
        previous = Some(letter);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["max_depth", "max_sessions", "max_calls", "echo", "window"];

    #[test]
    fn slips_other_spellings_and_halves_find_their_name() {
        for (wrong, right) in [
            ("max_dept", Some("max_depth")),
            ("max_detph", Some("max_depth")),
            ("maxDepth", Some("max_depth")),
            ("max-depth", Some("max_depth")),
            ("depth", Some("max_depth")),
            ("sessions", Some("max_sessions")),
            ("windw", Some("window")),
            ("ehco", Some("echo")),
            ("colour", None),
            ("", None),
            ("__", None),
            ("xy", None),
        ] {
            assert_eq!(nearest(wrong, NAMES), right, "{wrong}");
        }
    }

    #[test]
    fn a_very_long_name_is_near_to_nothing() {
        assert_eq!(nearest(&"max_depth".repeat(10_000), NAMES), None);
    }
}
