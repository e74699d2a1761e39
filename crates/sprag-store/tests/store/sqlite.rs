//! The two SQLite stores: the same verdicts as the engine, the same story on the same file.

use sprag_core::Timestamp;
use sprag_store::{
    Capacity, Marks, Noted, OwnedSqlite, Prune, Retention, SessionState, SharedSqlite,
    SqliteOptions, Store, StoreError, Verification, read_policy, verify,
};

use crate::model::{agrees_with_the_engine, all_records, replays_a_session, tells_one_story};
use crate::observations::{asking_policy, call, draft, id, kill, policy, reset};
use crate::place::Place;
use crate::stream::Stream;

pub(crate) fn verified(store: &dyn Store) -> Verification {
    verify(&*store.view().unwrap(), &read_policy).unwrap()
}

pub(crate) fn shared(place: &Place) -> SharedSqlite {
    SharedSqlite::open(&place.db(), &SqliteOptions::default()).unwrap()
}

pub(crate) fn owned(place: &Place) -> OwnedSqlite {
    OwnedSqlite::open(&place.db(), &SqliteOptions::default()).unwrap()
}

#[test]
fn a_shared_file_gives_the_engines_verdicts() {
    for seed in 1..=4 {
        let place = Place::new();
        let store = shared(&place);
        agrees_with_the_engine(&store, &policy(), seed, 300);
        tells_one_story(&store);
        replays_a_session(&store, &policy(), "s1");
        let found = verified(&store);
        assert!(found.is_sound(), "{found:?}");
        assert!(found.recomputed > 250);
    }
}

#[test]
fn a_file_remembers_what_people_said_also_for_the_next_process() {
    let place = Place::new();
    {
        let store = shared(&place);
        agrees_with_the_engine(&store, &asking_policy(), 5, 400);
        tells_one_story(&store);
    }
    let store = owned(&place);
    replays_a_session(&store, &asking_policy(), "s1");
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
}

#[test]
fn an_owned_file_gives_the_engines_verdicts() {
    for seed in 1..=6 {
        let place = Place::new();
        let store = owned(&place);
        agrees_with_the_engine(&store, &policy(), seed, 400);
        tells_one_story(&store);
        replays_a_session(&store, &policy(), "s1");
        let found = verified(&store);
        assert!(found.is_sound(), "{found:?}");
    }
}

#[test]
fn owner_and_sharers_take_turns_on_one_history() {
    let place = Place::new();
    let policy = policy();
    let mut stream = Stream::new(5);
    let mut cells = sprag_core::CellMap::default();
    for round in 0..6 {
        let store: Box<dyn Store> = if round % 2 == 0 {
            Box::new(shared(&place))
        } else {
            Box::new(owned(&place))
        };
        for _ in 0..60 {
            let observation = stream.observation();
            if let Ok(record) = store.decide(draft(observation, &policy)) {
                let observation = record.observation().unwrap();
                let (again, _) = cells.fold(&policy.policy, observation).unwrap();
                assert_eq!(record.verdict, again);
            }
        }
    }
    let store = shared(&place);
    tells_one_story(&store);
    assert!(verified(&store).is_sound());
    let owners = all_records(&store, sprag_store::LogScope::All)
        .iter()
        .filter(|record| {
            matches!(
                record.note(),
                Some(Noted::OwnerTook { .. } | Noted::OwnerLeft { .. })
            )
        })
        .count();
    assert_eq!(owners, 6);
}

#[test]
fn while_a_file_is_owned_others_read_marks_and_write_nothing() {
    let place = Place::new();
    let policy = policy();
    let early = shared(&place);
    let owner = owned(&place);
    owner.decide(draft(kill(1, "s1"), &policy)).unwrap();
    let late = shared(&place);
    for other in [&early, &late] {
        let refused = other.decide(draft(call(2, "s2", 1), &policy));
        assert!(
            matches!(refused, Err(StoreError::Owned { .. })),
            "{refused:?}"
        );
    }
    let second = OwnedSqlite::open(&place.db(), &SqliteOptions::default());
    assert!(matches!(second, Err(StoreError::Owned { .. })));
    let marks = |session| Marks::read(&place.db(), &id(session)).unwrap();
    assert_eq!(marks("s1").killed.unwrap().by.as_deref(), Some("ops@host"));
    assert!(marks("s1/sub").killed.is_some());
    assert_eq!(marks("s2"), Marks::default());
    owner.decide(draft(reset(3, "s1"), &policy)).unwrap();
    assert_eq!(marks("s1"), Marks::default());
    drop(owner);
    assert!(early.decide(draft(call(2, "s2", 1), &policy)).is_ok());
}

