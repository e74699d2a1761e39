//! A policy's text as a tree with the position of each part.
//!
//! TOML and JSON mean the same things, so both become this tree and one reader checks it: a check
//! can't exist for one form and be missing for the other. Names and values carry the line and
//! column that an error reports; a value that came without a text has none.

mod from_json;
mod from_toml;

pub(super) use from_json::{convert as from_value, parse as parse_json};
pub(super) use from_toml::parse as parse_toml;

/// How deep a document may nest. A policy needs five levels.
pub(super) const MAX_DEPTH: usize = 16;

/// A line and a column, both from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A value and the position of its first character.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) value: NodeValue,
    pub(super) place: Option<Position>,
}

/// What a document can hold.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeValue {
    Null,
    Date,
    Bool(bool),
    Number(NumberText),
    Text(String),
    List(Vec<Node>),
    /// In the order of the text.
    Table(Vec<TableEntry>),
}

/// A number as it is written, so that decimals stay exact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberText {
    pub(super) text: String,
    /// Its value, if it is written without a fraction and fits into 64 bits.
    pub(super) whole: Option<i64>,
}

/// A name in a table and what stands under it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableEntry {
    pub(super) name: String,
    pub(super) place: Option<Position>,
    pub(super) node: Node,
}

impl NodeValue {
    /// What it is, for messages: `a string`.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Date => "a date",
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// The offsets at which the lines of a text begin, to turn offsets into positions.
struct LineTable<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineTable<'a> {
    fn new(text: &'a str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(after_breaks).collect(),
        }
    }

    /// The place of a byte offset; the last place for one beyond the text.
    fn place(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|at| self.starts.get(at));
        let before = start.and_then(|start| self.text.get(*start..offset.min(self.text.len())));
        let column = before.map_or(0, |before| before.chars().count()) + 1;
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters_from_one() {
        let lines = LineTable::new("ab\nçd\n\nx");
        for (offset, line, column) in [
            (0, 1, 1),
            (1, 1, 2),
            (3, 2, 1),
            (5, 2, 2),
            (7, 3, 1),
            (8, 4, 1),
            (99, 4, 2),
        ] {
            assert_eq!(lines.place(offset), Position { line, column }, "{offset}");
        }
    }
}
