//! What must not stand in a file: places of one machine, open ends, silenced lints, blanks at line ends.

use crate::rust_text::code_only;
use crate::tree::{Tree, Violation, extension};

/// Top folders of the machines that code is written and built on.
const MACHINE_FOLDERS: [&str; 3] = ["work", "root", "farm"];
/// Folders with a person's name below them.
const HOMES: [&str; 2] = ["home", "Users"];
/// Names below a home that stand for anyone; a recorded payload is rewritten to one of them.
const ANYONE: [&str; 3] = ["user", "me", "you"];
/// In two parts each, so that this file may be checked too.
const OPEN_ENDS: [(&str, &str); 6] = [
    ("TO", "DO"),
    ("FIX", "ME"),
    ("XX", "X"),
    ("unimplemented", "!"),
    ("to", "do!"),
    ("db", "g!"),
];
/// Files that people write; data may quote what it likes.
const WRITTEN: [&str; 13] = [
    "", "css", "html", "js", "md", "mjs", "rs", "sh", "svelte", "toml", "ts", "yaml", "yml",
];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    tree.texts()
        .flat_map(|(path, text)| {
            let mut found = Vec::new();
            for (line, number) in text.split('\n').zip(1..) {
                found
                    .extend(in_line(path, line).map(|advice| Violation::new(path, number, advice)));
            }
            if extension(path) == "rs" {
                found.extend(silenced_lints(path, text));
            }
            found
        })
        .collect()
}

fn in_line<'a>(path: &'a str, line: &'a str) -> impl Iterator<Item = String> + 'a {
    let place = machine_path(line).map(|place| {
        format!("`{place}` is a path of one machine; use a relative one or `/home/user`")
    });
    let open = WRITTEN
        .contains(&extension(path))
        .then(|| open_end(line))
        .flatten()
        .map(|word| format!("`{word}` is an open end; finish it or leave it out"));
    let blank = (!is_verbatim(path) && line.ends_with(char::is_whitespace))
        .then(|| "blanks at the end of the line; remove them".to_owned());
    place.into_iter().chain(open).chain(blank)
}

/// Text that a program wrote or that is wrong on purpose keeps its blanks.
fn is_verbatim(path: &str) -> bool {
    extension(path) == "snap"
        || path
            .split('/')
            .any(|part| matches!(part, "fixtures" | "vectors"))
}

fn machine_path(line: &str) -> Option<String> {
    let machine = MACHINE_FOLDERS
        .iter()
        .map(|folder| format!("/{folder}/"))
        .find(|folder| starts_a_path(line, folder).is_some());
    machine.or_else(|| HOMES.iter().find_map(|home| somebodys(line, home)))
}

fn somebodys(line: &str, home: &str) -> Option<String> {
    let after = starts_a_path(line, &format!("/{home}/"))?;
    let name: String = after
        .chars()
        .take_while(|c| c.is_alphanumeric() || "_-.".contains(*c))
        .collect();
    let known = name.is_empty() || ANYONE.contains(&name.as_str());
    (!known).then(|| format!("/{home}/{name}"))
}

/// What follows `folder` where an absolute path starts with it; not `../folder/` or `host/folder/`.
fn starts_a_path<'a>(line: &'a str, folder: &str) -> Option<&'a str> {
    line.match_indices(folder).find_map(|(at, _)| {
        let (before, from) = line.split_at_checked(at)?;
        let inside = before.ends_with(|c: char| c == '.' || c.is_ascii_alphanumeric());
        (!inside).then(|| from.strip_prefix(folder)).flatten()
    })
}

fn open_end(line: &str) -> Option<String> {
    OPEN_ENDS
        .iter()
        .map(|(start, end)| format!("{start}{end}"))
        .find(|word| {
            line.match_indices(word.as_str()).any(|(at, _)| {
                let before = line.get(..at).unwrap_or_default();
                !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        })
}

fn silenced_lints(path: &str, text: &str) -> Vec<Violation> {
    let advice = "silences a lint; mend the cause or write `#[expect(lint, reason = \"…\")]`";
    code_only(text)
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.contains("#[allow(") || line.contains("#![allow("))
        .map(|(_, number)| Violation::new(path, number, advice))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::found;

    #[test]
    fn paths_of_a_machine_are_found_in_every_kind_of_file() {
        for folder in MACHINE_FOLDERS {
            for path in ["a.rs", "b.json", "Makefile"] {
                let place = format!("/{folder}/");
                assert_eq!(
                    found(check, path, &format!("ok\nsee {place}x\n")),
                    [format!(
                        "{path}:2: `{place}` is a path of one machine; use a relative one or `/home/user`"
                    )]
                );
            }
            assert_eq!(found(check, "a.md", &format!("/{folder}/x")).len(), 1);
        }
        for home in HOMES {
            assert_eq!(
                found(check, "a.md", &format!("in /{home}/carla/src")).len(),
                1
            );
            assert_eq!(
                found(check, "a.md", &format!("/{home}/user/a /{home}/you")).len(),
                0
            );
        }
    }

    #[test]
    fn parts_of_other_paths_are_no_machine_paths() {
        for folder in MACHINE_FOLDERS {
            assert!(found(check, "a.md", &format!("../{folder}/x host.org/{folder}/x")).is_empty());
        }
        assert!(found(check, "a.md", "/homework/ /home/ and /tmp/a").is_empty());
    }

    #[test]
    fn every_open_end_is_found_where_people_write() {
        for (start, end) in OPEN_ENDS {
            let word = format!("{start}{end}");
            assert_eq!(
                found(check, "a.rs", &format!("\n  {word}(later)")),
                [format!(
                    "a.rs:2: `{word}` is an open end; finish it or leave it out"
                )]
            );
            assert!(found(check, "a.json", &word).is_empty());
            assert!(found(check, "a.rs", &format!("pre{word}")).is_empty());
        }
    }

    #[test]
    fn a_silenced_lint_is_found_and_its_name_in_a_text_is_not() {
        for mark in ["#", "#!"] {
            let text = format!("//! A.\n{mark}[{}(dead_code)]\n", "allow");
            assert_eq!(
                found(check, "a.rs", &text),
                [
                    "a.rs:2: silences a lint; mend the cause or write `#[expect(lint, reason = \"…\")]`"
                ]
            );
            let quoted = format!("let a = \"{mark}[{}(b)]\"; // {mark}[{0}(b)]", "allow");
            assert!(found(check, "a.rs", &quoted).is_empty());
            assert!(found(check, "a.rs", &format!("/* {text} */")).is_empty());
        }
    }

    #[test]
    fn blanks_at_line_ends_are_found_but_not_in_what_is_kept_word_for_word() {
        assert_eq!(
            found(check, "a.md", "a \nb\t\nc\r\nd\n").join("\n"),
            "a.md:1: blanks at the end of the line; remove them\n\
             a.md:2: blanks at the end of the line; remove them\n\
             a.md:3: blanks at the end of the line; remove them"
        );
        assert!(found(check, "a/fixtures/b.toml", "a \n").is_empty());
        assert!(found(check, "a.snap", "a \n").is_empty());
    }
}
