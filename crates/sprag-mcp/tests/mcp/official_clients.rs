//! Official clients of other languages, straight to a server and through the wrapper: the same comes of it.
//!
//! `make test-mcp` fetches them by lock file into the target folder and runs these. Without them the tests
//! say loudly that they were skipped; where `CI=true` they fail.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::wrapper_process::example;

/// The folder with the clients; none where they are not there and need not be.
#[expect(
    clippy::disallowed_methods,
    reason = "the Makefile says where the clients are"
)]
pub(crate) fn clients() -> Option<PathBuf> {
    let folder = std::env::var("SPRAG_MCP_CLIENTS").ok().map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join("node_modules").exists());
    let is_needed = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(
        folder.is_some() || !is_needed,
        "the official clients are not there: make test-mcp"
    );
    if folder.is_none() {
        eprintln!(
            "SKIPPED: the official clients are not there; make test-mcp fetches and runs them"
        );
    }
    folder
}

pub(crate) fn run(folder: &Path, command: &[&str]) -> String {
    let (program, args) = command.split_first().unwrap();
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    told
}

/// What a client tells of a server straight and through the wrapper.
fn both(folder: &Path, client: &[&str], server: &[&str]) -> String {
    let wrap = example("wrap");
    let straight = run(folder, &[client, server].concat());
    let wrapped = run(folder, &[client, &[wrap.as_str(), "--"], server].concat());
    assert_eq!(wrapped, straight);
    straight
}

/// What differs by chance: the weather of the reference server.
const EVERYTHING: [&str; 3] = [
    "node",
    "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
    "stdio",
];

#[test]
fn everything_of_the_reference_server_works_with_the_typescript_sdk_of_each_revision() {
    let Some(folder) = clients() else { return };
    for sdk in [
        "sdk-2024-11-05",
        "sdk-2025-03-26",
        "sdk-2025-06-18",
        "@modelcontextprotocol/sdk",
    ] {
        let told = both(&folder, &["node", "everything.mjs", sdk], &EVERYTHING);
        assert!(told.contains("tool get-sum: "), "{sdk}: {told}");
        assert!(told.contains("sampling/createMessage"), "{sdk}: {told}");
        if sdk == "@modelcontextprotocol/sdk" {
            assert!(
                told.contains(
                    r#"task simulate-research-query: ["result","taskCreated","taskStatus"]"#
                ),
                "{told}"
            );
        }
    }
}

#[test]
fn the_python_sdk_works_in_both_eras() {
    let Some(folder) = clients() else { return };
    for mode in ["auto", "legacy"] {
        let told = both(
            &folder,
            &["venv/bin/python", "client.py", mode],
            &["venv/bin/python", "server.py"],
        );
        assert!(told.contains("add: "), "{told}");
    }
}

#[test]
fn the_typescript_sdk_of_2026_07_28_works_with_questions_from_the_server() {
    let Some(folder) = clients() else { return };
    let told = both(
        &folder,
        &["node", "modern.mjs"],
        &["venv/bin/python", "server.py"],
    );
    assert!(told.contains("revision: 2026-07-28"), "{told}");
    assert!(told.contains("confirmed"), "{told}");
}
