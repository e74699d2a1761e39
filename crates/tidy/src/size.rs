//! Rooms of a size that one can take in: files of 400 lines, functions of 60.
//!
//! Tests at the end of a file don't count for the file: they are read apart from it.

use crate::rust_text::{code_only, functions};
use crate::tree::{Tree, Violation, extension};

const MAX_FILE_LINES: usize = 400;
const MAX_FUNCTION_LINES: usize = 60;
const TESTS: &str = "#[cfg(test)]";

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    tree.texts_in(&["rs", "ts", "svelte"])
        .flat_map(|(path, text)| {
            let mut found = Vec::from_iter(file(path, text));
            if extension(path) == "rs" {
                found.extend(long_functions(path, text));
            }
            found
        })
        .collect()
}

fn file(path: &str, text: &str) -> Option<Violation> {
    // Nobody reads a list that a program wrote from top to end.
    if path.ends_with("/generated.ts") {
        return None;
    }
    let next = text.lines().skip(1).chain([""]);
    let lines = text
        .lines()
        .zip(next)
        .take_while(|(line, next)| !(line.starts_with(TESTS) && opens_a_module(next)))
        .count();
    (lines > MAX_FILE_LINES).then(|| {
        let advice = format!(
            "{lines} lines before its tests, at most {MAX_FILE_LINES}; it probably holds two ideas, give each a file"
        );
        Violation::new(path, MAX_FILE_LINES + 1, advice)
    })
}

/// `mod tests {`, but not `mod sample;`, which is a file of its own and hides nothing here.
fn opens_a_module(line: &str) -> bool {
    line.starts_with("mod ") && line.trim_end().ends_with('{')
}

fn long_functions(path: &str, text: &str) -> Vec<Violation> {
    functions(&code_only(text))
        .into_iter()
        .filter(|function| function.lines > MAX_FUNCTION_LINES)
        .map(|function| {
            let advice = format!(
                "`{}` takes {} lines, at most {MAX_FUNCTION_LINES}; give its parts names of their own",
                function.name, function.lines
            );
            Violation::new(path, function.line, advice)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::found;

    #[test]
    fn a_file_of_401_lines_is_too_long_and_one_of_400_is_not() {
        for path in ["a.rs", "a.ts", "a.svelte"] {
            assert_eq!(
                found(check, path, &"//\n".repeat(400)),
                Vec::<String>::new()
            );
            let long = found(check, path, &"//\n".repeat(401));
            assert_eq!(
                long,
                [format!(
                    "{path}:401: 401 lines before its tests, at most 400; it probably holds two ideas, give each a file"
                )]
            );
        }
        assert!(found(check, "a.json", &"\n".repeat(9999)).is_empty());
        assert!(found(check, "web/generated.ts", &"//\n".repeat(9999)).is_empty());
    }

    #[test]
    fn tests_at_the_end_of_a_file_do_not_count() {
        let with = |what: &str| format!("{0}{TESTS}\n{what}\n{0}", "//\n".repeat(400));
        assert!(found(check, "a.rs", &with("mod tests {")).is_empty());
        assert_eq!(found(check, "a.rs", &with("mod sample;")).len(), 1);
    }

    #[test]
    fn a_function_of_61_lines_is_too_long_and_one_of_60_is_not() {
        let function =
            |lines: usize| format!("\nfn long() {{\n{}}}\n", "    a();\n".repeat(lines - 2));
        assert!(found(check, "a.rs", &function(60)).is_empty());
        assert_eq!(
            found(check, "a.rs", &function(61)),
            ["a.rs:2: `long` takes 61 lines, at most 60; give its parts names of their own"]
        );
    }
}
