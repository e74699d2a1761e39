//! Lists of words as a person would write them: in one string, between spaces or bars.
//!
//! Nearly every word that is looked up is on no list. So each list carries marks, made when it is compiled,
//! and a word whose mark is not among them needs no look at the list.

/// Words between spaces.
pub(super) struct WordList {
    text: &'static str,
    marks: BitSet<16>,
}

impl WordList {
    pub(super) const fn new(text: &'static str) -> Self {
        let mut marks = BitSet::NONE;
        let mut rest = text.as_bytes();
        while let Some((word, after)) = first(rest, b' ') {
            marks = marks.with(of_word(word));
            rest = after;
        }
        Self { text, marks }
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.has_bytes(word.as_bytes())
    }

    pub(super) fn has_bytes(&self, word: &[u8]) -> bool {
        self.marks.has(of_word(word)) && items(self.text, b' ').any(|listed| listed == word)
    }
}

#[cfg(test)]
impl WordList {
    pub(super) fn list(&self) -> impl Iterator<Item = &'static str> {
        self.text.split(' ')
    }
}

/// Phrases between bars, each of at least three bytes.
pub(super) struct PhraseList {
    text: &'static str,
    marks: BitSet<64>,
}

impl PhraseList {
    pub(super) const fn new(text: &'static str) -> Self {
        let mut marks = BitSet::NONE;
        let mut rest = text.as_bytes();
        while let Some((phrase, after)) = first(rest, b'|') {
            marks = marks.with(of_start(phrase));
            rest = after;
        }
        Self { text, marks }
    }

    /// Whether `text` starts with one of them.
    pub(super) fn start(&self, text: &[u8]) -> bool {
        let mut listed = items(self.text, b'|');
        self.marks.has(of_start(text)) && listed.any(|phrase| text.starts_with(phrase))
    }

    /// The offsets of the phrases in `text`.
    pub(super) fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = usize> + 'a {
        let bytes = text.as_bytes();
        let threes = bytes.windows(3).enumerate();
        let marked = threes.filter(|(_, three)| self.marks.has(of_start(three)));
        marked
            .map(|(at, _)| at)
            .filter(move |at| self.start(bytes.get(*at..).unwrap_or_default()))
    }
}

/// A set of small numbers: `N` times 64.
struct BitSet<const N: usize>([u64; N]);

impl<const N: usize> BitSet<N> {
    const NONE: Self = Self([0; N]);

    #[expect(
        clippy::indexing_slicing,
        reason = "runs when it is compiled, and is in bounds"
    )]
    const fn with(mut self, number: usize) -> Self {
        self.0[number / 64 % N] |= 1 << (number % 64);
        self
    }

    fn has(&self, number: usize) -> bool {
        let marks = self.0.get(number / 64 % N).copied().unwrap_or_default();
        marks >> (number % 64) & 1 == 1
    }
}

/// A number for a word, by its length, its beginning and its end.
const fn of_word(word: &[u8]) -> usize {
    let [length, ..] = word.len().to_le_bytes();
    let number = match word {
        [first, second, .., last] => u32::from_be_bytes([length, *first, *second, *last]),
        [first, last] => u32::from_be_bytes([2, *first, 0, *last]),
        [only] => *only as u32,
        [] => 0,
    };
    (number.wrapping_mul(0x9E37_79B1) >> 22) as usize
}

/// A number for whatever starts with the same three bytes.
const fn of_start(text: &[u8]) -> usize {
    match text {
        [a, b, c, ..] => {
            let number = u32::from_be_bytes([0, *a, *b, *c]);
            (number.wrapping_mul(0x9E37_79B1) >> 20) as usize
        }
        _ => 0,
    }
}

/// The items of a list, one by one.
fn items(text: &'static str, between: u8) -> impl Iterator<Item = &'static [u8]> {
    let mut rest = text.as_bytes();
    std::iter::from_fn(move || {
        let (item, after) = first(rest, between)?;
        rest = after;
        Some(item)
    })
}

/// The first item of a list, and the rest of the list.
#[expect(
    clippy::indexing_slicing,
    reason = "a const fn has no iterators; the loop stays in bounds"
)]
const fn first(list: &[u8], between: u8) -> Option<(&[u8], &[u8])> {
    let mut end = 0;
    while end < list.len() && list[end] != between {
        end += 1;
    }
    let (item, rest) = list.split_at(end);
    match rest {
        [_, rest @ ..] => Some((item, rest)),
        [] if item.is_empty() => None,
        [] => Some((item, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: WordList = WordList::new("pid ppid x");
    const PHRASES: PhraseList = PhraseList::new("no such|error|can't");

    #[test]
    fn a_word_is_on_the_list_or_not() {
        for word in ["pid", "ppid", "x"] {
            assert!(WORDS.has(word), "{word}");
        }
        for word in ["", " ", "pi", "pid ppid", "PID", "d", "pppd", "xx"] {
            assert!(!WORDS.has(word), "{word}");
        }
    }

    #[test]
    fn phrases_are_found_wherever_they_start() {
        let places = |text| PHRASES.places(text).collect::<Vec<_>>();
        assert_eq!(places("no such error"), vec![0_usize, 8]);
        assert_eq!(places("ärror: can't"), vec![8_usize]);
        assert!(places("no suc").is_empty());
        assert!(PHRASES.start(b"errors") && !PHRASES.start(b"er"));
    }
}
