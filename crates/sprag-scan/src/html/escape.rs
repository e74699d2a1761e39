//! Texts in a page: nothing that an agent handled is taken for a part of the page itself.

use std::borrow::Cow;

/// `text` as it may stand between tags and in quoted attributes.
///
/// Characters that turn the direction of writing around are shown as what they are: they could make a harmless command
/// look like another one.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if turns(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_special(c: char) -> bool {
    matches!(c, '&' | '<' | '>' | '"' | '\'') || turns(c)
}

fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_taken_for_a_tag() {
        assert_eq!(
            escape("<img src=x onerror='a()'> & \"b\""),
            "&lt;img src=x onerror=&#39;a()&#39;&gt; &amp; &quot;b&quot;"
        );
        assert_eq!(escape("a\u{202e}b"), "a\u{fffd}b");
        assert!(matches!(escape("plain ä"), Cow::Borrowed("plain ä")));
    }
}
