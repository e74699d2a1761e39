//! TOML into the tree.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Entry, Lines, Node, Number, Value};
use crate::policy::error::{ErrorList, Problem};

/// The parser's words for a key that is there already; it points at the key.
const TWICE: &str = "duplicate key";

/// Reads a text, or tells every place where it is no TOML.
pub(in crate::policy) fn parse(text: &str, errors: &mut ErrorList) -> Option<Node> {
    let lines = Lines::new(text);
    let (table, wrong) = DeTable::parse_recoverable(text);
    if wrong.is_empty() {
        return Some(Node {
            value: Value::Table(entries(table.into_inner(), &lines)),
            place: Some(lines.place(0)),
        });
    }
    for error in wrong {
        let place = error.span().map(|span| lines.place(span.start));
        let at = error.span().and_then(|span| text.get(span));
        match (error.message(), at) {
            (TWICE, Some(key)) => errors.push(key, place, Problem::Twice),
            (message, _) => errors.push("", place, Problem::Syntax(message.to_owned())),
        }
    }
    None
}

/// The parser keeps tables sorted by name; the order of the text decides between equals.
fn entries(table: DeTable<'_>, lines: &Lines<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(name, value)| Entry {
            place: Some(lines.place(name.span().start)),
            name: name.into_inner().into_owned(),
            node: node(value, lines),
        })
        .collect();
    entries.sort_by_key(|entry| entry.place);
    entries
}

/// The parser itself refuses what nests too deep, so this recursion is bounded.
fn node(value: Spanned<DeValue<'_>>, lines: &Lines<'_>) -> Node {
    let place = Some(lines.place(value.span().start));
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => Value::Number(Number {
            text: number.to_string(),
            whole: i64::from_str_radix(number.as_str(), number.radix()).ok(),
        }),
        DeValue::Float(number) => Value::Number(Number {
            text: number.to_string(),
            whole: None,
        }),
        DeValue::Boolean(flag) => Value::Bool(flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            Value::List(items.into_iter().map(|item| node(item, lines)).collect())
        }
        DeValue::Table(table) => Value::Table(entries(table, lines)),
    };
    Node { value, place }
}
