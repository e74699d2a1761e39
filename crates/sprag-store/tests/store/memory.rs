//! The store in memory.

use std::sync::Arc;

use sprag_core::{Identity, Observation, Observed, Policy, Priced, Timestamp, Usage};
use sprag_store::{
    ActivePolicy, Capacity, LogQuery, LogScope, MemoryStore, Note, Noted, Pause, Pool,
    SessionQuery, SessionState, Store,
};

use crate::model::{agrees_with_the_engine, all_records, replays_a_session, tells_one_story};
use crate::observations::{asking_policy, call, draft, id, kill, policy, reset, user_message};

#[test]
fn memory_gives_the_engines_verdicts() {
    for seed in 1..=20 {
        let store = MemoryStore::new().unwrap();
        agrees_with_the_engine(&store, &policy(), seed, 400);
        tells_one_story(&store);
    }
}

#[test]
fn memory_remembers_what_people_said() {
    let store = MemoryStore::new().unwrap();
    agrees_with_the_engine(&store, &asking_policy(), 5, 1_000);
    tells_one_story(&store);
    replays_a_session(&store, &asking_policy(), "s1");
}

#[test]
fn a_session_replays_from_the_records_that_share_a_cell_with_it() {
    let store = MemoryStore::new().unwrap();
    agrees_with_the_engine(&store, &policy(), 7, 400);
    for session in ["s0", "s1", "s2/sub"] {
        replays_a_session(&store, &policy(), session);
    }
}

#[test]
fn a_replay_of_one_session_leaves_strangers_out() {
    let store = MemoryStore::new().unwrap();
    for at in 0..10 {
        store.decide(draft(call(at, "a", at), &policy())).unwrap();
        store.decide(draft(call(at, "b", at), &policy())).unwrap();
    }
    assert_eq!(all_records(&store, LogScope::Sharing(id("a"))).len(), 10);
    assert_eq!(all_records(&store, LogScope::Session(id("b"))).len(), 10);
}

/// What a session of the agent `coder` spent.
fn usage(at: u64, session: &str) -> Observation {
    let usage = Usage {
        session: id(session),
        agent: Some(id("coder")),
        flow: None,
        model: None,
        tokens: 10,
        output_tokens: 1,
        cache_write_tokens: 0,
        cache_read_tokens: 0,
        cost_micros: 5,
        prices: Priced::Reported,
        pending: false,
        id: None,
        generation: None,
        identity: Identity::Exact,
    };
    Observation::new(Timestamp(at), Observed::Usage(usage))
}

#[test]
fn a_proof_of_one_session_once_folded_the_whole_history_of_its_agent() {
    for (text, expected) in [
        ("", [20, 10]),
        ("[budget]\ncost_usd = { agent_day = 1_000 }\n", [20, 20]),
    ] {
        let policy = Policy::from_toml(text).unwrap();
        let policy = Arc::new(ActivePolicy::new(policy));
        let store = MemoryStore::new().unwrap();
        for at in 0..10 {
            for session in ["a", "b"] {
                store.decide(draft(usage(at, session), &policy)).unwrap();
            }
        }
        let scopes = [LogScope::Sharing(id("a")), LogScope::Recorded(id("a"))];
        let found = scopes.map(|scope| all_records(&store, scope).len());
        assert_eq!(found, expected, "{text}");
        replays_a_session(&store, &policy, "a");
    }
}

#[test]
fn a_log_that_is_cut_in_memory_still_starts_from_its_base() {
    let store = MemoryStore::with_capacity(Capacity {
        records: 100,
        ..Capacity::default()
    })
    .unwrap();
    agrees_with_the_engine(&store, &policy(), 3, 1_000);
    let base = store.base().unwrap();
    assert!(base.after > 800);
    tells_one_story(&store);
    replays_a_session(&store, &policy(), "s1");
}

#[test]
fn eviction_forgets_the_longest_idle_and_never_a_kill() {
    let store = MemoryStore::with_capacity(Capacity {
        sessions: 20,
        ..Capacity::default()
    })
    .unwrap();
    store.decide(draft(kill(1, "killed"), &policy())).unwrap();
    for number in 0..100 {
        let session = format!("s{number}");
        store
            .decide(draft(call(10 + number, &session, 1), &policy()))
            .unwrap();
    }
    assert!(store.status().sessions <= 20);
    let killed = store.session(&id("killed")).unwrap().unwrap();
    assert_eq!(killed.summary.state, SessionState::Killed);
    assert!(store.session(&id("s0")).unwrap().is_none());
    assert!(store.session(&id("s99")).unwrap().is_some());
    let evicted: u64 = all_records(&store, LogScope::All)
        .iter()
        .filter_map(|record| match record.note() {
            Some(Noted::Evicted(eviction)) => {
                assert_eq!(eviction.pool, Pool::Sessions);
                Some(eviction.cells)
            }
            _ => None,
        })
        .sum();
    assert_eq!(evicted + store.status().sessions, 101);
    tells_one_story(&store);
}

#[test]
fn a_message_from_outside_gets_a_fresh_random_flow() {
    let store = MemoryStore::new().unwrap();
    let drawn: Vec<_> = (0..2)
        .map(|_| {
            store
                .decide(draft(user_message(1, "a"), &policy()))
                .unwrap()
        })
        .map(|record| record.verdict.flow.unwrap())
        .collect();
    assert_eq!(drawn[0].as_str().len(), 32);
    assert_ne!(drawn[0], drawn[1]);
}

#[test]
fn notes_stand_in_the_log_between_events() {
    let store = MemoryStore::new().unwrap();
    store.decide(draft(call(1, "a", 1), &policy())).unwrap();
    let note = store
        .note(Note {
            at: Timestamp(2),
            policy: policy(),
            what: Noted::Paused(Pause {
                until: Some(Timestamp(9)),
                ..Pause::default()
            }),
        })
        .unwrap();
    assert_eq!(note.seq, 2);
    let newest = store
        .records(&LogQuery {
            newest_first: true,
            limit: 1,
            ..LogQuery::default()
        })
        .unwrap();
    assert_eq!((newest.items, newest.next), (vec![note], Some(2)));
}

#[test]
fn sessions_are_listed_by_state_latest_first() {
    let store = MemoryStore::new().unwrap();
    for (at, session) in [(1, "a"), (2, "b"), (3, "c")] {
        store
            .decide(draft(call(at, session, 1), &policy()))
            .unwrap();
    }
    store.decide(draft(kill(4, "a"), &policy())).unwrap();
    let list = |state| {
        let query = SessionQuery {
            state,
            ..SessionQuery::default()
        };
        let page = store.sessions(&query).unwrap();
        page.items
            .iter()
            .map(|s| s.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(list(None), ["a", "c", "b"]);
    assert_eq!(list(Some(SessionState::Killed)), ["a"]);
    store.decide(draft(reset(5, "a"), &policy())).unwrap();
    assert!(list(Some(SessionState::Killed)).is_empty());
    assert_eq!(
        store.session(&id("a")).unwrap().unwrap().summary.generation,
        2
    );
}
