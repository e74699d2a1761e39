//! Policies as files: the sound ones are read, the others are refused with exactly these words.
#![expect(
    clippy::unwrap_used,
    reason = "a test that can't read its files has failed"
)]

use std::fs;
use std::path::{Path, PathBuf};

use sprag_core::{Policy, PolicyErrors};

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/policies")
        .join(kind);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind != "txt"))
        .collect();
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<Policy, PolicyErrors> {
    let text = fs::read_to_string(path).unwrap();
    if path.extension().is_some_and(|kind| kind == "json") {
        Policy::from_json(&text)
    } else {
        Policy::from_toml(&text)
    }
}

fn valid(name: &str) -> Policy {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies/valid");
    read(&folder.join(name)).unwrap()
}

#[test]
fn sound_policies_are_read_and_survive_being_written() {
    let files = fixtures("valid");
    assert!(files.len() >= 6);
    for path in files {
        let policy =
            read(&path).unwrap_or_else(|errors| panic!("{}", errors.display(&name(&path))));
        assert_eq!(
            Policy::from_toml(&policy.to_toml()).unwrap(),
            policy,
            "{path:?}"
        );
    }
}

/// Each `name.toml` or `name.json` has a `name.toml.txt` with what a person gets to read.
#[test]
fn each_malformed_policy_is_refused_with_its_exact_message() {
    let files = fixtures("bad");
    assert!(files.len() >= 25);
    let mut differences = String::new();
    for path in files {
        let name = name(&path);
        let errors = read(&path).expect_err(&name);
        let told = format!("{}\n", errors.display(&name));
        let expected = fs::read_to_string(path.with_file_name(format!("{name}.txt")));
        if expected.ok().as_ref() != Some(&told) {
            differences.push_str(&told);
        }
    }
    assert!(
        differences.is_empty(),
        "these messages are not the expected ones:\n{differences}"
    );
}

#[test]
fn the_defaults_are_those_of_the_tables() {
    assert_eq!(valid("defaults.toml"), Policy::default());
    assert_eq!(valid("empty.toml"), Policy::default());
}

#[test]
fn toml_and_json_say_the_same() {
    let (toml, json) = (valid("overrides.toml"), valid("overrides.json"));
    assert_eq!(toml, json);
    assert_eq!(toml.digest(), json.digest());
}
