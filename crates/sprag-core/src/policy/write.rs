//! A policy as text: complete, in one fixed order, and reading back as the same policy.
//!
//! What is in force is written out key by key, so two files that mean the same give the same text.
//! That makes the text the natural thing to take a digest of, and to keep in a log next to the
//! verdicts that were reached under it. A pause is written as the modes that it leaves.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Policy;
use super::key::KEYS;
use super::mode::Mode;
use super::overrides::Override;
use super::setting::{OFF, Setting, SettingKind};
use super::tool::word_of;
use crate::price::Price;
use crate::rule::RuleId;
use crate::time::Millis;

/// The whole policy as TOML.
pub(super) fn to_toml(policy: &Policy) -> String {
    let mut text = String::from("[rules]\n");
    let limits = policy.base();
    for rule in RuleId::ALL {
        if rule.has_mode() {
            let mode = limits.modes.get(*rule).as_str();
            line(&mut text, format_args!("\"{rule}\" = \"{mode}\""));
        }
    }
    sections(&mut text, policy);
    if !limits.prices.is_empty() {
        text.push_str("\n[prices]\n");
    }
    for (glob, of) in limits.prices.iter() {
        line(
            &mut text,
            format_args!("{} = {}", quoted(glob.as_str()), price(of)),
        );
    }
    for (glob, kind) in limits.tools.iter() {
        let word = word_of(*kind);
        text.push_str("\n[[tool]]\n");
        line(&mut text, format_args!("match = {}", quoted(glob.as_str())));
        line(&mut text, format_args!("kind = \"{word}\""));
    }
    for written in &policy.overrides {
        override_table(&mut text, written, policy.paused);
    }
    text
}

fn sections(text: &mut String, policy: &Policy) {
    let mut section = "";
    let mut table = "";
    for key in KEYS {
        if section != key.section() {
            section = key.section();
            line(text, format_args!("\n[{section}]"));
        }
        let parent = parent(key.name());
        if parent == section {
            let value = show(key.kind, &(key.load)(policy.base()));
            line(text, format_args!("{} = {value}", last(key.name())));
        } else if table != parent {
            let value = small_table(policy, parent).unwrap_or_default();
            line(text, format_args!("{} = {value}", last(parent)));
        }
        table = parent;
    }
}

/// A table of plain keys, `flow.echo`, in one line.
pub(super) fn small_table(policy: &Policy, name: &str) -> Option<String> {
    let keys = KEYS
        .iter()
        .filter(|key| name.contains('.') && parent(key.name()) == name);
    let pairs: Vec<String> = keys
        .map(|key| {
            let value = show(key.kind, &(key.load)(policy.base()));
            format!("{} = {value}", last(key.name()))
        })
        .collect();
    (!pairs.is_empty()).then(|| format!("{{ {} }}", pairs.join(", ")))
}

/// A price as a table in one line.
pub(super) fn price(price: &Price) -> String {
    let [input, output, read, write] = [
        price.input,
        price.output,
        price.cache_read,
        price.cache_write,
    ]
    .map(dollars);
    format!("{{ input = {input}, output = {output}, cache_read = {read}, cache_write = {write} }}")
}

fn parent(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(parent, _)| parent)
}

fn last(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

fn override_table(text: &mut String, written: &Override, paused: bool) {
    text.push_str("\n[[override]]\n");
    let mut keys = written.settings.keys().filter_map(|index| KEYS.get(*index));
    let session = if keys.any(|key| key.section() == "session") {
        "session.match"
    } else {
        "session"
    };
    for (name, glob) in [("agent", &written.agent), (session, &written.session)] {
        if let Some(glob) = glob {
            line(text, format_args!("{name} = {}", quoted(glob.as_str())));
        }
    }
    for (index, setting) in &written.settings {
        if let Some(key) = KEYS.get(*index) {
            let value = show(key.kind, setting);
            line(text, format_args!("{} = {value}", key.name()));
        }
    }
    let in_force = |mode: Mode| if paused { mode.min(Mode::Shadow) } else { mode };
    let modes = written.modes.iter();
    let modes = modes.map(|(rule, mode)| (*rule, in_force(*mode))).collect();
    for (rules, mode) in summed_up(&modes) {
        line(
            text,
            format_args!("rules.\"{rules}\" = \"{}\"", mode.as_str()),
        );
    }
}

/// The modes of an override in as few lines as possible: all rules, whole families, single
/// rules. Globs that were written over many rules would otherwise make the text grow with each.
fn summed_up(modes: &BTreeMap<RuleId, Mode>) -> Vec<(String, Mode)> {
    let with_mode = || RuleId::ALL.iter().filter(|rule| rule.has_mode());
    if let Some(mode) = common(modes, with_mode()) {
        return vec![("*".to_owned(), mode)];
    }
    let mut lines = Vec::new();
    for (rule, mode) in modes {
        let family = || with_mode().filter(|other| other.family() == rule.family());
        match common(modes, family()) {
            None => lines.push((rule.to_string(), *mode)),
            Some(_) if family().next() == Some(rule) => {
                lines.push((format!("{}.*", rule.family()), *mode));
            }
            Some(_) => {}
        }
    }
    lines
}

/// The mode that is set for each of the rules, if it is the same.
fn common<'r>(
    modes: &BTreeMap<RuleId, Mode>,
    rules: impl Iterator<Item = &'r RuleId>,
) -> Option<Mode> {
    let mut set = rules.map(|rule| modes.get(rule));
    let first = *set.next()??;
    set.all(|mode| mode == Some(&first)).then_some(first)
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{content}");
}

/// A value as it is written in TOML; it is also valid JSON.
pub(super) fn show(kind: SettingKind, setting: &Setting) -> String {
    match setting {
        Setting::Count(count) => count.to_string(),
        Setting::Span(span) => format!("\"{span}\""),
        Setting::Flag(flag) => flag.to_string(),
        Setting::Word(word) => format!("\"{word}\""),
        Setting::Globs(globs) => list(globs.iter().map(|glob| glob.as_str())),
        Setting::Names(names) => list(names.iter().map(|name| &**name)),
        Setting::Amount(None) => format!("\"{OFF}\""),
        Setting::Amount(Some(amount)) => match kind {
            SettingKind::Time => format!("\"{}\"", Millis(*amount)),
            SettingKind::Money => dollars(*amount),
            _ => amount.to_string(),
        },
    }
}

fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let items: Vec<String> = texts.map(quoted).collect();
    format!("[{}]", items.join(", "))
}

/// Millionths as dollars, with at least one decimal so that it stays a decimal number.
fn dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let short = text.trim_end_matches('0');
    let zero = if short.ends_with('.') { "0" } else { "" };
    format!("{short}{zero}")
}

/// A string as TOML and JSON both write it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                // Control characters all fit into four digits.
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_show_what_they_are() {
        for (micros, text) in [(5_000_000, "5.0"), (1, "0.000001"), (12_340_000, "12.34")] {
            assert_eq!(dollars(micros), text);
        }
    }

    #[test]
    fn quoted_text_escapes_what_would_end_it() {
        assert_eq!(quoted("a\"b\\c\u{1}é"), "\"a\\\"b\\\\c\\u0001é\"");
    }
}
