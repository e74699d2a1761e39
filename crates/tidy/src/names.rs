//! A file is named after its idea, and a Rust module says at its top what that is.

use crate::tree::{Tree, Violation, file_name};

const CODE: [&str; 6] = ["js", "mjs", "py", "rs", "svelte", "ts"];
const NAMES_OF_NOTHING: [&str; 6] = ["common", "helper", "helpers", "types", "util", "utils"];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let code = tree.texts_in(&CODE);
    let names = code.filter_map(|(path, _)| Some(Violation::new(path, 1, name(path)?)));
    let modules = tree
        .texts_in(&["rs"])
        .filter(|(_, text)| !text.starts_with("//!"));
    let silent = modules.map(|(path, _)| {
        let advice = "starts without `//!`; say first what the module is for and why it is so";
        Violation::new(path, 1, advice)
    });
    names.chain(silent).collect()
}

fn name(path: &str) -> Option<String> {
    if file_name(path) == "mod.rs" {
        return Some("named mod.rs; name it after its folder, one level up".to_owned());
    }
    path.split('/')
        .map(|part| part.split_once('.').map_or(part, |(stem, _)| stem))
        .find(|part| NAMES_OF_NOTHING.contains(part))
        .map(|part| format!("`{part}` tells nobody anything; name it after what it holds"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::found;

    #[test]
    fn names_that_say_nothing_are_found_in_files_and_folders() {
        for name in NAMES_OF_NOTHING {
            let advice = format!("`{name}` tells nobody anything; name it after what it holds");
            for path in [
                format!("src/{name}.rs"),
                format!("web/{name}/a.svelte"),
                format!("web/{name}.d.ts"),
            ] {
                assert_eq!(
                    found(check, &path, "//! A."),
                    [format!("{path}:1: {advice}")]
                );
            }
            assert!(found(check, &format!("docs/{name}.md"), "").is_empty());
            assert!(found(check, &format!("src/{name}_of_rules.rs"), "//! A.").is_empty());
        }
    }

    #[test]
    fn mod_rs_is_found() {
        assert_eq!(
            found(check, "src/cell/mod.rs", "//! A."),
            ["src/cell/mod.rs:1: named mod.rs; name it after its folder, one level up"]
        );
    }

    #[test]
    fn a_module_that_does_not_say_what_it_is_for_is_found() {
        let advice = "starts without `//!`; say first what the module is for and why it is so";
        for text in ["", "fn a() {}\n//! late", "\n//! A."] {
            assert_eq!(
                found(check, "src/a.rs", text),
                [format!("src/a.rs:1: {advice}")]
            );
        }
        assert!(found(check, "src/a.rs", "//! A.").is_empty());
    }
}
