//! An SQL text before it is cut into tokens.

/// The text without marks of unknown parts and without commands of the client itself.
pub(super) fn readable(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in crate::expand::show(text).lines() {
        if !line.trim_start().starts_with(['\\', '.']) {
            plain.push_str(&line.replace('…', "unknown"));
        }
        plain.push('\n');
    }
    plain
}

/// Whether a name stands in brackets, as `[dbo].[orders]`.
pub(super) fn has_brackets(text: &str) -> bool {
    text.match_indices('[').any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + 1..).unwrap_or_default();
        let name = after.split(']').next().unwrap_or_default();
        before.ends_with([' ', '.', '(', '\n'])
            && name.len() < after.len()
            && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && !before.trim_end().to_ascii_lowercase().ends_with("array")
    })
}
