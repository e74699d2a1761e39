//! Redis slow, gone, restarted, forgetful: what a pod does then.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sprag_core::{Decision, Observed, RuleId};
use sprag_store::{
    LogScope, Noted, OfflineDecision, RedisOptions, RedisStore, RuleFailMode, RuleFailModes, Store,
    StoreError,
};

use crate::model::all_records;
use crate::observations::{call, draft, kill, policy, reset};
use crate::processes::times;
use crate::redis::verified;
use crate::redis_server::{Server, is_there, wait_for};

const START: u64 = 1_700_000_000_000;

/// Long enough for a busy machine: what matters is that a pod does not wait for ever.
pub(crate) fn options(server: &Server) -> RedisOptions {
    let mut options = server.options();
    options.deadline = Duration::from_millis(400);
    options.connections = 2;
    options
}

pub(crate) fn is_back(store: &RedisStore) -> bool {
    let status = store.status();
    status.degraded.is_none() && status.pending == 0
}

fn delete(at: u64, session: &str, what: u64) -> sprag_core::Observation {
    let mut observation = call(at, session, what);
    if let Observed::Call(call) = &mut observation.what {
        call.approach.tool = Some(crate::observations::id("delete_asset"));
    }
    observation
}

/// Decides one call and tells what came.
pub(crate) fn ask(store: &RedisStore, at: u64, session: &str) -> Decision {
    let record = store
        .decide(draft(call(at, session, at), &policy()))
        .unwrap();
    record.verdict.decision
}

#[test]
fn while_redis_stands_still_a_pod_goes_on_and_says_so() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let heard: Arc<Mutex<Vec<OfflineDecision>>> = Arc::default();
    let listener = Arc::clone(&heard);
    let mut options = options(&server);
    options.on_offline = Some(Arc::new(move |decision: &OfflineDecision| {
        listener.lock().unwrap().push(decision.clone());
    }));
    let store = RedisStore::open(options).unwrap();
    let policy = policy();
    for round in 0..times("SPRAG_REDIS_FAULTS", 2) {
        let at = START + round * 1_000_000;
        assert_eq!(ask(&store, at, "s1"), Decision::Allow);
        let killed = format!("killed{round}");
        store.decide(draft(kill(at, &killed), &policy)).unwrap();
        let before = store.counts().offline;
        server.signal("-STOP");
        assert_eq!(ask(&store, at + 1, "s1"), Decision::Allow);
        // A kill that is known stays one, and what is judged here still counts here.
        assert_eq!(ask(&store, at + 2, &killed), Decision::Kill);
        let deleting = format!("deleting{round}");
        let expected = [Decision::Allow, Decision::Warn, Decision::Kill];
        for (n, expected) in (0..).zip(expected) {
            let record = store
                .decide(draft(delete(at + n, &deleting, n), &policy))
                .unwrap();
            assert_eq!(record.verdict.decision, expected);
        }
        assert_eq!(store.counts().offline - before, 5);
        assert!(store.status().degraded.is_some());
        server.signal("-CONT");
        wait_for("the way back", || is_back(&store));
        // The kill that was made alone holds for everyone now.
        let other = server.store();
        assert_eq!(ask(&other, at + 9, &deleting), Decision::Kill);
    }
    let heard = heard.lock().unwrap();
    assert_eq!(u64::try_from(heard.len()).unwrap(), store.counts().offline);
    let first = &heard.first().unwrap().why;
    assert_eq!(first, "no answer within 400 ms");
    // Two pods share the log; this one alone was cut off.
    let offline: Vec<_> = all_records(&store, LogScope::Notes)
        .into_iter()
        .filter(|record| matches!(record.note(), Some(Noted::Offline(_))))
        .collect();
    assert_eq!(offline.len(), heard.len());
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
}

#[test]
fn a_redis_that_forgets_everything_is_given_the_kills_back() {
    if !is_there() {
        return;
    }
    let mut server = Server::start();
    let store = RedisStore::open(options(&server)).unwrap();
    let policy = policy();
    for round in 0..times("SPRAG_REDIS_FAULTS", 2) {
        let session = format!("s{round}");
        store.decide(draft(kill(START, &session), &policy)).unwrap();
        server.kill();
        assert_eq!(ask(&store, START + 1, &session), Decision::Kill);
        server.run();
        wait_for("the way back", || is_back(&store));
        let other = server.store();
        for known in 0..=round {
            let known = format!("s{known}");
            assert_eq!(ask(&other, START + 2, &known), Decision::Kill, "{known}");
        }
        let found = verified(&other);
        assert!(found.is_sound(), "{found:?}");
    }
    assert!(store.counts().kills_restored > 0);
}

/// A server that remembers, and a pod that asked it ten times.
fn ten_remembered() -> (Server, RedisStore) {
    let server = Server::start_remembering();
    let store = RedisStore::open(options(&server)).unwrap();
    for n in 0..10 {
        assert_eq!(ask(&store, START + n, "s1"), Decision::Allow);
    }
    (server, store)
}

