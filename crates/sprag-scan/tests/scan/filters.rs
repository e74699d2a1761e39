//! Only what is asked for: since when, and of whom.

use std::fs;
use std::path::Path;

use sprag_hooks::Client;
use sprag_scan::{KnownFolders, Options, parse_time, scan};

use crate::recorded::{LINES, fixture, transcript, with};

#[test]
fn sessions_that_ended_before_are_left_out() {
    let path = fixture("claude", "loop");
    let began = |since: &str| Options {
        since: parse_time(since),
        ..Options::default()
    };
    let paths = [path];
    assert_eq!(with(&paths, &began("2026-11-01")).total.loops, 1);
    let late = with(&paths, &began("2026-11-16T12:00:00Z"));
    assert_eq!((late.total.loops, late.total.sessions), (0, 0));
}

#[test]
fn only_the_clients_that_were_asked_for_are_read() {
    let only = Options {
        clients: vec![Client::Codex],
        ..Options::default()
    };
    let paths = LINES.map(|client| fixture(client, "loop"));
    let report = with(&paths, &only);
    assert_eq!(report.total.sessions, 1);
    assert_eq!(report.clients().collect::<Vec<_>>(), [Client::Codex]);
}

/// A home in which every client has left its transcripts, where it leaves them.
pub(crate) fn home(folder: &Path) -> KnownFolders {
    let put = |client: &str, place: &str| {
        let path = folder.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(fixture(client, "loop"), path).unwrap();
    };
    put("claude", ".claude/projects/-home-user-project/s1.jsonl");
    put("codex", ".codex/sessions/2026/11/16/rollout-1.jsonl");
    put("gemini", ".gemini/tmp/project/chats/session-1.jsonl");
    fs::write(
        folder.join(".gemini/tmp/project/.project_root"),
        "/home/user/project",
    )
    .unwrap();
    put("copilot", ".copilot/session-state/s1/events.jsonl");
    fs::create_dir_all(folder.join(".local/share/opencode")).unwrap();
    transcript("opencode", "loop", &folder.join(".local/share/opencode"));
    // What lies beside is nobody's transcript.
    fs::write(folder.join(".claude/settings.json"), "{}").unwrap();
    fs::write(folder.join(".codex/history.jsonl"), "{}").unwrap();
    KnownFolders {
        home: folder.to_owned(),
        claude: None,
        codex: None,
        copilot: None,
        data: None,
    }
}

#[test]
fn transcripts_are_found_where_the_clients_keep_them() {
    let folder = tempfile::tempdir().unwrap();
    let places = home(folder.path());
    let found = places.find(&Client::ALL);
    assert_eq!(found.len(), 5, "{found:?}");
    let mut report = scan(&found, &Options::default(), &|_| {}).0;
    assert_eq!(report.clients().count(), 5);
    assert_eq!(report.total.loops, 5);
    assert!(
        report
            .loops
            .iter()
            .all(|found| found.project.as_deref() == Some("/home/user/project"))
    );
    assert_eq!(report.skipped, []);
    report.hide_home(folder.path());
    assert!(
        report
            .loops
            .iter()
            .all(|found| found.file.starts_with("~/."))
    );
}

#[test]
fn a_session_that_was_copied_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(fixture("claude", "loop"), folder.path().join("one.jsonl")).unwrap();
    let forked = fs::read_to_string(fixture("claude", "loop")).unwrap();
    let forked: String = forked
        .lines()
        .map(|line| line.replace("sessionId\":\"", "sessionId\":\"fork-") + "\n")
        .collect();
    fs::write(folder.path().join("two.jsonl"), forked).unwrap();
    let report = with(&[folder.path().to_owned()], &Options::default());
    assert_eq!((report.total.sessions, report.total.loops), (2, 1));
}
