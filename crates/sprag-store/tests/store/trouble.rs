//! Disks that are full, and files that may not be written.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use sprag_core::Decision;
use sprag_store::{
    LogQuery, Marks, MemoryStore, OwnedSqlite, SessionState, SharedSqlite, SqliteOptions, Store,
    StoreError,
};

use crate::observations::{call, draft, id, kill, policy};
use crate::place::Place;
use crate::sqlite::{owned, shared, verified};

fn small() -> SqliteOptions {
    SqliteOptions {
        max_bytes: Some(250_000),
        ..SqliteOptions::default()
    }
}

#[test]
fn a_full_disk_is_told_and_loses_nothing_that_was_answered() {
    let place = Place::new();
    let store = SharedSqlite::open(&place.db(), &small()).unwrap();
    let policy = policy();
    let mut answered = 0;
    let full = loop {
        let session = format!("s{}", answered % 9);
        match store.decide(draft(call(answered, &session, answered), &policy)) {
            Ok(record) => answered = record.seq,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, StoreError::Full { .. }), "{full:?}");
    assert!(full.to_string().starts_with("no room left for "));
    assert_eq!(store.status().last_seq, answered);
    assert!(verified(&store).is_sound());
    drop(store);
    let store = shared(&place);
    assert!(store.decide(draft(kill(9_999, "s1"), &policy)).is_ok());
    assert!(verified(&store).is_sound());
}

#[test]
fn an_owner_with_a_full_disk_guards_on_says_so_and_recovers() {
    let place = Place::new();
    let policy = policy();
    let store = OwnedSqlite::open(&place.db(), &small()).unwrap();
    let mut at = 0;
    let full = loop {
        at += 1;
        let session = format!("s{}", at % 9);
        store
            .decide(draft(call(at, &session, at), &policy))
            .unwrap();
        if let Err(error) = store.sync() {
            break error;
        }
    };
    assert!(matches!(full, StoreError::Full { .. }), "{full:?}");
    assert!(store.status().degraded.is_some());
    assert!(store.status().pending > 0);
    // A kill is given, enforced and kept all the same: there is room for it that was taken before.
    let killed = store.decide(draft(kill(at, "s1"), &policy)).unwrap();
    assert_eq!(killed.verdict.durable, None);
    let refused = store.decide(draft(call(at, "s1", 0), &policy)).unwrap();
    assert_eq!(refused.verdict.decision, Decision::Kill);
    assert!(
        Marks::read(&place.db(), &id("s1"))
            .unwrap()
            .killed
            .is_some()
    );
    // Someone makes room: the file may grow again.
    drop(store);
    let store = owned(&place);
    assert_eq!(store.status().degraded, None);
    let restored = store.session(&id("s1")).unwrap().unwrap();
    assert_eq!(restored.summary.state, SessionState::Killed);
    assert!(verified(&store).is_sound());
}

#[test]
fn a_kill_that_found_no_room_in_the_reserve_either_says_that_it_is_not_durable() {
    let place = Place::new();
    let policy = policy();
    let store = OwnedSqlite::open(&place.db(), &small()).unwrap();
    let long = "x".repeat(240);
    for at in 0..5_000 {
        let what = kill(at, &format!("{long}{at}"));
        drop(store.decide_soon(draft(what, &policy)).unwrap());
    }
    let last = store.decide(draft(kill(9_999, "last"), &policy)).unwrap();
    assert_eq!(last.verdict.durable, Some(false));
    let refused = store
        .decide(draft(call(9_999, "last", 0), &policy))
        .unwrap();
    assert_eq!(refused.verdict.decision, Decision::Kill);
    assert!(store.status().degraded.is_some());
}

