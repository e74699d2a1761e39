//! Text for people: aligned tables and wrapped paragraphs.

use std::io::{Result, Write};

use crate::style::{HEAD, paint};

/// How wide a paragraph gets: a fixed width reads well and looks the same everywhere.
const WIDTH: usize = 88;

/// A table whose columns are as wide as their widest cell.
#[derive(Debug)]
pub(crate) struct TextTable<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> TextTable<N> {
    /// A table with these headings.
    pub(crate) fn new(headings: [&str; N]) -> Self {
        Self {
            rows: vec![headings.map(str::to_owned)],
        }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    /// Prints it, the headings first.
    pub(crate) fn print(&self, out: &mut dyn Write) -> Result<()> {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row
                .iter()
                .zip(widths)
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            let line = cells.join("  ");
            let line = line.trim_end();
            if number == 0 {
                writeln!(out, "{}", paint(HEAD, line))?;
            } else {
                writeln!(out, "{line}")?;
            }
        }
        Ok(())
    }
}

/// Prints a paragraph, its first line after `first`, the others after as many spaces.
pub(crate) fn paragraph(out: &mut dyn Write, first: &str, text: &str) -> Result<()> {
    let indent = " ".repeat(first.chars().count());
    for (number, line) in wrap(text, WIDTH.saturating_sub(indent.len()))
        .iter()
        .enumerate()
    {
        let before = if number == 0 { first } else { &indent };
        writeln!(out, "{before}{line}")?;
    }
    Ok(())
}

/// `1 run`, `3 runs`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Breaks a text between words. What stands between backticks is a command to copy, and stays whole
/// where it fits on a line.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut quoted = false;
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if quoted => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        quoted ^= word.matches('`').count() % 2 == 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let mut table = TextTable::new(["RULE", "N"]);
        table.row(["é".to_owned(), "1".to_owned()]);
        table.row(["flow.depth".to_owned(), String::new()]);
        let mut out = anstream::StripStream::new(Vec::new());
        table.print(&mut out).unwrap();
        let text = String::from_utf8(out.into_inner()).unwrap();
        assert_eq!(text, "RULE        N\né           1\nflow.depth\n");
    }

    #[test]
    fn commands_are_not_broken() {
        assert_eq!(
            wrap("use `sprag policy set a 1`, or nothing", 20),
            ["use", "`sprag policy set a 1`,", "or nothing"]
        );
        assert_eq!(wrap("", 20), Vec::<String>::new());
    }
}
