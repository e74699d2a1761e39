//! What every visitor of the repository looks for is there.

use crate::tree::{Tree, Violation};

const EXPECTED: [&str; 8] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "deny.toml",
];
const UNRELEASED: &str = "## [Unreleased]";

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let missing = EXPECTED
        .iter()
        .filter(|path| tree.text(path).is_none_or(|text| text.trim().is_empty()))
        .map(|path| Violation::new(path, 1, "missing or empty; write it"));
    let changelog = tree
        .text("CHANGELOG.md")
        .filter(|text| !text.lines().any(|line| line.starts_with(UNRELEASED)))
        .map(|_| {
            let advice = format!("has no `{UNRELEASED}`; users look there for what comes next");
            Violation::new("CHANGELOG.md", 1, advice)
        });
    missing.chain(changelog).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::told;

    #[test]
    fn a_missing_or_empty_file_of_the_house_is_found() {
        for gone in EXPECTED {
            let whole = || EXPECTED.iter().map(|path| (*path, UNRELEASED));
            assert!(check(&whole().collect()).is_empty());
            let without: Tree = whole().filter(|(path, _)| *path != gone).collect();
            assert_eq!(
                told(&check(&without)),
                [format!("{gone}:1: missing or empty; write it")]
            );
            let empty: Tree = whole()
                .map(|(path, text)| (path, if path == gone { "\n" } else { text }))
                .collect();
            assert!(!check(&empty).is_empty());
        }
    }

    #[test]
    fn a_changelog_without_unreleased_is_found() {
        let files = EXPECTED
            .iter()
            .map(|path| (*path, "# Title\n\n## [1.0.0]\n"));
        let found = check(&files.collect());
        assert_eq!(
            told(&found),
            ["CHANGELOG.md:1: has no `## [Unreleased]`; users look there for what comes next"]
        );
    }
}
