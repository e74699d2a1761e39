//! TOML into the tree.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{LineTable, Node, NodeValue, NumberText, TableEntry};
use crate::policy::error::{ErrorList, PolicyProblem};

/// The parser's message for a key that is there already; it points at the key.
const TWICE: &str = "duplicate key";

/// Reads a text, or reports every place at which it is not TOML.
pub(in crate::policy) fn parse(text: &str, errors: &mut ErrorList) -> Option<Node> {
    let lines = LineTable::new(text);
    let (table, wrong) = DeTable::parse_recoverable(text);
    if wrong.is_empty() {
        return Some(Node {
            value: NodeValue::Table(entries(table.into_inner(), &lines)),
            place: Some(lines.place(0)),
        });
    }
    for error in wrong {
        let place = error.span().map(|span| lines.place(span.start));
        let at = error.span().and_then(|span| text.get(span));
        match (error.message(), at) {
            (TWICE, Some(key)) => errors.push(key, place, PolicyProblem::Twice),
            (message, _) => errors.push("", place, PolicyProblem::Syntax(message.to_owned())),
        }
    }
    None
}

/// The parser keeps tables sorted by name; the order of the text decides between equals.
fn entries(table: DeTable<'_>, lines: &LineTable<'_>) -> Vec<TableEntry> {
    let mut entries: Vec<TableEntry> = table
        .into_iter()
        .map(|(name, value)| TableEntry {
            place: Some(lines.place(name.span().start)),
            name: name.into_inner().into_owned(),
            node: node(value, lines),
        })
        .collect();
    entries.sort_by_key(|entry| entry.place);
    entries
}

/// The parser itself refuses what nests too deep, so this recursion is bounded.
fn node(value: Spanned<DeValue<'_>>, lines: &LineTable<'_>) -> Node {
    let place = Some(lines.place(value.span().start));
    let value = match value.into_inner() {
        DeValue::String(text) => NodeValue::Text(text.into_owned()),
        DeValue::Integer(number) => NodeValue::Number(NumberText {
            text: number.to_string(),
            whole: i64::from_str_radix(number.as_str(), number.radix()).ok(),
        }),
        DeValue::Float(number) => NodeValue::Number(NumberText {
            text: number.to_string(),
            whole: None,
        }),
        DeValue::Boolean(flag) => NodeValue::Bool(flag),
        DeValue::Datetime(_) => NodeValue::Date,
        DeValue::Array(items) => {
            NodeValue::List(items.into_iter().map(|item| node(item, lines)).collect())
        }
        DeValue::Table(table) => NodeValue::Table(entries(table, lines)),
    };
    Node { value, place }
}
