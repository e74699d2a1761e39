//! Lock files name packages and their hashes, never a host to download them from.
//!
//! A mirror that one machine uses would bind everyone who clones to it.

use crate::tree::{Tree, Violation, file_name};

/// The only address that a `Cargo.lock` may hold: cargo reads it as "the default registry".
const CRATES_IO: &str = r#"source = "registry+https://github.com/rust-lang/crates.io-index""#;
/// How lines of an npm lock start that hold a web page, not a download: two keys, and a page in a list of them.
const WEB_PAGES: [&str; 3] = [r#""url":"#, r#""funding":"#, r#""https://"#];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    tree.texts()
        .filter(|(path, _)| is_lock(path) || is_registry_setting(path))
        .flat_map(|(path, text)| {
            let lines = text.lines().zip(1..);
            let bad = lines.filter(|(line, _)| line.contains("://") && !is_known(line.trim()));
            bad.map(|(_, number)| {
                let advice = "names a download address; write the file without a mirror or host";
                Violation::new(path, number, advice)
            })
            .collect::<Vec<_>>()
        })
        .collect()
}

fn is_lock(path: &str) -> bool {
    let name = file_name(path);
    name.ends_with(".lock")
        || name.ends_with("-lock.json")
        || name.ends_with("-lock.yaml")
        || name == "npm-shrinkwrap.json"
}

/// Files in which a package manager is told its hosts.
fn is_registry_setting(path: &str) -> bool {
    let name = file_name(path);
    name == ".npmrc"
        || name.starts_with(".yarnrc")
        || name == "pip.conf"
        || path.ends_with(".cargo/config.toml")
}

fn is_known(line: &str) -> bool {
    line == CRATES_IO || WEB_PAGES.iter().any(|key| line.starts_with(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::found;

    const ADVICE: &str = "names a download address; write the file without a mirror or host";

    #[test]
    fn only_the_crates_io_index_may_stand_in_a_cargo_lock() {
        let text = format!(
            "[[package]]\n{CRATES_IO}\nsource = \"sparse+https://mirror.example/index/\"\nsource = \"git+https://github.com/a/b\"\n"
        );
        assert_eq!(
            found(check, "fuzz/Cargo.lock", &text),
            [
                format!("fuzz/Cargo.lock:3: {ADVICE}"),
                format!("fuzz/Cargo.lock:4: {ADVICE}")
            ]
        );
    }

    #[test]
    fn a_resolved_address_in_an_npm_lock_is_found_and_a_web_page_is_not() {
        let text = "{\n  \"resolved\": \"https://mirror.example/a.tgz\",\n  \"url\": \"https://example.org\"\n  \"https://example.org/sponsors\",\n}\n";
        assert_eq!(
            found(check, "web/package-lock.json", text),
            [format!("web/package-lock.json:2: {ADVICE}")]
        );
    }

    #[test]
    fn settings_of_package_managers_name_no_host() {
        for path in ["web/.npmrc", ".cargo/config.toml", "web/.yarnrc.yml"] {
            let text = "registry=https://mirror.example/";
            assert_eq!(found(check, path, text), [format!("{path}:1: {ADVICE}")]);
        }
        assert!(found(check, "README.md", "https://example.org").is_empty());
    }
}
