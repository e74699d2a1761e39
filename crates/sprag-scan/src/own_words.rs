//! What Sprag itself wrote into a transcript.
//!
//! In a guarded session some results are not results: hooks and the MCP proxy refused the call and
//! told the model why. Such a call never ran, so it is not part of a loop.

/// How every text of a hook starts.
const MARK: &str = "sprag: ";
/// How far into a result a client's own words before it may reach.
const MAX_BEFORE: usize = 300;

/// Whether the text of a failed call is a refusal by Sprag.
pub(crate) fn is_refusal(text: &str) -> bool {
    let start = text
        .get(..text.floor_char_boundary(MAX_BEFORE))
        .unwrap_or(text);
    start.match_indices(MARK).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '\'' | '[' | '(' | 'n'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_known_behind_the_words_of_a_client() {
        for text in [
            "sprag: session s is blocked",
            "Tool use denied by hook: sprag: 6 equal results in a row",
            "\"Error: sprag: loop_detected\"",
            "Hook failed\\nsprag: loop_detected",
        ] {
            assert!(is_refusal(text), "{text}");
        }
        for text in [
            "error: no such file",
            "https://example.org/mysprag: x",
            "the program sprag is not here",
        ] {
            assert!(!is_refusal(text), "{text}");
        }
        assert!(!is_refusal(&format!("{}sprag: late", "x ".repeat(400))));
    }
}
