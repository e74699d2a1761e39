//! The store in Redis against the engine: the same verdicts, a log that proves itself.

use std::sync::Arc;

use sprag_core::{Decision, Policy, Timestamp};
use sprag_store::{
    ActivePolicy, LogScope, Note, Noted, Prune, Retention, SessionQuery, SessionState, Store,
    Verification, read_policy, verify,
};

use crate::model::{
    agrees_with_the_engine, all_records, check, replays_a_session, tells_one_story,
};
use crate::observations::{asking_policy, call, draft, id, kill, policy, reset};
use crate::processes::times;
use crate::redis_server::{Server, is_there};

pub(crate) fn verified(store: &dyn Store) -> Verification {
    verify(&*store.view().unwrap(), &read_policy).unwrap()
}

#[test]
fn redis_agrees_with_the_engine_on_random_histories() {
    if !is_there() {
        return;
    }
    let histories = times("SPRAG_REDIS_HISTORIES", 12);
    std::thread::scope(|scope| {
        for first in 0..2 {
            scope.spawn(move || {
                let server = Server::start();
                for seed in (first..histories).step_by(2) {
                    one_history(&server, seed);
                }
            });
        }
    });
}

fn one_history(server: &Server, seed: u64) {
    // Some are long. The many of a long run are short, and the server forgets each before the next.
    let events = if seed < 12 { 300 } else { 30 };
    server.ask("FLUSHALL");
    let mut options = server.options();
    options.namespace = format!("seed{seed}");
    let store = sprag_store::RedisStore::open(options).unwrap();
    agrees_with_the_engine(&store, &policy(), seed, events);
    tells_one_story(&store);
    let found = verified(&store);
    assert!(found.is_sound(), "seed {seed}: {found:?}");
    assert!(found.recomputed > 0);
}

#[test]
fn two_pods_that_take_turns_agree_with_the_engine() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let stores = [server.store(), server.store()];
    let policy = policy();
    let mut stream = crate::stream::Stream::new(7);
    let mut cells = sprag_core::CellMap::default();
    for number in 0..600_usize {
        let observation = stream.observation();
        let decided = stores[number % 2].decide(draft(observation.clone(), &policy));
        let Ok(record) = decided else {
            assert!(check(&mut cells, &policy.policy, observation).is_err());
            continue;
        };
        let resolved = record.observation().unwrap().clone();
        assert_eq!(
            Ok(&record.verdict),
            check(&mut cells, &policy.policy, resolved).as_ref(),
            "{number}"
        );
    }
    assert!(verified(&stores[0]).is_sound());
    assert!(stores[1].counts().conflicts > 0);
}

#[test]
fn a_session_replays_from_what_shares_a_cell_with_it() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    let policy = policy();
    agrees_with_the_engine(&store, &policy, 3, 400);
    for session in ["s0", "s1", "s2"] {
        replays_a_session(&store, &policy, session);
    }
}

#[test]
fn redis_remembers_what_people_said() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    agrees_with_the_engine(&store, &asking_policy(), 5, 400);
    assert!(verified(&store).is_sound());
}

#[test]
fn a_policy_with_overrides_and_agents_is_judged_alike() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let text = "[destructive]\nscope = \"agent\"\n[budget.tokens]\nagent_day = 90000\n\
                [[override]]\nagent = \"agent1\"\ncall.max_identical = 2\n";
    let policy = Arc::new(ActivePolicy::new(Policy::from_toml(text).unwrap()));
    let store = server.store();
    agrees_with_the_engine(&store, &policy, 11, 400);
    assert!(verified(&store).is_sound());
}

#[test]
fn a_changed_record_and_a_changed_cell_are_found() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    let policy = policy();
    for n in 0..5 {
        store.decide(draft(call(n, "s1", n), &policy)).unwrap();
    }
    assert!(verified(&store).is_sound());
    server.ask("HSET {sprag}:head hash 0000000000000000000000000000000000000000");
    store.decide(draft(call(9, "s2", 9), &policy)).unwrap();
    let found = verified(&store).bad.unwrap();
    assert_eq!(
        found.to_string(),
        "record 6: its hash does not fit: it, its number or the record before was changed"
    );
    let server = Server::start();
    let store = server.store();
    store.decide(draft(call(1, "s1", 1), &policy)).unwrap();
    assert!(verified(&store).is_sound());
    store.decide(draft(kill(2, "s1"), &policy)).unwrap();
    server.ask("DEL {sprag}:0:s1");
    let found = verified(&store).bad.unwrap().to_string();
    assert_eq!(
        found,
        "record 2: in the store Session(\"s1\") is not what the log makes of it"
    );
}

