//! A clock that once jumped ahead, in every store.

use sprag_core::{Decision, Timestamp};
use sprag_store::{LogScope, MemoryStore, OwnedSqlite, SharedSqlite, SqliteOptions, Store};

use crate::model::all_records;
use crate::observations::{call, draft, policy};
use crate::place::Place;
use crate::redis_server::{Server, is_there};
use crate::sqlite::verified;

const START: u64 = 1_700_000_000_000;
const DAY: u64 = 86_400_000;

fn each_store(work: impl Fn(&dyn Store)) {
    let (first, second) = (Place::new(), Place::new());
    let options = SqliteOptions::default();
    work(&MemoryStore::new().unwrap());
    work(&SharedSqlite::open(&first.db(), &options).unwrap());
    work(&OwnedSqlite::open(&second.db(), &options).unwrap());
    if is_there() {
        let server = Server::start();
        work(&server.store());
    }
}

/// What the same call gets at `at`.
fn ask(store: &dyn Store, at: u64) -> Decision {
    let decided = store.decide(draft(call(at, "s1", 1), &policy())).unwrap();
    decided.verdict.decision
}

/// The times of the records that say that the clock was ahead.
fn taken_back(store: &dyn Store) -> Vec<Timestamp> {
    store.sync().unwrap();
    all_records(store, LogScope::All)
        .iter()
        .filter(|record| record.observation().is_some_and(|event| event.clock_back))
        .map(|record| record.at)
        .collect()
}

#[test]
fn a_clock_that_had_jumped_ahead_once_froze_every_window_for_as_long() {
    each_store(|store| {
        // For a moment the clock is a day ahead, and the window of identical calls fills up.
        for n in 0..20 {
            assert!(ask(store, START + DAY + n) < Decision::Deny);
        }
        assert_eq!(ask(store, START + DAY + 20), Decision::Deny);
        // Right again: what was counted counts as having happened just now, and then the window slides on.
        assert_eq!(ask(store, START), Decision::Deny);
        assert_eq!(ask(store, START + 59_999), Decision::Deny);
        assert!(ask(store, START + 60_000) < Decision::Deny);
        assert_eq!(taken_back(store), [Timestamp(START)]);
        let found = verified(store);
        assert!(found.is_sound(), "{found:?}");
    });
}

#[test]
fn clocks_that_differ_by_five_minutes_are_left_alone() {
    each_store(|store| {
        ask(store, START + 300_000);
        ask(store, START);
        assert_eq!(taken_back(store), []);
        ask(store, START + 300_001);
        ask(store, START);
        assert_eq!(taken_back(store), [Timestamp(START)]);
        assert!(verified(store).is_sound());
    });
}
