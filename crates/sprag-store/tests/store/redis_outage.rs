//! What went wrong in outages: kills that were read but not kept, and errors under a wrong name.

use std::sync::{Arc, Mutex};

use sprag_core::Decision;
use sprag_store::{LogQuery, OfflineDecision, RedisStore, Store};

use crate::observations::{draft, kill, policy, reset};
use crate::redis_faults::{ask, is_back, options};
use crate::redis_server::{Server, is_there, wait_for};

const START: u64 = 1_700_000_000_000;

/// Opens a pod that keeps its offline decisions for the test to see.
fn pod(server: &Server) -> (RedisStore, Arc<Mutex<Vec<OfflineDecision>>>) {
    let decisions: Arc<Mutex<Vec<OfflineDecision>>> = Arc::default();
    let kept = Arc::clone(&decisions);
    let mut options = options(server);
    options.on_offline = Some(Arc::new(move |decision: &OfflineDecision| {
        kept.lock().unwrap().push(decision.clone());
    }));
    (RedisStore::open(options).unwrap(), decisions)
}

#[test]
fn a_kill_that_a_pod_only_read_from_the_log_holds_without_redis() {
    if !is_there() {
        return;
    }
    let mut server = Server::start();
    let (one, two) = (server.store(), pod(&server).0);
    let policy = policy();
    for session in ["killed", "forgiven"] {
        one.decide(draft(kill(START, session), &policy)).unwrap();
    }
    one.decide(draft(reset(START, "forgiven"), &policy))
        .unwrap();
    // The second pod never judged an event of these sessions; it follows the log, as a server does.
    two.records(&LogQuery::default()).unwrap();
    server.kill();
    assert_eq!(ask(&two, START + 1, "killed"), Decision::Kill);
    assert_eq!(ask(&two, START + 1, "killed/sub"), Decision::Kill);
    assert_eq!(ask(&two, START + 1, "forgiven"), Decision::Allow);
}

#[test]
fn a_redis_without_memory_is_reported_as_out_of_memory() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let (store, decisions) = pod(&server);
    assert_eq!(ask(&store, START, "s1"), Decision::Allow);
    server.ask("CONFIG SET maxmemory 1").unwrap();
    assert_eq!(ask(&store, START + 1, "s1"), Decision::Allow);
    let why =
        "it is out of memory and refuses to write; raise its `maxmemory`, or free some memory";
    assert_eq!(decisions.lock().unwrap()[0].why, why);
    let degraded = store.status().degraded.unwrap();
    assert!(degraded.contains(why), "{degraded}");
    let started = RedisStore::open(options(&server)).unwrap_err().to_string();
    assert!(started.ends_with(why), "{started}");
    server.ask("CONFIG SET maxmemory 0").unwrap();
    wait_for("the way back", || is_back(&store));
    assert_eq!(ask(&store, START + 2, "s1"), Decision::Allow);
}

#[test]
fn a_namespace_of_another_format_is_refused_and_left_as_it_is() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = RedisStore::open(options(&server)).unwrap();
    assert_eq!(ask(&store, START, "s1"), Decision::Allow);
    drop(store);
    let namespace = options(&server).namespace;
    // From before formats were numbered: the first one.
    server
        .ask(&format!("HDEL {{{namespace}}}:head format"))
        .unwrap();
    let store = RedisStore::open(options(&server)).unwrap();
    assert_eq!(ask(&store, START + 1, "s1"), Decision::Allow);
    drop(store);
    server
        .ask(&format!("HSET {{{namespace}}}:head format 2"))
        .unwrap();
    let before = server.ask(&format!("HGETALL {{{namespace}}}:head"));
    let refused = RedisStore::open(options(&server)).unwrap_err().to_string();
    let why = "its namespace was written in another format; use the `sprag` that wrote it, or another \
               namespace (--namespace)";
    assert!(refused.ends_with(why), "{refused}");
    assert_eq!(server.ask(&format!("HGETALL {{{namespace}}}:head")), before);
}

#[test]
fn a_key_of_another_program_is_reported_as_such() {
    if !is_there() {
        return;
    }
    let why = "a key of this namespace holds a value that Sprag did not write; give Sprag a \
               namespace of its own (--namespace)";
    let server = Server::start();
    let (store, decisions) = pod(&server);
    server.ask("LPUSH {sprag}:0:s1 theirs").unwrap();
    assert_eq!(ask(&store, START, "s1"), Decision::Allow);
    assert_eq!(decisions.lock().unwrap()[0].why, why);
    drop(store);
    server.ask("FLUSHALL").unwrap();
    server.ask("SET {sprag}:log theirs").unwrap();
    let started = RedisStore::open(options(&server)).unwrap_err().to_string();
    assert!(started.ends_with(why), "{started}");
}

#[test]
fn the_first_decision_of_a_pod_in_an_outage_was_once_an_error_after_five_seconds() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let decisions: Arc<Mutex<Vec<OfflineDecision>>> = Arc::default();
    let kept = Arc::clone(&decisions);
    // The deadline that a server has if nobody sets another.
    let mut options = sprag_store::RedisOptions::new(server.url());
    options.on_offline = Some(Arc::new(move |decision: &OfflineDecision| {
        kept.lock().unwrap().push(decision.clone());
    }));
    let store = RedisStore::open(options).unwrap();
    server.signal("-STOP");
    assert_eq!(ask(&store, START, "s1"), Decision::Allow);
    server.signal("-CONT");
    assert_eq!(decisions.lock().unwrap()[0].why, "no answer within 250 ms");
}

#[test]
fn a_kill_in_an_outage_says_that_it_holds_here_and_is_told_later() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let (store, _) = pod(&server);
    let policy = policy();
    assert_eq!(ask(&store, START, "s1"), Decision::Allow);
    server.signal("-STOP");
    let killed = store.decide(draft(kill(START, "s1"), &policy)).unwrap();
    assert_eq!(killed.verdict.durable, Some(false));
    let message = killed.verdict.message.unwrap();
    assert!(message.contains("holds on this server"), "{message}");
    assert_eq!(ask(&store, START + 1, "s1"), Decision::Kill);
    server.signal("-CONT");
    wait_for("the way back", || is_back(&store));
    assert_eq!(ask(&server.store(), START + 2, "s1"), Decision::Kill);
}

#[test]
fn past_the_capacity_of_killed_sessions_a_pod_still_guards_the_others() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let mut options = server.options();
    options.capacity.sessions = 20;
    let store = RedisStore::open(options).unwrap();
    let policy = policy();
    for number in 0..60 {
        let what = kill(START, &format!("k{number}"));
        store.decide(draft(what, &policy)).unwrap();
    }
    let loops = |at: u64| {
        let what = crate::observations::call(at, "loops", 1);
        store.decide(draft(what, &policy)).unwrap().verdict.decision
    };
    let verdicts: Vec<_> = (0..25).map(|number| loops(START + 100 + number)).collect();
    assert!(
        verdicts.iter().any(|verdict| *verdict >= Decision::Deny),
        "{verdicts:?}"
    );
    for number in 0..60 {
        assert_eq!(
            ask(&store, START + 200, &format!("k{number}")),
            Decision::Kill
        );
    }
}
