//! The checks, run over the repository that this crate stands in.

use std::path::{Path, PathBuf};
use std::process::Command;

use tidy::{Tree, Violation, check, check_dependencies};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn assert_none(violations: &[Violation]) {
    let list: String = violations.iter().map(|one| format!("\n  {one}")).collect();
    assert!(
        violations.is_empty(),
        "{} to mend:{list}\n",
        violations.len()
    );
}

#[test]
fn the_tree_is_tidy() {
    let tree = Tree::read(&root()).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        tree.has("crates/tidy/src/lib.rs"),
        "the walk missed this crate"
    );
    assert_none(&check(&tree));
}

#[test]
fn dependencies_are_ours_to_use() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata failed: {said}");
    let metadata = String::from_utf8_lossy(&output.stdout);
    let deny = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml is there");
    assert_none(&check_dependencies(&metadata, &deny));
}
