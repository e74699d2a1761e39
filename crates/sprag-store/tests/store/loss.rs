//! Logs that were wiped or cut: checkpoints know more than they hold, and are never removed.

use std::path::{Path, PathBuf};

use sprag_store::{
    LogProblem, LogScope, Noted, OwnedSqlite, SharedSqlite, SqliteOptions, Store, StoreError,
    find_loss, read_policy, verify,
};

use crate::model::all_records;
use crate::observations::{call, draft, kill, policy};
use crate::place::Place;
use crate::sqlite::{owned, verified};

fn checkpoints(place: &Place) -> PathBuf {
    place.db().with_extension("db.checkpoints")
}

fn open(place: &Place, accept_loss: bool) -> Result<OwnedSqlite, StoreError> {
    let options = SqliteOptions {
        accept_loss,
        ..SqliteOptions::default()
    };
    OwnedSqlite::open(&place.db(), &options)
}

fn filled(place: &Place) {
    let store = open(place, false).unwrap();
    for at in 1..20 {
        store.decide(draft(call(at, "s", at), &policy())).unwrap();
    }
    store.decide(draft(kill(20, "s"), &policy())).unwrap();
}

fn remove(file: &Path, suffix: &str) {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    let _ = std::fs::remove_file(name);
}

#[test]
fn verify_called_a_wiped_store_sound_and_removed_its_checkpoints() {
    let place = Place::new();
    filled(&place);
    let before = std::fs::read_to_string(checkpoints(&place)).unwrap();
    for suffix in ["", "-wal", "-shm"] {
        remove(&place.db(), suffix);
    }
    // Whoever opens the file makes a new one, and goes on guarding.
    let store = SharedSqlite::open(&place.db(), &SqliteOptions::default()).unwrap();
    store.decide(draft(call(1, "t", 1), &policy())).unwrap();
    let found = verify(&*store.view().unwrap(), &read_policy).unwrap();
    let bad = found.bad.unwrap();
    assert!(
        matches!(bad.problem, LogProblem::Cut { checkpoint: 21 }),
        "{bad:?}"
    );
    let after = std::fs::read_to_string(checkpoints(&place)).unwrap();
    assert!(after.starts_with(&before), "{after}");
    assert!(matches!(
        find_loss(&place.db()),
        Ok(Some(StoreError::Cut {
            checkpoint: 21,
            last: 1,
            ..
        }))
    ));
}

#[test]
fn a_server_took_a_store_that_was_wiped_without_a_word() {
    let place = Place::new();
    filled(&place);
    let before = std::fs::read_to_string(checkpoints(&place)).unwrap();
    for suffix in ["", "-wal", "-shm"] {
        remove(&place.db(), suffix);
    }
    let refused = open(&place, false);
    assert!(
        matches!(refused, Err(StoreError::Cut { checkpoint: 21, .. })),
        "{refused:?}"
    );
    // Accepted once, it is remembered: in the log, and by not asking again.
    let store = open(&place, true).unwrap();
    let notes = all_records(&store, LogScope::Notes);
    let accepted = notes
        .iter()
        .filter_map(|record| record.note())
        .any(|noted| matches!(noted, Noted::LossAccepted { checkpoint: 21, .. }));
    assert!(accepted, "{notes:?}");
    drop(store);
    let store = open(&place, false).unwrap();
    let found = verify(&*store.view().unwrap(), &read_policy).unwrap();
    assert!(found.is_sound(), "{found:?}");
    // What the checkpoints knew is still there.
    let mut aside = checkpoints(&place).into_os_string();
    aside.push(".lost");
    assert_eq!(std::fs::read_to_string(aside).unwrap(), before);
}

#[test]
fn a_log_that_was_cut_and_grew_again_is_told_from_the_one_it_was() {
    let place = Place::new();
    filled(&place);
    let file = rusqlite::Connection::open(place.db()).unwrap();
    file.execute_batch(
        "DELETE FROM log WHERE seq > 10; DELETE FROM session;
         UPDATE head SET seq = 10, hash = (SELECT hash FROM log WHERE seq = 10), sessions = 0;",
    )
    .unwrap();
    drop(file);
    let store = SharedSqlite::open(&place.db(), &SqliteOptions::default()).unwrap();
    for at in 1..30 {
        store.decide(draft(call(at, "t", at), &policy())).unwrap();
    }
    drop(store);
    let refused = open(&place, false);
    assert!(
        matches!(refused, Err(StoreError::Cut { checkpoint: 21, .. })),
        "{refused:?}"
    );
}

#[test]
fn a_checkpoint_that_was_half_written_on_a_full_disk_once_kept_every_server_from_starting() {
    let place = Place::new();
    let policy = policy();
    let store = owned(&place);
    store.decide(draft(kill(1, "s1"), &policy)).unwrap();
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(checkpoints(&place))
        .unwrap();
    std::io::Write::write_all(&mut file, b"126 2f9137").unwrap();
    store.decide(draft(kill(2, "s2"), &policy)).unwrap();
    drop(store);
    let text = std::fs::read_to_string(checkpoints(&place)).unwrap();
    assert!(!text.contains("2f9137"), "{text}");
    let store = owned(&place);
    assert!(verified(&store).is_sound());
}
