//! Comments in programs: what a model remarks, not what is run.
//!
//! A query that differs from the last one in a comment only is the same query. Of SQL all comments are left out. Of
//! shell commands and code only one at the end of the last line is: elsewhere `#` may start a line of a document.

use super::approach::is_command_name;

/// The statements that a query starts with.
const STATEMENTS: [&str; 8] = [
    "select", "with", "insert", "update", "delete", "explain", "show", "describe",
];

/// `text`, the value under `name`, without its comments; nothing if there are none.
pub(super) fn without_comments(name: &str, text: &str) -> Option<String> {
    if matches!(name, "sql" | "query" | "statement") && is_statement(text) {
        let has_any = text.contains("--") || text.contains("/*");
        return has_any.then(|| of_sql(text));
    }
    if is_command_name(name) || name == "code" {
        return of_last_line(text).map(str::to_owned);
    }
    None
}

fn is_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    STATEMENTS
        .iter()
        .any(|statement| first.eq_ignore_ascii_case(statement))
}

fn of_sql(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut quote = None;
    while let Some(first) = rest.chars().next() {
        let comment = match quote {
            None if rest.starts_with("--") => Some("\n"),
            None if rest.starts_with("/*") => Some("*/"),
            _ => None,
        };
        if let Some(end) = comment {
            rest = rest.split_once(end).map_or("", |(_, after)| after);
            continue;
        }
        match quote {
            Some(open) if open == first => quote = None,
            None if matches!(first, '\'' | '"' | '`') => quote = Some(first),
            _ => {}
        }
        out.push(first);
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    let end = out.trim_end_matches([' ', '\n', '\t', ';']).len();
    out.truncate(end);
    out
}

/// `make test  # once more`; not what a here-document holds.
fn of_last_line(text: &str) -> Option<&str> {
    if text.contains("<<") {
        return None;
    }
    let (before, comment) = text.rsplit_once(" #")?;
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`');
    let in_quotes = comment.contains(is_quote) || line.matches(is_quote).count() % 2 == 1;
    let kept = before.trim_end();
    (!in_quotes && !comment.contains('\n') && !kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_left_out_and_what_looks_like_one_is_not() {
        for (name, text, without) in [
            ("sql", "select 1 -- check", Some("select 1")),
            (
                "query",
                "SELECT /* a */ 1; -- b\nfrom t;",
                Some("SELECT  1; from t"),
            ),
            ("sql", "select '--' from t", Some("select '--' from t")),
            ("query", "how to -- in c", None),
            ("command", "make test  # once more", Some("make test")),
            ("command", "echo 'a # b'", None),
            ("command", "cat <<E > a\nx\n# Title", None),
            ("code", "df.head()  # check", Some("df.head()")),
            ("code", "# Title\nx = 1", None),
            ("command", "echo $# a", None),
            ("text", "a # b", None),
        ] {
            assert_eq!(without_comments(name, text).as_deref(), without, "{text}");
        }
    }
}