#[test]
fn past_the_most_unwritten_records_an_owner_once_gave_no_verdict_at_all() {
    let place = Place::new();
    let policy = policy();
    let options = SqliteOptions {
        max_unwritten: 100,
        ..small()
    };
    let store = OwnedSqlite::open(&place.db(), &options).unwrap();
    let mut at = 0;
    let mut ask = |session: &str| {
        at += 1;
        let record = store.decide(draft(call(at, session, at), &policy)).unwrap();
        (record.verdict.decision, record.verdict.durable)
    };
    while ask("busy").1.is_none() {}
    // Verdicts are given, and say that they are not written.
    assert_eq!(ask("busy"), (Decision::Allow, Some(false)));
    let pending = store.status().pending;
    let killed = store.decide(draft(kill(9_999, "s1"), &policy)).unwrap();
    assert_eq!(killed.verdict.durable, Some(false));
    let ask = |session: &str| {
        let record = store
            .decide(draft(call(9_999, session, 1), &policy))
            .unwrap();
        record.verdict.decision
    };
    // The kill is enforced, also below it, and nothing piles up but marks.
    assert_eq!(ask("s1"), Decision::Kill);
    assert_eq!(ask("s1/sub"), Decision::Kill);
    assert_eq!(ask("busy"), Decision::Allow);
    assert_eq!(store.status().pending, pending + 1);
    assert!(
        store
            .decide(draft(crate::observations::reset(9_999, "s1"), &policy))
            .is_err()
    );
    // The reserve takes the mark, and whoever comes next knows it.
    let is_kept = || {
        std::thread::park_timeout(std::time::Duration::from_millis(20));
        Marks::read(&place.db(), &id("s1"))
            .unwrap()
            .killed
            .is_some()
    };
    assert!((0..500).any(|_| is_kept()));
    drop(store);
    let store = owned(&place);
    let restored = store.session(&id("s1")).unwrap().unwrap();
    assert_eq!(restored.summary.state, SessionState::Killed);
    assert!(verified(&store).is_sound());
}

#[test]
fn calls_past_the_most_unwritten_records_once_were_not_counted() {
    let place = Place::new();
    let policy = policy();
    let options = SqliteOptions {
        max_unwritten: 100,
        ..small()
    };
    let store = OwnedSqlite::open(&place.db(), &options).unwrap();
    let decide = |at: u64, session: &str, what: u64| {
        let record = store.decide(draft(call(at, session, what), &policy));
        record.unwrap().verdict
    };
    let mut at = 1;
    while decide(at, "busy", at).durable.is_none() {
        at += 1;
    }
    // A loop that starts now is stopped as it would be with a log.
    let refused = (1..=60).find(|round| decide(at + round, "loop", 1).refuses());
    let usual = MemoryStore::new().unwrap();
    let expected = (1..=60).find(|round| {
        let record = usual.decide(draft(call(at + round, "loop", 1), &policy));
        record.unwrap().verdict.refuses()
    });
    assert_eq!(refused, expected);
    assert!(refused.is_some());
    // Somebody else's calls are counted apart.
    assert!(!decide(at + 61, "honest", 1).refuses());
    drop(store);
    assert!(verified(&owned(&place)).is_sound());
}

#[test]
fn a_hook_on_a_full_disk_lost_the_kill_that_it_had_just_made() {
    let place = Place::new();
    let policy = policy();
    let store = SharedSqlite::open(&place.db(), &small()).unwrap();
    let mut at = 0;
    while store
        .decide(draft(call(at, &format!("s{}", at % 9), at), &policy))
        .is_ok()
    {
        at += 1;
    }
    let killed = store.decide(draft(kill(at, "s1"), &policy)).unwrap();
    assert_eq!(killed.verdict.durable, None);
    // The next process knows it, full or not.
    let next = SharedSqlite::open(&place.db(), &small()).unwrap();
    let refused = next.decide(draft(call(at, "s1", 0), &policy)).unwrap();
    assert_eq!(refused.verdict.decision, Decision::Kill);
    assert!(
        Marks::read(&place.db(), &id("s1"))
            .unwrap()
            .killed
            .is_some()
    );
    // Once there is room it is in the log.
    let roomy = shared(&place);
    let refused = roomy.decide(draft(call(at, "s1", 0), &policy)).unwrap();
    assert_eq!(refused.verdict.decision, Decision::Kill);
    assert!(refused.seq > 0);
    let restored = roomy.session(&id("s1")).unwrap().unwrap();
    assert_eq!(restored.summary.state, SessionState::Killed);
    assert!(verified(&roomy).is_sound());
}

