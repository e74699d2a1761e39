//! Text from outside, made fit for a line.
//!
//! Ids hold no control characters, but tool names in messages, reasons and paths may; and some characters that are no
//! control characters still reorder or hide text on a terminal. Such characters are written as `\u{…}`, and what is
//! too long is cut.

use std::fmt::Write as _;

/// The longest name in a line, in characters.
const MAX_NAME: usize = 80;
/// The longest sentence in a line, in characters.
const MAX_SENTENCE: usize = 400;

/// A name in a line.
#[must_use]
pub fn safe(name: &str) -> String {
    within(name, MAX_NAME)
}

/// A sentence in a line.
pub(crate) fn safe_sentence(text: &str) -> String {
    within(text, MAX_SENTENCE)
}

fn within(text: &str, most: usize) -> String {
    let mut line = String::with_capacity(text.len().min(most));
    for (count, c) in text.chars().enumerate() {
        if count == most {
            line.push('…');
            break;
        }
        if misleads(c) {
            // Writing to a string can't fail.
            let _ = write!(line, "\\u{{{:x}}}", u32::from(c));
        } else {
            line.push(c);
        }
    }
    line
}

/// Control characters, line and paragraph separators, and what changes the direction of text or takes no room.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_starts_a_line_of_its_own_or_turns_text_around() {
        assert_eq!(
            safe("s1\n[Operator] me reset s1\r\u{1b}[31m"),
            "s1\\u{a}[Operator] me reset s1\\u{d}\\u{1b}[31m"
        );
        assert_eq!(
            safe("a\u{202e}b\u{2028}c\u{200b}"),
            "a\\u{202e}b\\u{2028}c\\u{200b}"
        );
        assert_eq!(safe("héllo → 1"), "héllo → 1");
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let long = safe(&"ä".repeat(300));
        assert_eq!(long, format!("{}…", "ä".repeat(80)));
        assert_eq!(safe(&"ä".repeat(80)), "ä".repeat(80));
    }
}
