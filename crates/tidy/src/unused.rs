//! Every dependency that a crate lists is named in its code.
//!
//! A dependency that nobody uses costs every build its time, and nothing fails without it. The check
//! reads text: a crate that is used has its name somewhere in the sources of its kind, with `-` as `_`.

use crate::tree::{Tree, Violation};

/// Which table of a manifest is used by which folders.
const TABLES: [(&str, &[&str]); 3] = [
    ("[dependencies]", &["src/", "build.rs"]),
    (
        "[dev-dependencies]",
        &["src/", "tests/", "examples/", "benches/"],
    ),
    ("[build-dependencies]", &["build.rs"]),
];

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let manifests = tree
        .texts()
        .filter(|(path, _)| path.starts_with("crates/") && path.ends_with("/Cargo.toml"));
    manifests
        .flat_map(|(path, text)| unused(tree, path, text))
        .collect()
}

fn unused(tree: &Tree, path: &str, manifest: &str) -> Vec<Violation> {
    let folder = path.trim_end_matches("Cargo.toml");
    let mut table: Option<&[&str]> = None;
    let mut found = Vec::new();
    for (line, number) in manifest.lines().zip(1..) {
        if line.starts_with('[') {
            let known = TABLES.iter().find(|(name, _)| line.trim() == *name);
            table = known.map(|(_, places)| *places);
            continue;
        }
        let name = line.split(['=', '.']).next().unwrap_or_default().trim();
        let Some(places) = table.filter(|_| !name.is_empty() && !name.starts_with('#')) else {
            continue;
        };
        if !is_named(tree, folder, places, &name.replace('-', "_")) && !is_feature(manifest, name) {
            let advice = format!("`{name}` is used nowhere in {folder}; remove it");
            found.push(Violation::new(path, number, advice));
        }
    }
    found
}

fn is_named(tree: &Tree, folder: &str, places: &[&str], name: &str) -> bool {
    tree.texts().any(|(path, text)| {
        let below = path.strip_prefix(folder).unwrap_or_default();
        path.ends_with(".rs")
            && places.iter().any(|place| below.starts_with(place))
            && text.contains(name)
    })
}

/// A dependency that is only there to switch one of its features on is named among the features.
fn is_feature(manifest: &str, name: &str) -> bool {
    manifest.contains(&format!("\"{name}/")) || manifest.contains(&format!("\"dep:{name}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::told;

    fn found(manifest: &str, source: &str) -> Vec<String> {
        let tree: Tree = [
            ("crates/a/Cargo.toml", manifest),
            ("crates/a/src/lib.rs", source),
        ]
        .into_iter()
        .collect();
        told(&check(&tree))
    }

    #[test]
    fn a_dependency_that_no_source_names_is_found() {
        let manifest =
            "[package]\nname = \"a\"\n[dependencies]\nused-one = \"1\"\nidle.workspace = true\n";
        assert_eq!(
            found(manifest, "use used_one::X;"),
            ["crates/a/Cargo.toml:5: `idle` is used nowhere in crates/a/; remove it"]
        );
        assert!(found(manifest, "use used_one::X; idle::y();").is_empty());
    }

    #[test]
    fn a_dependency_of_a_feature_is_fine() {
        let manifest = "[features]\nredis = [\"dep:redis\"]\n[dependencies]\nredis = \"1\"\n";
        assert!(found(manifest, "").is_empty());
    }
}