#[test]
fn every_store_forgets_the_same_cells() {
    let capacity = Capacity {
        sessions: 12,
        marks: 1_000,
        others: 20,
        records: 100_000,
    };
    let options = SqliteOptions {
        capacity,
        ..SqliteOptions::default()
    };
    let places = [Place::new(), Place::new()];
    let stores: [Box<dyn Store>; 3] = [
        Box::new(sprag_store::MemoryStore::with_capacity(capacity).unwrap()),
        Box::new(SharedSqlite::open(&places[0].db(), &options).unwrap()),
        Box::new(OwnedSqlite::open(&places[1].db(), &options).unwrap()),
    ];
    let policy = policy();
    let mut stream = Stream::new(11);
    stream.sessions = 60;
    for _ in 0..500 {
        let mut observation = stream.observation();
        // Fresh flows are random; all stores shall get the same.
        if let sprag_core::Observed::Message(message) = &mut observation.what {
            message.flow.get_or_insert_with(|| id("f0"));
        }
        let answers = stores.each_ref().map(|store| {
            let answer = store.decide(draft(observation.clone(), &policy));
            answer
                .map(|record| record.verdict)
                .map_err(|error| error.to_string())
        });
        assert_eq!(answers[0], answers[1]);
        assert_eq!(answers[0], answers[2]);
    }
    let held = stores
        .each_ref()
        .map(|store| store.view().unwrap().cells().unwrap());
    assert_eq!(held[0], held[1]);
    assert_eq!(held[0], held[2]);
    for store in &stores {
        let found = verified(&**store);
        assert!(found.is_sound(), "{found:?}");
        assert!(found.notes > 5, "{found:?}");
        tells_one_story(&**store);
    }
}

#[test]
fn eviction_never_forgets_a_kill_or_a_block() {
    let place = Place::new();
    let options = SqliteOptions {
        capacity: Capacity {
            sessions: 10,
            ..Capacity::default()
        },
        ..SqliteOptions::default()
    };
    let store = OwnedSqlite::open(&place.db(), &options).unwrap();
    let policy = policy();
    for number in 0..15 {
        store
            .decide(draft(kill(1, &format!("killed{number}")), &policy))
            .unwrap();
    }
    for number in 0..100 {
        store
            .decide(draft(call(10 + number, &format!("s{number}"), 1), &policy))
            .unwrap();
    }
    for number in 0..15 {
        let session = store
            .session(&id(&format!("killed{number}")))
            .unwrap()
            .unwrap();
        assert_eq!(session.summary.state, SessionState::Killed);
        let marks = Marks::read(&place.db(), &id(&format!("killed{number}"))).unwrap();
        assert!(marks.killed.is_some());
    }
}

#[test]
fn the_size_of_a_log_once_left_out_all_but_its_records() {
    let place = Place::new();
    let store = owned(&place);
    let policy = policy();
    for at in 0..4_000 {
        let what = call(1_700_000_000_000 + at, &format!("s{}", at % 40), at);
        store.decide(draft(what, &policy)).unwrap();
    }
    store.sync().unwrap();
    let mut records = 0;
    let view = store.view().unwrap();
    let scanned = view.scan(0, &mut |row| {
        records += u64::try_from(row.body.len()).unwrap();
        std::ops::ControlFlow::Continue(())
    });
    scanned.unwrap();
    let whole = view.size_bound().unwrap().unwrap();
    drop(view);
    assert!(whole > records + records / 8, "{whole} {records}");
    // The records alone would fit.
    let order = Prune {
        retention: Retention {
            max_bytes: (whole + records) / 2,
            ..Retention::default()
        },
        at: Timestamp(1_700_000_000_000),
        policy: std::sync::Arc::clone(&policy),
        policies: &read_policy,
    };
    let pruned = store.prune(&order).unwrap();
    assert!(pruned.records > 0, "{pruned:?}");
    assert!(verified(&store).is_sound());
}

