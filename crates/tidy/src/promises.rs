//! SECURITY.md names a test for each promise. A test that was renamed or removed must not go on being named.

use std::collections::BTreeSet;

use crate::tree::{Tree, Violation};

const PAGE: &str = "SECURITY.md";
/// Names of tests are sentences: what has fewer underscores is something else.
const SENTENCE: usize = 3;
/// Folders of the repository that the page names files of.
const FOLDERS: [&str; 3] = ["crates/", "web/", "packaging/"];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let Some(page) = tree.text(PAGE) else {
        return Vec::new();
    };
    let functions: BTreeSet<&str> = tree
        .texts_in(&["rs"])
        .flat_map(|(_, text)| functions(text))
        .collect();
    let mut found = Vec::new();
    for (number, line) in page.lines().enumerate() {
        let mut add = |advice: String| found.push(Violation::new(PAGE, number + 1, advice));
        for quoted in line.split('`').skip(1).step_by(2) {
            if is_sentence(quoted) && !functions.contains(quoted) {
                add(format!(
                    "no test is called `{quoted}`; name the one that holds the promise"
                ));
            }
            if FOLDERS.iter().any(|folder| quoted.starts_with(folder)) && !tree.has(quoted) {
                add(format!("there is no `{quoted}`"));
            }
        }
    }
    found
}

/// The names of the functions in a file.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim_start);
    lines.filter_map(|line| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        let (name, _) = line.strip_prefix("fn ")?.split_once(['(', '<'])?;
        Some(name)
    })
}

fn is_sentence(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.bytes().all(word) && text.matches('_').count() >= SENTENCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::told;

    fn found(page: &str) -> Vec<String> {
        let test = (
            "crates/a/tests/b.rs",
            "#[test]\nfn no_agent_plays_the_user() {}\n",
        );
        told(&check(&[(PAGE, page), test].into_iter().collect()))
    }

    #[test]
    fn a_test_that_does_not_exist_is_found() {
        assert_eq!(
            found("| a promise | an attack | `no_agent_plays_the_operator` |"),
            [
                "SECURITY.md:1: no test is called `no_agent_plays_the_operator`; name the one that holds the promise"
            ]
        );
        assert_eq!(
            found("in `crates/a/tests/c.rs`"),
            ["SECURITY.md:1: there is no `crates/a/tests/c.rs`"]
        );
    }

    #[test]
    fn tests_that_exist_and_other_words_in_quotes_pass() {
        let page = "`no_agent_plays_the_user` in `crates/a/tests/b.rs`, `hook.token`, `max_calls`";
        assert!(found(page).is_empty());
    }
}
