//! Which pairs of bytes a text has.
//!
//! Redaction looks for some fifty fixed words, and nearly no text has any of them. A search costs more to set up than
//! to run over a short text, so the text is read once, and only words that it may hold are searched for.

use std::ops::Range;

/// The pairs of bytes of a text, as bits: two pairs may share one, so it can only rule words out.
#[derive(Debug)]
pub(super) struct BytePairs([u64; 64]);

impl BytePairs {
    /// The pairs of `text`.
    pub(super) fn of(text: &str) -> Self {
        let mut pairs = Self([0; 64]);
        let bytes = text.as_bytes();
        for (first, second) in bytes.iter().zip(bytes.iter().skip(1)) {
            let (slot, bit) = place(*first, *second);
            if let Some(slot) = pairs.0.get_mut(slot) {
                *slot |= bit;
            }
        }
        pairs
    }

    /// Whether the text may hold `word`, which has at least two bytes.
    pub(super) fn may_hold(&self, word: &str) -> bool {
        let bytes = word.as_bytes();
        let mut pairs = bytes.iter().zip(bytes.iter().skip(1));
        pairs.all(|(first, second)| {
            let (slot, bit) = place(*first, *second);
            self.0.get(slot).is_some_and(|slot| slot & bit != 0)
        })
    }

    /// Where `word` stands in `text`, the text of these pairs.
    pub(super) fn places<'t>(
        &self,
        text: &'t str,
        word: &'t str,
    ) -> impl Iterator<Item = Range<usize>> + use<'t> {
        let text = if self.may_hold(word) { text } else { "" };
        let found = text.match_indices(word);
        found.map(|(at, found)| at..at + found.len())
    }
}

/// Six bits of each byte choose the slot and the bit in it.
const fn place(first: u8, second: u8) -> (usize, u64) {
    ((first & 63) as usize, 1 << (second & 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_word_is_ruled_out_that_is_there(text in "\\PC{0,40}", word in "\\PC{1,3}", rest in "\\PC{0,40}") {
            let all = format!("{text}{word}{rest}");
            let pairs = BytePairs::of(&all);
            prop_assume!(word.len() >= 2);
            prop_assert!(pairs.may_hold(&word));
            let found: Vec<usize> = pairs.places(&all, &word).map(|range| range.start).collect();
            let expected: Vec<usize> = all.match_indices(&word).map(|(at, _)| at).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_word_that_is_not_there_is_ruled_out() {
        assert!(!BytePairs::of("src/module_1.rs: warning").may_hold("://"));
    }
}
