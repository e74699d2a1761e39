//! Sessions that were killed or blocked take no room from those that go on, in every store.

use std::sync::Arc;
use std::time::Instant;

use sprag_core::{Decision, Millis, Observation, Timestamp};
use sprag_store::{
    ActivePolicy, Capacity, Eviction, LogScope, MemoryStore, Noted, OwnedSqlite, Pool,
    SessionState, SharedSqlite, SqliteOptions, Store, StoreError, read_policy, verify,
};

use crate::model::all_records;
use crate::observations::{call, draft, id, kill, policy, reset};
use crate::place::Place;
use crate::processes::times;

/// One store of each kind that keeps its cells itself.
fn each_store(capacity: Capacity, work: impl Fn(&dyn Store, &Arc<ActivePolicy>)) {
    let options = SqliteOptions {
        capacity,
        ..SqliteOptions::default()
    };
    let (first, second) = (Place::new(), Place::new());
    let stores: [Box<dyn Store>; 3] = [
        Box::new(MemoryStore::with_capacity(capacity).unwrap()),
        Box::new(SharedSqlite::open(&first.db(), &options).unwrap()),
        Box::new(OwnedSqlite::open(&second.db(), &options).unwrap()),
    ];
    for store in &stores {
        work(&**store, &policy());
        let found = verify(&*store.view().unwrap(), &read_policy).unwrap();
        assert!(found.is_sound(), "{found:?}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "compares how long decisions take"
)]
fn now() -> Instant {
    Instant::now()
}

fn decide(store: &dyn Store, what: Observation, policy: &Arc<ActivePolicy>) -> Decision {
    store.decide(draft(what, policy)).unwrap().verdict.decision
}

#[test]
fn past_the_capacity_of_killed_sessions_the_guard_was_off_for_everyone() {
    let capacity = Capacity {
        sessions: 20,
        ..Capacity::default()
    };
    each_store(capacity, |store, policy| {
        for number in 0..60 {
            store
                .decide(draft(kill(1, &format!("k{number}")), policy))
                .unwrap();
        }
        // A session that goes on is remembered from one event to the next: it loops, and is stopped.
        let verdicts: Vec<_> = (0..25)
            .map(|number| decide(store, call(100 + number, "loops", 1), policy))
            .collect();
        assert!(verdicts.iter().any(|verdict| *verdict >= Decision::Deny));
        // Nothing was forgotten for it, and every kill holds.
        let forgotten = all_records(store, LogScope::Notes);
        let forgotten = forgotten
            .iter()
            .filter(|record| matches!(record.note(), Some(Noted::Evicted(_))));
        assert_eq!(forgotten.count(), 0);
        for number in 0..60 {
            let session = format!("k{number}");
            assert_eq!(
                decide(store, call(200, &session, 1), policy),
                Decision::Kill
            );
        }
    });
}

fn evictions(store: &dyn Store) -> Vec<Eviction> {
    let notes = all_records(store, LogScope::Notes).into_iter();
    notes
        .filter_map(|record| match record.note() {
            Some(Noted::Evicted(eviction)) => Some(eviction.clone()),
            _ => None,
        })
        .collect()
}

#[test]
fn a_session_that_was_just_judged_was_evicted_by_its_own_event() {
    let capacity = Capacity {
        sessions: 10,
        ..Capacity::default()
    };
    each_store(capacity, |store, policy| {
        for number in 0..10 {
            decide(
                store,
                call(1_000 + number, &format!("s{number}"), 1),
                policy,
            );
        }
        // Its clock is behind: of all sessions it was idle the longest.
        decide(store, call(1, "late", 1), policy);
        assert!(store.session(&id("late")).unwrap().is_some());
        // An owner forgets nothing while it still loads its file, which it does on a thread of its own.
        let evictions = (0..10_000)
            .map(|_| {
                decide(store, call(1, "late", 1), policy);
                evictions(store)
            })
            .find(|found| !found.is_empty())
            .unwrap_or_default();
        assert_eq!(evictions.len(), 1, "{evictions:?}");
        assert_eq!(evictions[0].kept.len(), 1);
    });
}

#[test]
fn at_the_limit_of_marks_new_sessions_are_refused_and_known_ones_go_on() {
    let capacity = Capacity {
        marks: 5,
        ..Capacity::default()
    };
    each_store(capacity, |store, policy| {
        decide(store, call(1, "known", 1), policy);
        for number in 0..5 {
            decide(store, kill(2, &format!("k{number}")), policy);
        }
        let refused = store.decide(draft(call(3, "new", 1), policy));
        assert!(
            matches!(refused, Err(StoreError::TooManyMarks { marks: 5 })),
            "{refused:?}"
        );
        assert!(store.status().degraded.unwrap().contains("new sessions"));
        assert_eq!(decide(store, call(4, "known", 2), policy), Decision::Allow);
        assert_eq!(decide(store, call(4, "k1", 2), policy), Decision::Kill);
        // An operator is not refused, and makes room.
        decide(store, kill(5, "another"), policy);
        decide(store, reset(5, "k0"), policy);
        decide(store, reset(5, "k1"), policy);
        assert_eq!(decide(store, call(6, "new", 1), policy), Decision::Allow);
        assert_eq!(store.status().degraded, None);
    });
}

#[test]
fn marks_of_sessions_that_were_idle_for_a_month_make_room() {
    let capacity = Capacity {
        marks: 5,
        ..Capacity::default()
    };
    let month = Millis(30 * Millis::DAY.0);
    each_store(capacity, |store, policy| {
        decide(store, call(1, "known", 1), policy);
        for number in 0..4 {
            decide(store, kill(10 + number, &format!("k{number}")), policy);
        }
        let later = Timestamp(20).plus(month).0;
        decide(store, kill(later, "k4"), policy);
        assert_eq!(
            decide(store, call(later, "new", 1), policy),
            Decision::Allow
        );
        let killed = store.session(&id("k4")).unwrap().unwrap();
        assert_eq!(killed.summary.state, SessionState::Killed);
        assert!(store.session(&id("k0")).unwrap().is_none());
        let is_marks =
            |noted: &Noted| matches!(noted, Noted::Evicted(one) if one.pool == Pool::Marks);
        let notes = all_records(store, LogScope::Notes);
        assert!(
            notes
                .iter()
                .filter_map(|record| record.note())
                .any(is_marks)
        );
    });
}

#[test]
fn a_decision_took_longer_the_more_sessions_had_been_killed() {
    let killed = times("SPRAG_KILLED", 3_000);
    let capacity = Capacity {
        sessions: usize::try_from(killed).unwrap() / 2,
        marks: usize::try_from(killed).unwrap() * 2,
        ..Capacity::default()
    };
    each_store(capacity, |store, policy| {
        let hundred = |from: u64| {
            let start = now();
            for number in 0..100 {
                decide(store, call(from + number, "works", from + number), policy);
            }
            start.elapsed()
        };
        hundred(1);
        let before = hundred(1_000);
        for number in 0..killed {
            let what = kill(2_000, &format!("k{number}"));
            store.decide_soon(draft(what, policy)).unwrap();
        }
        store.sync().unwrap();
        hundred(3_000);
        let after = hundred(4_000);
        // It was hundreds of times as long; what is left is chance.
        assert!(after < before * 20, "{before:?}, then {after:?}");
    });
}

#[test]
fn a_killed_session_keeps_little_more_than_its_mark() {
    let store = MemoryStore::new().unwrap();
    let policy = policy();
    for number in 0..200 {
        decide(&store, call(1 + number, "s", number), &policy);
    }
    let place = Place::new();
    let shared = SharedSqlite::open(&place.db(), &SqliteOptions::default()).unwrap();
    for number in 0..200 {
        decide(&shared, call(1 + number, "s", number), &policy);
    }
    let size = || -> i64 {
        let file = rusqlite::Connection::open(place.db()).unwrap();
        let sql = "SELECT length(cell) FROM session WHERE id = 's'";
        file.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert!(size() > 1_000);
    decide(&shared, kill(500, "s"), &policy);
    assert!(size() < 200, "{}", size());
    // Nor does it grow again.
    for number in 0..100 {
        decide(&shared, call(600 + number, "s", number), &policy);
    }
    assert!(size() < 200, "{}", size());
}
