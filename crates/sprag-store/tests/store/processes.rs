//! Many processes on one file, and processes that die in the middle.
//!
//! The test binary starts itself again as a worker; what the worker does stands in its environment.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use sprag_core::{Decision, Observed, RuleId};
use sprag_store::{Hash, LogQuery, OwnedSqlite, SharedSqlite, SqliteOptions, Store, StoreError};

use crate::observations::{call, draft, id, policy};
use crate::place::Place;
use crate::sqlite::{shared, verified};
use crate::stream::Stream;

const ROLE: &str = "SPRAG_TEST_WORKER";

/// `role:number:path`
fn start(role: &str, number: u64, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::worker", "--ignored", "--nocapture"])
        .env(ROLE, format!("{role}:{number}:{}", path.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "started by the other tests of this file"]
fn worker() {
    let Some(role) = std::env::var_os(ROLE) else {
        return;
    };
    let role = role.into_string().unwrap();
    let mut parts = role.splitn(3, ':');
    let mut next = || parts.next().unwrap().to_owned();
    let (role, number, path) = (next(), next(), PathBuf::from(next()));
    let number = number.parse().unwrap();
    let options = SqliteOptions::default();
    match role.as_str() {
        "share" => share(&path, number),
        "crash-shared" => crash(&SharedSqlite::open(&path, &options).unwrap(), number),
        "crash-owned" => crash(&OwnedSqlite::open(&path, &options).unwrap(), number),
        "kill-full" => kill_on_a_full_disk(&path, number),
        "guarded" => guarded(&path, number),
        other => panic!("no role {other}"),
    }
}

const EVENTS_EACH: u64 = 10;

/// Like an agent's hooks: open, decide, leave.
fn share(path: &Path, number: u64) {
    let policy = policy();
    for event in 0..EVENTS_EACH {
        let store = SharedSqlite::open(path, &SqliteOptions::default()).unwrap();
        let what = number * 1_000 + event;
        let at = 1_000 + what;
        store
            .decide(draft(call(at, "everyone", what), &policy))
            .unwrap();
        store
            .decide(draft(call(at, &format!("own{number}"), what), &policy))
            .unwrap();
    }
}

#[test]
fn fifty_processes_at_once_lose_nothing() {
    let place = Place::new();
    let workers: Vec<_> = (0..50)
        .map(|number| start("share", number, &place.db()))
        .collect();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let store = shared(&place);
    let session = store.session(&id("everyone")).unwrap().unwrap();
    assert_eq!(session.summary.tally.events, 50 * EVENTS_EACH);
    assert_eq!(store.status().sessions, 51);
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(found.recomputed, 2 * 50 * EVENTS_EACH);
}

#[expect(
    clippy::disallowed_methods,
    reason = "measures how much a crash may cost"
)]
fn now() -> Instant {
    Instant::now()
}

/// Decides for ever and tells each answer once it has it.
fn crash(store: &dyn Store, seed: u64) {
    let policy = policy();
    let mut stream = Stream::new(seed);
    stream.sessions = 40;
    let started = now();
    let mut out = std::io::stdout().lock();
    loop {
        let observation = stream.observation();
        // Every other worker gives orders rarely, so that more waits to be written in between.
        let is_order = matches!(observation.what, Observed::Kill(_) | Observed::Reset(_));
        if is_order && seed.is_multiple_of(2) && stream.below(50) > 0 {
            continue;
        }
        let record = match store.decide(draft(observation, &policy)) {
            Ok(record) => record,
            Err(StoreError::Engine(_)) => continue,
            Err(other) => panic!("{other}"),
        };
        // The gate only repeats a kill that was promised before.
        let is_gate = record.verdict.rule == Some(RuleId::SessionKilled);
        let promised = is_order || (record.verdict.decision >= Decision::Block && !is_gate);
        let kind = if promised { "promised" } else { "plain" };
        let elapsed = started.elapsed().as_millis();
        writeln!(
            out,
            "answer {kind} {} {} {elapsed}",
            record.seq, record.hash
        )
        .unwrap();
        out.flush().unwrap();
    }
}

struct WorkerAnswer {
    promised: bool,
    seq: u64,
    hash: Hash,
    ms: u64,
}

/// Reads what the worker tells until `enough`, kills it, and reads the rest.
fn answers_until_killed(mut worker: Child, enough: u64) -> Vec<WorkerAnswer> {
    let out: ChildStdout = worker.stdout.take().unwrap();
    let mut answers = Vec::new();
    for line in BufReader::new(out).lines() {
        let line = line.unwrap();
        let mut words = line.split(' ');
        if words.next() != Some("answer") {
            continue;
        }
        let mut next = || words.next();
        let (Some(kind), Some(seq), Some(hash), Some(ms)) = (next(), next(), next(), next()) else {
            break;
        };
        answers.push(WorkerAnswer {
            promised: kind == "promised",
            seq: seq.parse().unwrap(),
            hash: Hash::from_hex(hash).unwrap(),
            ms: ms.parse().unwrap_or(0),
        });
        if u64::try_from(answers.len()).unwrap() == enough {
            worker.kill().unwrap();
        }
    }
    worker.wait().unwrap();
    answers
}

fn hash_of(store: &dyn Store, seq: u64) -> Option<Hash> {
    let query = LogQuery {
        after: Some(seq - 1),
        limit: 1,
        ..LogQuery::default()
    };
    let page = store.records(&query).unwrap();
    page.items
        .first()
        .filter(|record| record.seq == seq)
        .map(|record| record.hash)
}

pub(crate) fn times(name: &str, default: u64) -> u64 {
    std::env::var_os(name).map_or(default, |text| text.into_string().unwrap().parse().unwrap())
}

