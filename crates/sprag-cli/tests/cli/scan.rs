//! `sprag scan`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, feed};

/// What the real clients wrote when a scripted model drove them.
fn fixture(client: &str, script: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sprag-scan/tests/scan/fixtures");
    fs::read(folder.join(client).join(format!("{script}.jsonl"))).expect("the fixture is there")
}

/// A home with the history of three clients.
pub(crate) fn with_history() -> Sandbox {
    let sandbox = Sandbox::new();
    for script in ["loop", "poll", "batch", "deletes"] {
        let claude = format!(".claude/projects/-home-user-project/{script}.jsonl");
        let codex = format!(".codex/sessions/2026/11/16/rollout-{script}.jsonl");
        sandbox
            .file(&claude, fixture("claude", script))
            .file(&codex, fixture("codex", script));
    }
    sandbox.file(
        ".gemini/tmp/project/chats/session-1.jsonl",
        fixture("gemini", "parallel"),
    );
    sandbox.file(".codex/sessions/2026/11/16/rollout-broken.jsonl", "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{}}\n{\"type\":\"session_meta\",\"pay");
    sandbox
}

#[test]
fn the_loops_of_a_home_are_told_with_what_to_do_next() {
    insta::assert_snapshot!(with_history().run(&["scan"]));
}

#[test]
fn without_any_history_it_says_where_it_looked() {
    insta::assert_snapshot!(Sandbox::new().run(&["scan"]), @"
    exit 0
    --- stdout
    No transcripts were found: not of Claude Code, Codex, Gemini CLI, Copilot CLI or
    opencode. Name files or folders to look into: `sprag scan PATH…`
    ");
}

#[test]
fn a_path_that_is_not_there_is_told() {
    insta::assert_snapshot!(Sandbox::new().run(&["scan", "nowhere.jsonl"]), @"
    exit 2
    --- stderr
    error: can't read nowhere.jsonl: no such file or directory
    next: check the path; it is relative to where you are
    ");
}

#[test]
fn a_slip_in_a_point_in_time_is_told() {
    insta::assert_snapshot!(Sandbox::new().run(&["scan", "--since", "yesterday"]), @"
    exit 2
    --- stderr
    error: invalid value 'yesterday' for '--since <WHEN>': a point in time is written like 7d, 36h or 2026-11-01

    For more information, try '--help'.
    ");
}

#[test]
fn programs_get_one_document() {
    let output = feed(
        with_history().command(&["scan", "--client", "codex", "--json"]),
        b"",
    );
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["sources"].as_array().unwrap().len(), 1);
    assert_eq!(document["total"]["loops"], 2);
    assert_eq!(document["loops"][0]["client"], "codex");
    assert_eq!(document["next"], serde_json::json!(["sprag install codex"]));
    assert!(output.stderr.is_empty(), "no bar where nobody looks");
}

#[test]
fn limits_of_a_policy_hold() {
    let sandbox = with_history();
    sandbox.file(
        "loose.toml",
        "[rules]\n\"progress.*\" = \"off\"\n\"destructive.*\" = \"off\"\n",
    );
    let told = sandbox.run(&["scan", "--policy", "loose.toml", "--client", "claude"]);
    assert!(
        told.contains("No loops. No session would have been stopped."),
        "{told}"
    );
}

fn everything(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            all.extend(everything(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

#[test]
fn a_client_that_is_installed_is_not_advised_to_be_installed() {
    let sandbox = with_history();
    assert!(sandbox.run(&["scan"]).contains("sprag install claude"));
    let installed = sandbox.run(&["install", "claude", "--yes"]);
    assert!(installed.starts_with("exit 0"), "{installed}");
    let told = sandbox.run(&["scan"]);
    assert!(!told.contains("sprag install claude"), "{told}");
    assert!(told.contains("sprag install codex"), "{told}");
}

#[test]
fn nothing_is_written_but_what_was_asked_for() {
    let sandbox = with_history();
    let before = everything(sandbox.path());
    sandbox.run(&["scan"]);
    assert!(everything(sandbox.path()) == before);
    sandbox.run(&["scan", "--html", "loops.html"]);
    let mut after = everything(sandbox.path());
    let page = after
        .remove(&sandbox.path().join("loops.html"))
        .expect("the page is there");
    assert!(after == before, "{:?}", after.keys());
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<h1>4 loops in 9 sessions</h1>"), "{page}");
    assert!(
        !page.contains(&sandbox.path().display().to_string()),
        "the home reads ~"
    );
}

/// opencode is running: what it wrote last is in the log beside its database, and only there.
#[test]
fn a_database_in_use_is_read_without_a_trace() {
    let sandbox = Sandbox::new();
    sandbox.file(".local/share/opencode/log/opencode.log", "");
    let running =
        rusqlite::Connection::open(sandbox.path().join(".local/share/opencode/opencode.db"))
            .unwrap();
    running
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, time_created INTEGER);
             CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
             CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
             INSERT INTO session VALUES ('s1', NULL, '/home/user/project', 1);
             INSERT INTO message VALUES ('m1', 's1', 1, '{\"role\":\"assistant\"}');",
        )
        .unwrap();
    for n in 10..20 {
        let part = format!(
            "{{\"type\":\"tool\",\"tool\":\"bash\",\"callID\":\"c{n}\",\"state\":{{\"status\":\"completed\",\"input\":{{\"command\":\"cat status.txt\"}},\"output\":\"queued\",\"time\":{{\"start\":{n}000,\"end\":{n}500}}}}}}"
        );
        running
            .execute(
                "INSERT INTO part VALUES (?1, 'm1', 's1', 1, ?2)",
                (format!("p{n}"), part),
            )
            .unwrap();
    }
    let before = everything(sandbox.path());
    assert_eq!(
        before.len(),
        4,
        "a log and its index lie beside the database"
    );
    let told = sandbox.run(&["scan"]);
    assert!(told.contains("bash: cat status.txt"), "{told}");
    let after = everything(sandbox.path());
    assert!(after == before, "{:?}", after.keys());
    drop(running);
}

#[cfg(unix)]
#[test]
fn a_home_that_nobody_may_write_to_is_read_all_the_same() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = with_history();
    let folders = [".claude", ".codex", ".gemini", ""].map(|name| sandbox.path().join(name));
    let mode = |mode| {
        folders
            .iter()
            .for_each(|path| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap())
    };
    mode(0o555);
    let told = sandbox.run(&["scan"]);
    mode(0o755);
    assert!(told.starts_with("exit 0"), "{told}");
    let refused = sandbox.run(&["scan", "--html", "no/such/folder.html"]);
    assert!(
        refused.contains("can't write no/such/folder.html: no such file or directory"),
        "{refused}"
    );
}
