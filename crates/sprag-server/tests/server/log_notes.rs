//! What the guard and the store note has its line, word by word.

use std::path::Path;

use serde_json::json;
use sprag::{Event, Guard, LogQuery, LogScope, MemoryStore, Millis, PolicyFile, Retention};
use sprag_server::log_lines::line;
use sprag_store::Capacity;

#[test]
fn what_the_guard_and_the_store_note_has_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.toml");
    std::fs::write(&policy, "flow.max_depth = 4").unwrap();
    let open = || {
        Guard::builder()
            .owned_file(folder.path().join("sprag.db"))
            .policy_file(PolicyFile::required(&policy))
            .build()
            .unwrap()
    };
    let guard = open();
    std::fs::write(&policy, "flow.max_depth = 3").unwrap();
    guard.reload().unwrap();
    std::fs::write(&policy, "flow.max_dept = 2").unwrap();
    guard.reload().unwrap();
    guard.check(Event::call("s", "look").unwrap()).unwrap();
    insta::assert_snapshot!(notes(&guard, folder.path()));
    let nothing = Retention {
        max_age: Millis(0),
        max_bytes: 1,
    };
    guard.prune(nothing).unwrap();
    std::fs::write(&policy, "flow.max_depth = 2").unwrap();
    drop(guard);
    insta::assert_snapshot!(notes(&open(), folder.path()));

    let small = Capacity {
        sessions: 4,
        others: 4,
        ..Capacity::default()
    };
    let guard = Guard::builder().store(MemoryStore::with_capacity(small).unwrap());
    let guard = guard.build().unwrap();
    for n in 0..4 {
        let message =
            json!({"type": "message", "from": format!("a{n}"), "to": format!("b{n}"), "flow": "f"});
        guard.check(Event::from_value(&message).unwrap()).unwrap();
    }
    insta::assert_snapshot!(notes(&guard, folder.path()));
}

/// The lines of all notes, without what differs from run to run.
fn notes(guard: &Guard, folder: &Path) -> String {
    let query = LogQuery {
        scope: LogScope::Notes,
        ..LogQuery::default()
    };
    let records = guard.records(&query).unwrap().items;
    let lines = records.iter().filter_map(line);
    let mut lines: Vec<_> = lines
        .map(|line| format!("{:5} {}", line.level, line.text))
        .collect();
    lines.dedup();
    let process = format!("process {}", std::process::id());
    let text = lines.join("\n");
    let text = text.replace(folder.to_str().unwrap(), "…");
    let text = text.replace(&process, "process PID");
    let digest = |word: &str| word.len() == 12 && word.chars().all(|c| c.is_ascii_hexdigit());
    let words = text.split_inclusive([' ', '\n', ',']).map(|word| {
        let bare = word.trim_end_matches([' ', '\n', ',']);
        if digest(bare) {
            word.replace(bare, "DIGEST")
        } else {
            word.to_owned()
        }
    });
    words.collect()
}