/// A disk of its own, where the system lets this user make one.
struct Disk(Place);

impl Disk {
    fn new() -> Option<Self> {
        let place = Place::new();
        let folder = place.db().parent().unwrap().to_path_buf();
        let mount = ["-t", "tmpfs", "-o", "size=3m", "tmpfs"];
        let made = Command::new("mount").args(mount).arg(&folder).output();
        made.is_ok_and(|made| made.status.success())
            .then_some(Self(place))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg(self.0.db().parent().unwrap())
            .output();
    }
}

#[test]
fn an_owner_writes_what_it_held_once_the_disk_has_room_again() {
    let Some(disk) = Disk::new() else {
        println!("this user can't mount a disk; the limit on the file's size stands in for it");
        return;
    };
    let policy = policy();
    let store = owned(&disk.0);
    let filler = disk.0.db().with_file_name("filler");
    let _ = std::fs::write(&filler, vec![0_u8; 4 << 20]);
    let mut at = 0;
    let full = loop {
        at += 1;
        let session = format!("s{}", at % 40);
        store
            .decide(draft(call(at, &session, at), &policy))
            .unwrap();
        if let Err(error) = store.sync() {
            break error;
        }
    };
    assert!(matches!(full, StoreError::Full { .. }), "{full:?}");
    let killed = store.decide(draft(kill(at, "s1"), &policy)).unwrap();
    assert_eq!(killed.verdict.durable, None);
    assert!(store.status().degraded.is_some());
    std::fs::remove_file(&filler).unwrap();
    while store.sync().is_err() {}
    assert_eq!(store.status().degraded, None);
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(found.recomputed, at + 1);
    assert!(
        Marks::read(&disk.0.db(), &id("s1"))
            .unwrap()
            .killed
            .is_some()
    );
}

const READER: &str = "SPRAG_TEST_READER";

#[test]
#[ignore = "started by the next test, as a user who may only read"]
fn reader() {
    let Some(path) = std::env::var_os(READER) else {
        return;
    };
    let path = Path::new(&path);
    assert!(Marks::read(path, &id("s1")).unwrap().killed.is_some());
    let store = SharedSqlite::open(path, &SqliteOptions::default()).unwrap();
    assert!(
        store
            .status()
            .degraded
            .unwrap()
            .starts_with("may only be read")
    );
    assert_eq!(store.records(&LogQuery::default()).unwrap().items.len(), 1);
    let killed = store.decide(draft(call(1, "s1", 1), &policy())).unwrap();
    assert_eq!(killed.verdict.decision, Decision::Kill);
    let refused = store.decide(draft(call(1, "s2", 1), &policy()));
    assert!(
        matches!(refused, Err(StoreError::ReadOnly { .. })),
        "{refused:?}"
    );
    let refused = OwnedSqlite::open(path, &SqliteOptions::default());
    assert!(
        matches!(refused, Err(StoreError::ReadOnly { .. })),
        "{refused:?}"
    );
    println!("read");
}

#[test]
fn a_file_that_may_only_be_read_is_read_and_says_so() {
    let place = Place::new();
    let store = shared(&place);
    store.decide(draft(kill(1, "s1"), &policy())).unwrap();
    let folder = place.db().parent().unwrap().to_path_buf();
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for file in std::fs::read_dir(&folder).unwrap() {
        mode(&file.unwrap().path(), 0o444);
    }
    mode(&folder, 0o555);
    let mut reader = Command::new(std::env::current_exe().unwrap());
    reader
        .args(["--exact", "trouble::reader", "--ignored", "--nocapture"])
        .env(READER, place.db());
    // Permissions don't hold for root, so the reader is nobody then.
    if std::fs::metadata(&folder).unwrap().uid() == 0 {
        reader.uid(65_534);
    }
    let output = reader.output().unwrap();
    mode(&folder, 0o755);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("read\n"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
