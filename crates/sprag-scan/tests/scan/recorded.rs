//! What the real clients wrote when a scripted model drove them; `clients/transcripts.js` makes it.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::Value;
use sprag_scan::{Options, ScanReport, named, scan};

/// The clients that keep one line for each thing that happens.
pub(crate) const LINES: [&str; 4] = ["claude", "codex", "gemini", "copilot"];
/// Scripts in which an agent runs away.
pub(crate) const LOOPS: [&str; 3] = ["loop", "deletes", "edit-test"];
/// Scripts in which it does its work.
pub(crate) const WORK: [&str; 4] = ["poll", "batch", "sub-agents", "parallel"];

pub(crate) fn fixture(client: &str, script: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scan/fixtures");
    folder.join(client).join(format!("{script}.jsonl"))
}

/// The transcript of a client in `folder`, as the client itself would have it there.
pub(crate) fn transcript(client: &str, script: &str, folder: &Path) -> PathBuf {
    if client != "opencode" {
        return fixture(client, script);
    }
    let path = folder.join("opencode.db");
    database(&path, &rows(script));
    path
}

/// The rows of opencode's tables.
pub(crate) fn rows(script: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(fixture("opencode", script)).expect("the fixture is there");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect()
}

/// A database with the columns of opencode's that matter.
pub(crate) fn database(path: &Path, rows: &[Value]) -> Connection {
    let database = Connection::open(path).expect("a database is made");
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, time_created INTEGER NOT NULL);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
             CREATE INDEX part_session_idx ON part (session_id);",
        )
        .expect("tables are made");
    for row in rows {
        let columns: Vec<&str> = row
            .as_object()
            .expect("a row")
            .keys()
            .map(String::as_str)
            .filter(|key| *key != "table")
            .collect();
        let marks = vec!["?"; columns.len()].join(",");
        let sql = format!(
            "INSERT INTO {} ({}) VALUES ({marks})",
            row["table"].as_str().expect("a table"),
            columns.join(",")
        );
        let values = columns.iter().map(|column| match &row[*column] {
            Value::String(text) => rusqlite::types::Value::Text(text.clone()),
            Value::Number(number) => {
                rusqlite::types::Value::Integer(number.as_i64().expect("a whole number"))
            }
            _ => rusqlite::types::Value::Null,
        });
        database
            .execute(&sql, rusqlite::params_from_iter(values))
            .expect("the row is kept");
    }
    database
}

/// What a scan of `path` finds.
pub(crate) fn scanned(path: &Path) -> ScanReport {
    with(&[path.to_owned()], &Options::default())
}

pub(crate) fn with(paths: &[PathBuf], options: &Options) -> ScanReport {
    scan(
        &named(paths).expect("the paths are there"),
        options,
        &|_| {},
    )
    .0
}

/// Puts a text into a file and scans it.
pub(crate) fn scanned_text(name: &str, text: impl AsRef<[u8]>) -> ScanReport {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("the file is written");
    scanned(&path)
}

/// A loop in a line.
pub(crate) fn brief(report: &ScanReport) -> String {
    let one = |found: &sprag_scan::Loop| {
        let at = |reaction: &Option<sprag_scan::Reaction>| {
            reaction
                .as_ref()
                .map_or_else(|| "-".to_owned(), |one| one.call.to_string())
        };
        format!(
            "{} {}: calls {}-{}, warned {}, stopped {}, saved {}, {}{} tokens; {} → {}",
            found.rule,
            found.verdict,
            found.first_call,
            found.last_call,
            at(&found.warned),
            at(&found.stopped),
            found.saved.calls,
            if found.tokens.estimated { "about " } else { "" },
            found.tokens.total,
            found.what,
            found.outcome
        )
    };
    let loops: Vec<String> = report.loops.iter().map(one).collect();
    loops.join("\n")
}
