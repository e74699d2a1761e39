//! What must not stand in a file: the home of a person, open ends, blanks at line ends.

use crate::tree::{Tree, Violation, extension};

/// Folders with a person's name below them.
const HOMES: [&str; 2] = ["home", "Users"];
/// Names below a home that stand for anyone; a recorded payload is rewritten to one of them.
const ANYONE: [&str; 3] = ["user", "me", "you"];
/// In two parts each, so that this file may be checked too.
const OPEN_ENDS: [(&str, &str); 3] = [("TO", "DO"), ("FIX", "ME"), ("XX", "X")];
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
            .any(|part| matches!(part, "corpus" | "fixtures" | "vectors"))
}

fn machine_path(line: &str) -> Option<String> {
    HOMES.iter().find_map(|home| somebodys(line, home))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::found;

    #[test]
    fn the_home_of_a_person_is_found_and_that_of_anyone_is_fine() {
        for home in HOMES {
            assert_eq!(
                found(check, "a.md", &format!("in /{home}/carla/src")),
                [format!(
                    "a.md:1: `/{home}/carla` is a path of one machine; use a relative one or `/home/user`"
                )]
            );
            assert!(found(check, "a.md", &format!("/{home}/user/a /{home}/you")).is_empty());
        }
        assert!(
            found(
                check,
                "a.md",
                "../home/carla host.org/home/carla /home/ /tmp/a"
            )
            .is_empty()
        );
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
    fn blanks_at_line_ends_are_found_but_not_in_what_is_kept_word_for_word() {
        assert_eq!(
            found(check, "a.md", "a \nb\t\nc\r\nd\n").join("\n"),
            "a.md:1: blanks at the end of the line; remove them\n\
             a.md:2: blanks at the end of the line; remove them\n\
             a.md:3: blanks at the end of the line; remove them"
        );
        assert!(found(check, "a/fixtures/b.toml", "a \n").is_empty());
        assert!(found(check, "a/corpus/b", "a \n").is_empty());
        assert!(found(check, "a.snap", "a \n").is_empty());
    }
}
