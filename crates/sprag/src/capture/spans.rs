//! Places in a text that are to be taken out.

use std::ops::Range;

/// Byte ranges of one text, in any order, overlapping or not.
#[derive(Debug, Default)]
pub(super) struct Spans(Vec<Range<usize>>);

/// Where `part`, which was cut out of `text`, stands in it.
pub(super) fn place_in(text: &str, part: &str) -> usize {
    let start = part.as_ptr().addr();
    start.saturating_sub(text.as_ptr().addr())
}

impl Spans {
    pub(super) fn add(&mut self, span: Range<usize>) {
        if !span.is_empty() {
            self.0.push(span);
        }
    }

    /// `text` with every span replaced by `mark`; spans that touch become one.
    pub(super) fn replace(mut self, text: &str, mark: &str) -> String {
        self.0.sort_by_key(|span| span.start);
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let mut open: Option<Range<usize>> = None;
        for span in self.0 {
            match &mut open {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                _ => {
                    flush(&mut out, text, &mut done, open.replace(span), mark);
                }
            }
        }
        flush(&mut out, text, &mut done, open, mark);
        out.push_str(text.get(done..).unwrap_or_default());
        out
    }
}

fn flush(out: &mut String, text: &str, done: &mut usize, span: Option<Range<usize>>, mark: &str) {
    if let Some(span) = span {
        out.push_str(text.get(*done..span.start).unwrap_or_default());
        out.push_str(mark);
        *done = span.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "an odd span must do no harm")]
    fn overlapping_and_touching_spans_become_one() {
        let mut spans = Spans::default();
        for span in [6..9, 0..2, 1..4, 4..5, 7..3] {
            spans.add(span);
        }
        assert_eq!(spans.replace("0123456789", "*"), "*5*9");
    }
}
