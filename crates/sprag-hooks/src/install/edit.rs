//! Cutting entries into JSON text, and out of it again, to the byte.
//!
//! Putting in and taking out are each other's reverse: what stood between two entries stays where it was, comments
//! and trailing commas too.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::InstallError;

/// An object or a list in a text, with the places of what is in it.
#[derive(Debug, Clone)]
pub(super) struct Container {
    /// From its opening to its closing sign.
    range: Range<usize>,
    items: Vec<Range<usize>>,
}

impl Container {
    pub(super) fn object(object: &Object<'_>) -> Self {
        Self {
            range: object.range.start..object.range.end,
            items: object
                .properties
                .iter()
                .map(|property| property.range.start..property.range.end)
                .collect(),
        }
    }

    pub(super) fn list(list: &Array<'_>) -> Self {
        use jsonc_parser::common::Ranged as _;
        Self {
            range: list.range.start..list.range.end,
            items: list
                .elements
                .iter()
                .map(|element| element.start()..element.end())
                .collect(),
        }
    }

    fn inside(&self) -> Range<usize> {
        self.range.start + 1..self.range.end.saturating_sub(1)
    }
}

/// What is read of a settings file.
pub(super) fn parse(text: &str) -> Result<Option<Value<'_>>, InstallError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())?;
    Ok(parsed.value)
}

/// `text` with `item` as the last one in `container`.
pub(super) fn put(text: &str, container: &Container, item: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let inside = part(text, container.inside());
    match container.items.last() {
        Some(last) => {
            let before = container.items.first().map_or(0, |first| first.start);
            let lead = part(text, container.range.start + 1..before);
            let space = match lead.contains('\n') {
                true => format!("{newline}{}", indent(text, last.start)),
                false => " ".to_owned(),
            };
            splice(text, last.end..last.end, &format!(",{space}{item}"))
        }
        None => {
            let outer = indent(text, container.range.start);
            let inner = format!("{outer}{}", unit(text));
            let (hole, end) = if inside.trim().is_empty() {
                (container.inside(), format!("{newline}{outer}"))
            } else {
                (
                    container.inside().start..container.inside().start,
                    String::new(),
                )
            };
            splice(text, hole, &format!("{newline}{inner}{item}{end}"))
        }
    }
}

/// `text` without the item at `index` of `container`.
pub(super) fn take(text: &str, container: &Container, index: usize) -> String {
    let Some(item) = container.items.get(index) else {
        return text.to_owned();
    };
    let before = index.checked_sub(1).and_then(|at| container.items.get(at));
    if let Some(before) = before {
        let gap = before.end..item.start;
        if is_plain_gap(part(text, gap)) {
            return splice(text, before.end..item.end, "");
        }
        // A comment stands between: it stays, the comma after the item before goes with the item.
        let kept = part(text, before.end..item.start).trim_end();
        let kept = kept.strip_prefix(',').unwrap_or(kept);
        return splice(text, before.end..item.end, kept);
    }
    match container.items.get(1) {
        Some(next) if is_plain_gap(part(text, item.end..next.start)) => {
            splice(text, item.start..next.start, "")
        }
        Some(next) => {
            let kept = part(text, item.end..next.start);
            let kept = kept.trim_start().strip_prefix(',').unwrap_or(kept);
            splice(text, item.start..next.start, kept.trim_start_matches(' '))
        }
        None => take_only(text, container, item),
    }
}

fn take_only(text: &str, container: &Container, item: &Range<usize>) -> String {
    let inside = container.inside();
    let before = part(text, inside.start..item.start);
    let after = part(text, item.end..inside.end);
    let rest = after.trim_start().strip_prefix(',').unwrap_or(after);
    let empty = before.trim().is_empty() && rest.trim().is_empty();
    let kept = if empty {
        String::new()
    } else {
        format!("{}{rest}", before.trim_end())
    };
    splice(text, inside, &kept)
}

fn is_plain_gap(gap: &str) -> bool {
    gap.chars().all(|c| c == ',' || c.is_whitespace())
}

/// The white space that the line of `at` starts with.
fn indent(text: &str, at: usize) -> &str {
    let line = text.get(..at).unwrap_or_default();
    let start = line.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..).unwrap_or_default();
    let width = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..width).unwrap_or_default()
}

/// What one level of indentation is in this text: that of its first indented line.
fn unit(text: &str) -> &str {
    let lines = text.lines().skip(1);
    lines
        .filter(|line| !line.trim().is_empty())
        .find_map(|line| {
            let width = line.len() - line.trim_start_matches([' ', '\t']).len();
            line.get(..width).filter(|unit| !unit.is_empty())
        })
        .unwrap_or("  ")
}

fn part(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

fn splice(text: &str, range: Range<usize>, with: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{with}{after}")
}
