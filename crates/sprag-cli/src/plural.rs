//! `1 note`, `2 notes`.

/// A count with its word, whose plural ends in `s`.
pub(crate) fn plural(count: u64, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}