#[test]
fn a_kill_on_one_pod_holds_on_the_other_until_a_reset() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let (one, two) = (server.store(), server.store());
    let policy = policy();
    two.decide(draft(call(1, "s1", 1), &policy)).unwrap();
    one.decide(draft(kill(2, "s1"), &policy)).unwrap();
    let refused = two.decide(draft(call(3, "s1", 2), &policy)).unwrap();
    assert_eq!(refused.verdict.decision, Decision::Kill);
    let below = two.decide(draft(call(3, "s1/sub", 2), &policy)).unwrap();
    assert_eq!(below.verdict.decision, Decision::Kill);
    two.decide(draft(reset(4, "s1"), &policy)).unwrap();
    let allowed = one.decide(draft(call(5, "s1", 3), &policy)).unwrap();
    assert_eq!(allowed.verdict.decision, Decision::Allow);
    assert_eq!(one.counts().kills_restored, 0);
}

#[test]
fn sessions_are_listed_page_by_page_and_by_state() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    let policy = policy();
    for n in 0..450 {
        let at = 1_000 + n / 3;
        store
            .decide(draft(call(at, &format!("s{n}"), n), &policy))
            .unwrap();
    }
    store.decide(draft(kill(2_000, "s7"), &policy)).unwrap();
    tells_one_story(&store);
    let killed = SessionQuery {
        state: Some(SessionState::Killed),
        ..SessionQuery::default()
    };
    let page = store.sessions(&killed).unwrap();
    assert_eq!(page.items.len(), 1);
    assert_eq!(page.items[0].id, id("s7"));
}

#[test]
fn notes_reach_the_other_pod_without_asking_each_time() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let (one, two) = (server.store(), server.store());
    let policy = policy();
    let last = |store: &sprag_store::RedisStore| {
        let query = sprag_store::LogQuery {
            scope: LogScope::Notes,
            newest_first: true,
            limit: 16,
            ..sprag_store::LogQuery::default()
        };
        store
            .records(&query)
            .unwrap()
            .items
            .first()
            .map(|record| record.seq)
    };
    assert_eq!(last(&two), None);
    let note = one
        .note(Note {
            at: Timestamp(5),
            policy: Arc::clone(&policy),
            what: Noted::Resumed { by: None },
        })
        .unwrap();
    two.decide(draft(call(6, "s1", 1), &policy)).unwrap();
    assert_eq!(last(&two), Some(note.seq));
}

#[test]
fn a_pruned_log_still_verifies_and_stays_within_bounds() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let mut options = server.options();
    options.max_records = 200;
    let store = sprag_store::RedisStore::open(options).unwrap();
    let policy = policy();
    agrees_with_the_engine(&store, &policy, 5, 500);
    let before = store.status().last_seq;
    let order = Prune {
        retention: Retention::default(),
        at: Timestamp(1_700_000_000_000),
        policy: Arc::clone(&policy),
        policies: &read_policy,
    };
    let pruned = store.prune(&order).unwrap();
    assert_eq!(pruned.through, before - 180);
    assert_eq!(all_records(&store, LogScope::All).len(), 181);
    tells_one_story(&store);
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
    let again = store.prune(&order).unwrap();
    assert_eq!(again.records, 0);
    store.decide(draft(call(1, "s9", 1), &policy)).unwrap();
    assert!(verified(&store).is_sound());
}

#[test]
fn too_many_sessions_are_forgotten_and_the_log_tells_it() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let mut options = server.options();
    options.capacity.sessions = 50;
    let store = sprag_store::RedisStore::open(options).unwrap();
    let policy = policy();
    store.decide(draft(kill(1, "killed"), &policy)).unwrap();
    for n in 0..80 {
        let session = format!("s{n:02}");
        let mut observation = call(1_000 + n, &session, n);
        if let sprag_core::Observed::Call(call) = &mut observation.what {
            call.agent = Some(id("coder"));
        }
        store.decide(draft(observation, &policy)).unwrap();
    }
    crate::redis_server::wait_for("forgetting", || store.status().sessions <= 50);
    assert!(store.session(&id("killed")).unwrap().is_some());
    assert!(store.session(&id("s00")).unwrap().is_none());
    assert!(store.session(&id("s79")).unwrap().is_some());
    let told = all_records(&store, LogScope::Notes);
    assert!(matches!(told[0].note(), Some(Noted::Evicted(_))));
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
}

#[test]
fn the_log_is_archived_into_a_file_that_proves_itself() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    let policy = policy();
    agrees_with_the_engine(&store, &policy, 5, 1_200);
    let place = crate::place::Place::new();
    let archive = crate::sqlite::shared(&place);
    let copy = || archive.archive(&*store.view().unwrap(), &read_policy);
    let copied = copy().unwrap();
    assert_eq!(copied, store.status().last_seq);
    assert_eq!(copy().unwrap(), 0);
    store.decide(draft(call(1, "s9", 1), &policy)).unwrap();
    assert_eq!(copy().unwrap(), 1);
    let found = verified(&archive);
    assert!(found.is_sound(), "{found:?}");
    tells_one_story(&archive);
    replays_a_session(&archive, &policy, "s1");
    server.ask("FLUSHALL");
    let other = server.store();
    for n in 0..2_000 {
        other.decide(draft(call(n, "s1", n), &policy)).unwrap();
    }
    let refused = archive.archive(&*other.view().unwrap(), &read_policy);
    let told = refused.unwrap_err().to_string();
    assert!(told.contains("it is no copy of that log: record"), "{told}");
}
