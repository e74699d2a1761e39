//! Words that several messages share, and names made fit to stand in one.
//!
//! Sessions, tools, files and targets are named by agents, and every message that repeats such a name
//! is read by a model or a person. A name must not be able to end its quotes, look like markup, hide
//! a part of itself or turn the text around. So every message takes names through [`plain_name`], and
//! every command in a hint through [`shell_word`].

use crate::time::Millis;

/// How many characters of a name are repeated.
const MAX_NAME_CHARS: usize = 96;

/// A name as a message repeats it: what can't be seen is left out, what could be markup is replaced, and
/// what is too long is cut.
#[must_use]
pub fn plain_name(name: &str) -> String {
    let mut shown = name.chars().filter(|c| !is_hidden(*c)).map(inert);
    let mut plain: String = shown.by_ref().take(MAX_NAME_CHARS).collect();
    if shown.next().is_some() {
        plain.push('…');
    }
    plain
}

/// Control characters, and those that are read but not seen: joiners, marks of direction, tags. Some programs drop
/// them, and some end a text there.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// What could begin code, a tag or a link looks like itself and is none.
fn inert(c: char) -> char {
    match c {
        '`' => '\'',
        '<' => '‹',
        '>' => '›',
        '[' => '(',
        ']' => ')',
        other => other,
    }
}

/// `text` as one word of a shell command, so that a hint can be pasted whatever an agent called itself.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '%' | '+' | ',')
    };
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    if !text.chars().any(is_hidden) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    // What can't be seen is written by its number.
    let mut word = String::from("$'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => word.extend(['\\', c]),
            c if is_hidden(c) => word.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => word.push(c),
        }
    }
    word.push('\'');
    word
}

/// The command that resets `session`.
pub(crate) fn reset_hint(session: &str) -> String {
    let word = shell_word(session);
    if word.starts_with('-') {
        format!("sprag sessions reset --why \"…\" -- {word}")
    } else {
        format!("sprag sessions reset {word} --why \"…\"")
    }
}

/// The command that raises the limit `key` to twice `limit`, or at least to `needed`; none if the
/// policy allows no more, since a hint must lift what it hints at.
pub(crate) fn raise_hint(key: &str, limit: u32, needed: u32, most: u32) -> Option<String> {
    let raised = limit.saturating_mul(2).max(needed).min(most);
    (raised > limit && raised >= needed).then(|| format!("sprag policy set {key} {raised}"))
}

/// `60 s`, `1.5 s`: not rounded.
pub(crate) fn seconds(span: Millis) -> String {
    let (whole, rest) = (span.0 / Millis::SECOND.0, span.0 % Millis::SECOND.0);
    if rest == 0 {
        return format!("{whole} s");
    }
    let fraction = format!("{rest:03}");
    format!("{whole}.{} s", fraction.trim_end_matches('0'))
}

/// `5 minutes`, `1 hour`, `90 seconds`: the largest unit that expresses it exactly.
pub(crate) fn duration(span: Millis) -> String {
    let units = [
        (Millis::HOUR, "hour"),
        (Millis::MINUTE, "minute"),
        (Millis::SECOND, "second"),
    ];
    let exact = units
        .into_iter()
        .find(|(unit, _)| span.0 > 0 && span.0.is_multiple_of(unit.0));
    let (count, name) = exact.map_or((span.0, "millisecond"), |(unit, name)| {
        (span.0 / unit.0, name)
    });
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

/// `40 minutes`, `2 hours`: what has passed in full, from a minute on.
pub(crate) fn in_minutes(span: Millis) -> String {
    let (count, name) = match (span.0 / Millis::HOUR.0, span.0 / Millis::MINUTE.0) {
        (0, minutes) => (minutes, "minute"),
        (hours, _) => (hours, "hour"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_neither_hide_nor_mark_up_anything() {
        for (name, plain) in [
            ("fact_sales", "fact_sales"),
            ("a`b<c>[d](e)", "a'b‹c›(d)(e)"),
            ("a\u{202e}b\u{200b}c\u{feff}\u{e0041}\n", "abc"),
            ("größe 名", "größe 名"),
        ] {
            assert_eq!(plain_name(name), plain);
        }
        assert_eq!(plain_name(&"x".repeat(96)), "x".repeat(96));
        assert_eq!(plain_name(&"x".repeat(97)), format!("{}…", "x".repeat(96)));
    }

    #[test]
    fn a_word_of_a_shell_is_quoted_if_it_must_be() {
        for (text, word) in [
            ("s-1/coder", "s-1/coder"),
            ("my session", "'my session'"),
            ("it's; rm -rf /", "'it'\\''s; rm -rf /'"),
            ("$(id)", "'$(id)'"),
            ("", "''"),
            ("a\u{202e}'b", "$'a\\U0000202e\\'b'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
        assert_eq!(reset_hint("-x"), "sprag sessions reset --why \"…\" -- -x");
    }

    #[test]
    fn seconds_are_not_rounded() {
        assert_eq!(seconds(Millis(60_000)), "60 s");
        assert_eq!(seconds(Millis(1_500)), "1.5 s");
        assert_eq!(seconds(Millis(12_345)), "12.345 s");
    }

    #[test]
    fn a_duration_is_said_in_its_largest_exact_unit() {
        for (ms, said) in [
            (300_000, "5 minutes"),
            (60_000, "1 minute"),
            (90_000, "90 seconds"),
            (7_200_000, "2 hours"),
            (250, "250 milliseconds"),
        ] {
            assert_eq!(duration(Millis(ms)), said);
        }
    }
}
