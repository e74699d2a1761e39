//! Short forms of long JSON, for people who read a diff.

/// The first `max` characters of `text`, on one line.
pub(super) fn excerpt(text: &str, max: usize) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = words.char_indices().nth(max) {
        words.truncate(at);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(excerpt("{\n  \"a\": 1 }", 20), "{ \"a\": 1 }");
        assert_eq!(excerpt("ééééé", 4), "éééé…");
        assert_eq!(excerpt("éééé", 4), "éééé");
    }
}
