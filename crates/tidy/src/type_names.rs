//! A type name that exists in two places means the same thing in both.
//!
//! A reader who meets `Usage` in one crate carries its meaning into the next. So a name is taken once, or it is
//! listed here with the reason why both mean the same. Types inside of functions, and those of tests, are seen by
//! nobody else and don't count.

use std::collections::BTreeMap;

use crate::tree::{Tree, Violation};

/// This file.
const LIST: &str = "crates/tidy/src/type_names.rs";

/// Names that every crate may have: the path before them says whose they are.
const COMMON: [&str; 3] = ["Error", "Options", "Builder"];

/// Where types of the core are described again, field by field, for the schema of the API. They bear the names
/// that the core gives them, because the schema shows those.
const DESCRIBED_AGAIN: &str = "crates/sprag-server/src/wire/";

/// Names in several places that mean the same there, and why they are not one type.
#[rustfmt::skip]
const SAME: [(&str, &str); 37] = [
    ("Announced", "a term of the shell's grammar, in the crate that reads it"),
    ("Answer", "a term of the model APIs, in the module of each API"),
    ("Base", "a term of the shell's grammar, in the crate that reads it"),
    ("Body", "a term of the model APIs, in the module of each API"),
    ("ClaudeLine", "a line of that client's transcript; the scan and the count of spend read different fields of it"),
    ("ClaudeMessage", "a line of that client's transcript; the scan and the count of spend read different fields of it"),
    ("ClaudeUsage", "a line of that client's transcript; the scan and the count of spend read different fields of it"),
    ("CodexInfo", "a line of that client's transcript; the scan and the count of spend read different fields of it"),
    ("CodexLine", "a line of that client's transcript; the scan and the count of spend read different fields of it"),
    ("CodexUsage", "a line of that client's transcript; the scan and the count of spend read different fields of it"),
    ("CopilotData", "a line of that client's transcript; the scan and the count of spend read different fields of it"),
    ("CopilotLine", "a line of that client's transcript; the scan and the count of spend read different fields of it"),
    ("CopilotUsage", "a line of that client's transcript; the scan and the count of spend read different fields of it"),
    ("Dialect", "how a client speaks"),
    ("Field", "a term of the shell's grammar, in the crate that reads it"),
    ("Identity", "who a session is"),
    ("InstallError", "why settings could not be changed, for each kind of settings"),
    ("Judge", "turns events into verdicts"),
    ("LoginLink", "what the server answers, and what its client reads"),
    ("Message", "a term of the model APIs, in the module of each API"),
    ("OpenCall", "a term of the model APIs, in the module of each API"),
    ("Part", "a term of the model APIs, in the module of each API"),
    ("Path", "a term of the shell's grammar, in the crate that reads it"),
    ("Problem", "what the server answers, and what its client reads"),
    ("Question", "a question to a person: its cell, and the list of those that are open"),
    ("Reader", "a term of the shell's grammar, in the crate that reads it"),
    ("ReplayTally", "what the library returns, and how the API or the terminal shows it"),
    ("RuleText", "what the library returns, and how the API or the terminal shows it"),
    ("Scope", "how far something applies"),
    ("SseSplitter", "splits server-sent events, for answers of MCP servers and of models"),
    ("Standing", "where a session stands"),
    ("Tally", "counts of verdicts"),
    ("Tokens", "tokens of an answer"),
    ("ToolCall", "a term of the model APIs, in the module of each API"),
    ("ToolResult", "a term of the model APIs, in the module of each API"),
    ("Usage", "a term of the model APIs, in the module of each API"),
    ("Wait", "something that is waited for"),
];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for (path, text) in tree.texts_in(&["rs"]) {
        let is_source = path.starts_with("crates/") && path.contains("/src/");
        if !is_source || path.starts_with(DESCRIBED_AGAIN) {
            continue;
        }
        for (line, name) in types(text) {
            places.entry(name).or_default().push((path, line));
        }
    }
    let allowed = |name: &str| COMMON.contains(&name) || SAME.iter().any(|(same, _)| *same == name);
    let twice = places
        .iter()
        .filter(|(name, places)| places.len() > 1 && !allowed(name));
    let twice = twice.flat_map(|(name, places)| {
        let first = places.first().map_or("", |(path, _)| path);
        let others = places.iter().skip(1);
        others.map(move |(path, line)| {
            let advice = format!(
                "`{name}` is also a type in {first}; give one of them a name of its own, or list it in {LIST} if \
                 both mean the same"
            );
            Violation::new(path, *line, advice)
        })
    });
    // A made-up tree has none of them.
    let same = if tree.has(LIST) { SAME.as_slice() } else { &[] };
    let unused = same
        .iter()
        .filter(|(name, _)| places.get(name).is_none_or(|places| places.len() < 2));
    let unused = unused.map(|(name, _)| {
        let advice = format!("`{name}` is in one place only; take it off the list");
        Violation::new(LIST, 1, advice)
    });
    twice.chain(unused).collect()
}

/// The types that a file defines outside of functions, with their lines; tests at its end aside.
fn types(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate();
    let code = lines.take_while(|(_, line)| *line != "#[cfg(test)]");
    code.filter_map(|(number, line)| {
        let line = match line.strip_prefix("pub") {
            Some(rest) => rest.trim_start_matches(|c| c != ' ').trim_start(),
            None => line,
        };
        let kinds = ["struct ", "enum ", "trait "];
        let name = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
        let end = name
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(name.len());
        Some((number + 1, name.get(..end)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::told;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        told(&check(&files.iter().copied().collect()))
    }

    #[test]
    fn a_name_in_two_places_is_found_in_the_second() {
        let files = [
            (
                "crates/a/src/one.rs",
                "//! A.\npub(crate) struct Gadget<'a>(&'a str);\n",
            ),
            ("crates/b/src/two.rs", "//! B.\n\npub enum Gadget {}\n"),
        ];
        assert_eq!(
            found(&files),
            [
                "crates/b/src/two.rs:3: `Gadget` is also a type in crates/a/src/one.rs; give one of them a name of its own, \
              or list it in crates/tidy/src/type_names.rs if both mean the same"
            ]
        );
    }

    #[test]
    fn common_names_and_what_nobody_else_sees_pass() {
        let files = [
            ("crates/a/src/one.rs", "pub enum Error {}\nstruct Gadget;\n"),
            (
                "crates/b/src/two.rs",
                "pub enum Error {}\nfn f() {\n    struct Gadget;\n}\n#[cfg(test)]\nstruct Gadget;\n",
            ),
            ("crates/b/tests/t.rs", "struct Gadget;\n"),
            ("crates/sprag-server/src/wire/part.rs", "struct Gadget;\n"),
        ];
        assert!(found(&files).is_empty());
    }
}
