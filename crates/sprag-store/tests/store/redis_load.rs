//! Faults while pods decide: every decision ends in time, and each is in the log once.

use std::time::Duration;

use sprag_core::Decision;
use sprag_store::{LogScope, Noted, RecordKind, RedisStore, Store};

use crate::model::all_records;
use crate::observations::{call, draft, policy};
use crate::processes::times;
use crate::redis::verified;
use crate::redis_faults::{ask, is_back, options};
use crate::redis_server::{Server, is_there, pause, wait_for};

const START: u64 = 1_700_000_000_000;

#[expect(clippy::disallowed_methods, reason = "tells how long the slowest took")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// Decides until told to stop; how many events, and how long the slowest took.
fn work(store: &RedisStore, worker: u64, stop: &std::sync::atomic::AtomicBool) -> (u64, Duration) {
    let policy = policy();
    let session = format!("worker{worker}");
    let mut slowest = Duration::ZERO;
    let mut count = 0;
    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
        let started = now();
        let event = call(START + count * 4_000, &session, count);
        store.decide(draft(event, &policy)).unwrap();
        slowest = slowest.max(started.elapsed());
        count += 1;
        // Alone a pod is so fast that it would have to give up records, and nothing could be counted.
        pause(Duration::from_millis(2));
    }
    (count, slowest)
}

/// One fault after the other while others decide.
fn break_things(server: &mut Server, store: &RedisStore) {
    let decided_alone = |before: u64| {
        wait_for("decisions alone", || store.counts().offline > before + 20);
    };
    let decided = || {
        let before = store.counts().decisions;
        wait_for("decisions", || store.counts().decisions > before + 20);
    };
    for round in 1..=times("SPRAG_REDIS_FAULTS", 2) {
        let before = store.counts().offline;
        server.signal("-STOP");
        decided_alone(before);
        server.signal("-CONT");
        decided();
        server.ask("CLIENT KILL TYPE normal SKIPME yes");
        decided();
        let before = store.counts().offline;
        server.kill();
        decided_alone(before);
        server.run();
        decided();
        assert!(store.counts().outages >= 2 * round);
    }
}

#[test]
fn under_load_every_fault_is_survived_and_every_decision_accounted_for() {
    if !is_there() {
        return;
    }
    let mut server = Server::start_remembering();
    let store = RedisStore::open(options(&server)).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (store, stop) = (&store, &stop);
    let worked: Vec<(u64, Duration)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| scope.spawn(move || work(store, worker, stop)))
            .collect();
        break_things(&mut server, store);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let worked = workers.into_iter().map(|worker| worker.join().unwrap());
        worked.collect()
    });
    wait_for("the way back", || is_back(store));
    let counts = store.counts();
    let asked: u64 = worked.iter().map(|(count, _)| count).sum();
    let slowest = worked.iter().map(|(_, slowest)| *slowest).max().unwrap();
    println!(
        "{asked} decisions, {} alone, the slowest took {slowest:?}",
        counts.offline
    );
    assert_eq!(counts.decisions + counts.offline, asked);
    let (told, also) = told_alone(store);
    println!("{also} of those alone were written by Redis too");
    assert_eq!(told, counts.offline);
    let found = verified(store);
    assert!(found.is_sound(), "{found:?}");
    // Each is there once; one whose answer came too late is named by the note about it.
    assert_eq!(found.recomputed, counts.decisions + also);
}

/// How many decisions the log says were made alone, and how many of them it also has as events, which
/// must be the same.
fn told_alone(store: &RedisStore) -> (u64, u64) {
    let (mut told, mut also) = (0, 0);
    let records = all_records(store, LogScope::All);
    for record in &records {
        match record.note() {
            Some(Noted::Offline(offline)) => {
                told += 1;
                let Some(seq) = offline.also else {
                    continue;
                };
                also += 1;
                let event = records.iter().find(|record| record.seq == seq).unwrap();
                let RecordKind::Event { observation, .. } = &event.kind else {
                    panic!("record {seq} is no event");
                };
                assert_eq!(observation.at, record.at);
            }
            Some(Noted::OfflineLost { .. }) => panic!("nothing had to be given up"),
            _ => {}
        }
    }
    (told, also)
}

#[test]
fn a_decision_that_redis_made_too_late_is_in_the_log_once() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = RedisStore::open(options(&server)).unwrap();
    let rounds = times("SPRAG_REDIS_FAULTS", 2);
    for round in 0..rounds {
        let at = START + round * 100_000;
        assert_eq!(ask(&store, at, "s1"), Decision::Allow);
        server.signal("-STOP");
        // It lies in Redis' socket while the pod gives it up.
        assert_eq!(ask(&store, at + 1, "s1"), Decision::Allow);
        server.signal("-CONT");
        wait_for("the way back", || is_back(&store));
    }
    let counts = store.counts();
    assert_eq!((counts.decisions, counts.offline), (rounds, rounds));
    let (told, also) = told_alone(&store);
    assert_eq!(told, rounds);
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(found.recomputed, rounds + also);
    println!("Redis wrote {also} of {rounds} after they were given up");
}