/// What a crash may cost at most, in milliseconds, with room for a slow disk under load.
const AT_MOST_MS: u64 = 250;

fn survives_kills(role: &str) {
    let mut chance = Stream::new(times("SPRAG_SEED", 4));
    let place = Place::new();
    let mut most = 0;
    for round in 0..times("SPRAG_KILLS", 5) {
        let enough = 1 + chance.below(800);
        let answers = answers_until_killed(start(role, round + 1, &place.db()), enough);
        let store = shared(&place);
        let last = store.status().last_seq;
        let died = answers.last().map_or(0, |answer| answer.ms);
        for answer in &answers {
            if answer.seq <= last {
                assert_eq!(hash_of(&store, answer.seq), Some(answer.hash));
            } else {
                assert!(!answer.promised, "record {} was promised", answer.seq);
                most = most.max(died - answer.ms);
            }
        }
        let found = verified(&store);
        assert!(found.is_sound(), "round {round}: {found:?}");
    }
    println!("{role}: at most the last {most} ms of plain events were lost");
    assert!(most <= AT_MOST_MS, "{most} ms of plain events were lost");
}

#[test]
fn an_owner_killed_at_any_moment_keeps_its_promises() {
    survives_kills("crash-owned");
}

#[test]
fn a_sharer_killed_at_any_moment_loses_nothing_it_answered() {
    survives_kills("crash-shared");
}

/// Calls in one session until it is killed; from then on nothing may be allowed.
fn guarded(path: &Path, number: u64) {
    let policy = policy();
    let store = SharedSqlite::open(path, &SqliteOptions::default()).unwrap();
    let mut out = std::io::stdout().lock();
    for event in 0..400 {
        let what = number * 1_000 + event;
        let record = store
            .decide(draft(call(event, "s1", what), &policy))
            .unwrap();
        writeln!(out, "answer {} {}", record.verdict.decision, record.seq).unwrap();
        if record.verdict.decision == Decision::Kill {
            return;
        }
    }
}

#[test]
fn after_a_kill_is_acknowledged_no_process_lets_the_session_go_on() {
    let place = Place::new();
    let store = shared(&place);
    let mut workers: Vec<_> = (0..8)
        .map(|number| start("guarded", number, &place.db()))
        .collect();
    let mut first = String::new();
    let mut reader = BufReader::new(workers[0].stdout.take().unwrap());
    while !first.starts_with("answer") {
        first.clear();
        assert!(reader.read_line(&mut first).unwrap() > 0);
    }
    let killed = store
        .decide(draft(crate::observations::kill(0, "s1"), &policy()))
        .unwrap();
    let mut seen = 0;
    for mut worker in workers.drain(..) {
        let lines: Vec<String> = match worker.stdout.take() {
            Some(out) => BufReader::new(out).lines().map(Result::unwrap).collect(),
            None => reader.by_ref().lines().map(Result::unwrap).collect(),
        };
        assert!(worker.wait().unwrap().success());
        for line in lines.iter().filter_map(|line| line.strip_prefix("answer ")) {
            let (verdict, seq) = line.split_once(' ').unwrap();
            if seq.parse::<u64>().unwrap() > killed.seq {
                assert_eq!(verdict, "kill");
                seen += 1;
            }
        }
    }
    assert!(seen > 0);
}

/// Kills session after session on a disk that is full, and tells each kill that was answered as durable.
fn kill_on_a_full_disk(path: &Path, number: u64) {
    let options = SqliteOptions {
        max_bytes: Some(400_000),
        ..SqliteOptions::default()
    };
    let Ok(store) = OwnedSqlite::open(path, &options) else {
        return;
    };
    let policy = policy();
    let mut out = std::io::stdout().lock();
    for event in 0.. {
        for filler in 0..20 {
            let what = number * 1_000_000 + event * 100 + filler;
            let session = format!("s{}", what % 50);
            store
                .decide(draft(call(what, &session, what), &policy))
                .unwrap();
        }
        let session = format!("k{number}-{event}");
        let killed = store
            .decide(draft(crate::observations::kill(event, &session), &policy))
            .unwrap();
        if killed.verdict.durable.is_none() {
            writeln!(out, "answer {session}").unwrap();
            out.flush().unwrap();
        }
    }
}

#[test]
fn no_kill_that_was_answered_as_durable_is_lost_by_a_crash_on_a_full_disk() {
    let mut chance = Stream::new(times("SPRAG_SEED", 9));
    let mut promised = 0;
    for round in 0..times("SPRAG_KILLS", 4) {
        let place = Place::new();
        let enough = 1 + usize::try_from(chance.below(12)).unwrap();
        let mut worker = start("kill-full", round, &place.db());
        let mut killed = Vec::new();
        let out = BufReader::new(worker.stdout.take().unwrap());
        for line in out.lines().map(Result::unwrap) {
            if let Some(session) = line.strip_prefix("answer ") {
                killed.push(session.to_owned());
            }
            if killed.len() == enough {
                worker.kill().unwrap();
                break;
            }
        }
        worker.wait().unwrap();
        promised += killed.len();
        for session in &killed {
            let marks = sprag_store::Marks::read(&place.db(), &id(session)).unwrap();
            assert!(marks.killed.is_some(), "round {round}: {session} before");
        }
        let store = shared(&place);
        for session in &killed {
            let record = store.decide(draft(call(1, session, 1), &policy())).unwrap();
            assert_eq!(record.verdict.decision, Decision::Kill, "{session}");
        }
        assert!(verified(&store).is_sound(), "round {round}");
    }
    assert!(promised > 0);
}
