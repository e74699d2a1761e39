//! Recorded traffic of official clients and servers passes byte for byte, in every revision.
//!
//! `tests/corpus` was recorded with `tests/clients/record.mjs` between the official SDKs, the reference
//! server and a small one of our own; and between real agent CLIs and a server of the Rust SDK, up to their first call
//! (`clients/run.js --unguarded --script deletes --catalog …`). Documents that a server has of others were left out.

use std::path::{Path, PathBuf};

use crate::wrapper_process::{WrapperProcess, example};

pub(crate) fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<PathBuf> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn every_recording_passes_unchanged() {
    let recordings = recordings();
    for revision in [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ] {
        let name = |path: &PathBuf| path.display().to_string();
        assert!(
            recordings
                .iter()
                .map(name)
                .any(|name| name.contains(revision)),
            "{revision}"
        );
    }
    for path in recordings {
        let mut wrapper = WrapperProcess::start(&[&example("play"), &path.display().to_string()]);
        for said in std::fs::read_to_string(&path).unwrap().lines() {
            let (who, line): (String, String) = serde_json::from_str(said).unwrap();
            if who == "client" {
                wrapper.send(&line);
            } else {
                assert_eq!(wrapper.receive(), line, "{}", path.display());
            }
        }
        let status = wrapper.close();
        assert_eq!(
            status.code(),
            Some(0),
            "{}: {}",
            path.display(),
            wrapper.said()
        );
    }
}

#[test]
fn what_no_sdk_would_keep_passes_too() {
    let odd = [
        r#"{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call","params":{"zeta":1,"name":"a","futureField":{"b":1,"a":2},"arguments":{"n":1.0,"big":123456789012345678901234567890,"e":1E5,"s":"\u00e9\/"},"_meta":{}}}"#,
        r#" { "method" : "tools/call" , "id" : "x" , "params" : { "name" : "a" } } "#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b"}},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"c"}}"#,
    ];
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("odd.jsonl");
    let rows = odd
        .iter()
        .flat_map(|line| [("client", line), ("server", line)]);
    let rows: String = rows
        .map(|row| format!("{}\n", serde_json::to_string(&row).unwrap()))
        .collect();
    std::fs::write(&path, rows).unwrap();
    let mut wrapper = WrapperProcess::start(&[&example("play"), &path.display().to_string()]);
    for line in odd {
        wrapper.send(line);
        assert_eq!(wrapper.receive(), line);
    }
    assert_eq!(wrapper.close().code(), Some(0), "{}", wrapper.said());
}