#[test]
fn what_a_prune_leaves_still_verifies_and_replays() {
    for owner in [false, true] {
        let place = Place::new();
        let store: Box<dyn Store> = if owner {
            Box::new(owned(&place))
        } else {
            Box::new(shared(&place))
        };
        let policy = policy();
        agrees_with_the_engine(&*store, &policy, 9, 500);
        let before = store.status().last_seq;
        let order = Prune {
            retention: Retention {
                max_bytes: 20_000,
                ..Retention::default()
            },
            at: Timestamp(0),
            policy: policy.clone(),
            policies: &read_policy,
        };
        let pruned = store.prune(&order).unwrap();
        assert!(
            pruned.records > 100 && pruned.through < before,
            "{pruned:?}"
        );
        let found = verified(&*store);
        assert!(found.is_sound(), "{found:?}");
        assert_eq!(found.first, pruned.through + 1);
        tells_one_story(&*store);
        replays_a_session(&*store, &policy, "s1");
        let mut stream = Stream::new(10);
        for _ in 0..200 {
            let _ = store.decide(draft(stream.observation(), &policy));
        }
        let again = store.prune(&order).unwrap();
        assert!(again.through > pruned.through);
        assert!(verified(&*store).is_sound());
    }
}

#[test]
fn no_clock_opens_a_killed_session() {
    let place = Place::new();
    let policy = policy();
    let (fast, slow) = (shared(&place), shared(&place));
    fast.decide(draft(kill(4_000_000_000_000, "s1"), &policy))
        .unwrap();
    for at in [0, 1_000, 3_999_999_999_999, 8_000_000_000_000, u64::MAX, 5] {
        let record = slow.decide(draft(call(at, "s1", at), &policy)).unwrap();
        assert_eq!(
            record.verdict.decision,
            sprag_core::Decision::Kill,
            "at {at}"
        );
    }
    assert!(verified(&slow).is_sound());
    tells_one_story(&slow);
}

#[test]
fn a_window_counts_no_less_for_a_clock_that_is_behind() {
    let place = Place::new();
    let policy = policy();
    let (fast, slow) = (shared(&place), shared(&place));
    // Further apart is a clock that jumped.
    let (hour, apart) = (3_600_000, 240_000);
    let refused = (0..25)
        .map(|number| {
            let (store, skew) = if number % 2 == 0 {
                (&fast, apart)
            } else {
                (&slow, 0)
            };
            store
                .decide(draft(call(10 * hour + skew + number, "s1", 7), &policy))
                .unwrap()
        })
        .filter(|record| record.verdict.refuses())
        .count();
    assert_eq!(
        refused, 5,
        "20 identical calls a minute, whichever clock they came with"
    );
}

#[test]
fn only_the_store_writes_notes_about_itself() {
    let place = Place::new();
    let note = || sprag_store::Note {
        at: Timestamp(1),
        policy: policy(),
        what: Noted::Pruned {
            through: 1,
            records: 1,
        },
    };
    for store in [
        &shared(&place) as &dyn Store,
        &sprag_store::MemoryStore::new().unwrap(),
    ] {
        assert!(matches!(store.note(note()), Err(StoreError::Reserved)));
    }
}

#[test]
fn processes_that_come_and_go_leave_a_write_ahead_log_that_stays_short() {
    let place = Place::new();
    let policy = policy();
    let log = place.db().with_extension("db-wal");
    let (mut longest, mut shortest) = (0, u64::MAX);
    for n in 0..400 {
        let store = shared(&place);
        store
            .decide(draft(call(1_000 * n, &format!("s{}", n % 7), n), &policy))
            .unwrap();
        drop(store);
        let length = std::fs::metadata(&log).unwrap().len();
        longest = longest.max(length);
        shortest = shortest.min(length);
    }
    assert!(longest < 5 << 20, "{longest} bytes");
    assert_eq!(shortest, 0, "it was never emptied");
    let found = verified(&shared(&place));
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(found.recomputed, 400);
}