#[test]
fn a_redis_that_remembers_comes_back_with_all_it_had() {
    if !is_there() {
        return;
    }
    let (mut server, store) = ten_remembered();
    server.kill();
    assert_eq!(ask(&store, START + 20, "s1"), Decision::Allow);
    server.run();
    wait_for("the way back", || is_back(&store));
    assert_eq!(ask(&store, START + 30, "s1"), Decision::Allow);
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
    // Ten before, one after; the one in between is a note.
    assert_eq!((found.recomputed, found.notes), (11, 1));
}

#[test]
fn half_a_transaction_in_the_file_of_redis_is_cut_by_its_own_tool() {
    if !is_there() {
        return;
    }
    let (mut server, store) = ten_remembered();
    drop(store);
    server.kill();
    server.cut_last_transaction();
    server.run();
    let store = RedisStore::open(options(&server)).unwrap();
    assert_eq!(ask(&store, START + 20, "s1"), Decision::Allow);
    server.kill();
    server.run();
    wait_for("the way back", || is_back(&store));
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
    // The tenth was not written whole.
    assert_eq!(found.recomputed, 10);
}

#[test]
fn a_connection_that_is_cut_costs_no_decision() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let mut options = options(&server);
    options.connections = 4;
    let store = RedisStore::open(options).unwrap();
    for n in 0..20 {
        if n % 5 == 4 {
            server.ask("CLIENT KILL TYPE normal SKIPME yes");
        }
        ask(&store, START + n, "s1");
        wait_for("the way back", || is_back(&store));
    }
    let session = store
        .session(&crate::observations::id("s1"))
        .unwrap()
        .unwrap();
    let counts = store.counts();
    assert_eq!(
        session.summary.tally.events + counts.offline,
        20,
        "{counts:?}"
    );
    assert!(verified(&store).is_sound());
}

#[test]
fn each_rule_fails_as_it_is_told() {
    if !is_there() {
        return;
    }
    let mut server = Server::start();
    let mut options = options(&server);
    options.fail =
        RuleFailModes::all(RuleFailMode::Open).with("destructive.*", RuleFailMode::Closed);
    let store = RedisStore::open(options).unwrap();
    let policy = policy();
    server.kill();
    let closed = store
        .decide(draft(delete(START, "s1", 1), &policy))
        .unwrap();
    assert_eq!(closed.verdict.decision, Decision::Deny);
    assert_eq!(closed.verdict.rule, Some(RuleId::DestructiveSweeping));
    let message = closed.verdict.message.unwrap();
    assert!(
        message.starts_with("Sprag can't reach its shared memory ("),
        "{message}"
    );
    assert!(
        message.ends_with("), and destructive.sweeping is set to refuse until it can."),
        "{message}"
    );

    let mut server = Server::start();
    let mut options = self::options(&server);
    options.fail = RuleFailModes::all(RuleFailMode::Open);
    let store = RedisStore::open(options).unwrap();
    server.kill();
    for n in 0..30 {
        let record = store
            .decide(draft(call(START + n, "s1", 1), &policy))
            .unwrap();
        assert_eq!(
            record.verdict.decision,
            Decision::Allow,
            "identical call {n}"
        );
    }
}

#[test]
fn without_redis_nobody_is_reset_and_no_pod_starts() {
    if !is_there() {
        return;
    }
    let mut server = Server::start();
    let store = RedisStore::open(options(&server)).unwrap();
    let port = server.port;
    server.kill();
    ask(&store, START, "s1");
    let refused = store
        .decide(draft(reset(START, "s1"), &policy()))
        .unwrap_err();
    let told = refused.to_string();
    assert!(
        told.starts_with(&format!("Redis at 127.0.0.1:{port} can't be used: ")),
        "{told}"
    );
    assert!(told.ends_with("; nothing was reset"), "{told}");
    let started = RedisStore::open(server.options());
    assert!(matches!(started, Err(StoreError::Redis { .. })));
}

#[test]
fn a_pod_that_dies_in_the_middle_leaves_a_sound_log() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    let policy = policy();
    // A pod that judged and never got its answer out has written all of it or nothing: a script is one
    // step. So a connection that ends at any byte leaves no half of a decision.
    for cut in 0..times("SPRAG_REDIS_FAULTS", 2) * 10 {
        let sent = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let command = b"*3\r\n$7\r\nEVALSHA\r\n$40\r\n0123456789012345678901234567890123456789\r\n$1\r\n0\r\n";
        let bytes = &command[..usize::try_from(cut).unwrap() % command.len()];
        std::io::Write::write_all(&mut &sent, bytes).unwrap();
        drop(sent);
        store
            .decide(draft(call(START + cut, "s1", cut), &policy))
            .unwrap();
    }
    assert!(verified(&store).is_sound());
}

#[test]
fn a_namespace_that_was_emptied_under_a_pod_is_made_anew() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = RedisStore::open(options(&server)).unwrap();
    assert_eq!(ask(&store, START, "s1"), Decision::Allow);
    store
        .decide(draft(kill(START, "killed"), &policy()))
        .unwrap();
    server.ask("FLUSHALL");
    ask(&store, START + 1, "s1");
    wait_for("the way back", || is_back(&store));
    let other = server.store();
    assert_eq!(ask(&other, START + 2, "killed"), Decision::Kill);
    assert!(verified(&other).is_sound());
}
