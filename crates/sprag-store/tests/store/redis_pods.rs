//! Many processes on one Redis: limits hold over all of them, and a kill reaches them all.
//!
//! The test binary starts itself again as a pod; what the pod does stands in its environment.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use sprag_core::{Decision, Observation, Observed, RuleId, Timestamp};
use sprag_store::{LogScope, RedisOptions, RedisStore, Store};

use crate::observations::{call, draft, id, kill, policy};
use crate::processes::times;
use crate::redis::verified;
use crate::redis_server::{Server, is_there, wait_for};

const ROLE: &str = "SPRAG_TEST_POD";
const START: u64 = 1_700_000_000_000;

#[expect(
    clippy::disallowed_methods,
    reason = "measures how fast a kill travels"
)]
fn now() -> Instant {
    Instant::now()
}

fn start(role: &str, number: u64, server: &Server) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "redis_pods::pod", "--ignored", "--nocapture"])
        .env(ROLE, format!("{role} {number} {}", server.url()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The lines that a pod told, once it is done.
fn answers(mut pod: Child) -> Vec<String> {
    let out = pod.stdout.take().unwrap();
    let lines = BufReader::new(out).lines().map(Result::unwrap);
    let told = lines.filter_map(|line| line.strip_prefix("answer ").map(str::to_owned));
    let told = told.collect();
    assert!(pod.wait().unwrap().success());
    told
}

#[test]
#[ignore = "started by the other tests of this file"]
fn pod() {
    let Some(role) = std::env::var_os(ROLE) else {
        return;
    };
    let role = role.into_string().unwrap();
    let words: Vec<&str> = role.splitn(3, ' ').collect();
    let number: u64 = words[1].parse().unwrap();
    let mut options = RedisOptions::new(words[2]);
    // Other tests share the machine: here nobody may be too late.
    options.deadline = std::time::Duration::from_secs(20);
    let store = RedisStore::open(options).unwrap();
    let mut out = std::io::stdout().lock();
    let events = if words[0] == "dying" { u64::MAX } else { 30 };
    for n in 0..events {
        let observation = match words[0] {
            "identical" => call(START + n, "everyone", 1),
            "flow" => message(START + n, "a", &format!("b{}", n % 4), "f"),
            "inbox" => message(
                START + n,
                &format!("a{number}"),
                "everyone",
                &format!("f{number}{n}"),
            ),
            "destructive" => delete(START + n, "everyone", number * 1_000 + n),
            "guarded" => call(START + n * 100, "s1", number * 1_000 + n),
            "dying" => call(START + n * 4_000, &format!("dying{number}"), n),
            other => panic!("no role {other}"),
        };
        let record = store.decide(draft(observation, &policy())).unwrap();
        let rule = record.verdict.rule.map_or("none", RuleId::as_str);
        writeln!(
            out,
            "answer {} {rule} {}",
            record.verdict.decision, record.seq
        )
        .unwrap();
    }
    assert_eq!(store.counts().offline, 0, "every decision was Redis'");
}

fn message(at: u64, from: &str, to: &str, flow: &str) -> Observation {
    let mut observation = crate::observations::user_message(at, to);
    if let Observed::Message(message) = &mut observation.what {
        message.from = Some(id(from));
        message.flow = Some(id(flow));
    }
    observation
}

fn delete(at: u64, session: &str, what: u64) -> Observation {
    let mut observation = call(at, session, what);
    if let Observed::Call(call) = &mut observation.what {
        call.approach.tool = Some(id("delete_asset"));
    }
    observation
}

/// Four pods at once; how many events were not refused.
fn allowed(role: &str, server: &Server) -> usize {
    server.ask("FLUSHALL");
    let pods: Vec<_> = (0..4).map(|number| start(role, number, server)).collect();
    let told: Vec<String> = pods.into_iter().flat_map(answers).collect();
    assert_eq!(told.len(), 4 * 30);
    let store = server.store();
    let found = verified(&store);
    assert!(found.is_sound(), "{role}: {found:?}");
    told.iter()
        .filter(|line| line.starts_with("allow") || line.starts_with("warn"))
        .count()
}

#[test]
fn four_pods_allow_as_many_as_one_would() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    for _ in 0..times("SPRAG_REDIS_RUNS", 2) {
        assert_eq!(allowed("identical", &server), 20);
        assert_eq!(allowed("inbox", &server), 10);
        assert_eq!(allowed("destructive", &server), 2);
        assert_eq!(allowed("flow", &server), 20);
    }
}

/// Kills a pod process after some answers, wherever it is then, and reads what it had told.
fn kill_after(mut pod: Child, answers: usize) -> Vec<u64> {
    let out = pod.stdout.take().unwrap();
    let mut told = Vec::new();
    for line in BufReader::new(out).lines() {
        // The last line may be cut.
        let Ok(line) = line else {
            break;
        };
        if let Some(answer) = line.strip_prefix("answer ") {
            let words: Vec<&str> = answer.split(' ').collect();
            told.extend(words.get(2).and_then(|seq| seq.parse::<u64>().ok()));
        }
        if told.len() == answers {
            pod.kill().unwrap();
        }
    }
    pod.wait().unwrap();
    told
}

#[test]
fn a_pod_killed_in_mid_decision_leaves_every_answer_in_the_log_and_at_most_one_more() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    let mut more = 0;
    for round in 0..times("SPRAG_REDIS_FAULTS", 2) {
        let pods: Vec<_> = (0..3)
            .map(|pod| start("dying", round * 3 + pod, &server))
            .collect();
        let dead = pods.into_iter().zip(1_usize..).map(|(pod, number)| {
            let answers = 3 + (usize::try_from(round).unwrap() * 7 + number * 11) % 40;
            std::thread::spawn(move || kill_after(pod, answers))
        });
        let dead: Vec<_> = dead.collect();
        for (number, told) in (round * 3..).zip(dead) {
            let told = told.join().unwrap();
            let session = id(&format!("dying{number}"));
            let records = crate::model::all_records(&store, LogScope::Session(session.clone()));
            let written: Vec<u64> = records.iter().map(|record| record.seq).collect();
            // What a pod told is a start of what is written; a cut line leaves out its end.
            assert!(written.starts_with(&told), "{told:?} {written:?}");
            more += usize::from(written.len() > told.len());
            // Another pod goes on where it ended.
            let event = call(START + 4_000_000_000, session.as_str(), 9);
            let record = store.decide(draft(event, &policy())).unwrap();
            assert_eq!(record.verdict.decision, Decision::Allow);
            let session = store.session(&session).unwrap().unwrap();
            let events = u64::try_from(written.len()).unwrap() + 1;
            assert_eq!(session.summary.tally.events, events);
        }
    }
    println!("{more} pods died between Redis' answer and their own");
    let found = verified(&store);
    assert!(found.is_sound(), "{found:?}");
    assert_eq!(store.counts().offline, 0);
}

#[test]
fn after_a_kill_is_answered_no_pod_lets_the_session_go_on() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    let pods: Vec<_> = (0..4)
        .map(|number| start("guarded", number, &server))
        .collect();
    wait_for("the first call", || store.status().last_seq > 20);
    let killed = store.decide(draft(kill(START, "s1"), &policy())).unwrap();
    for line in pods.into_iter().flat_map(answers) {
        let seq: u64 = line.rsplit(' ').next().unwrap().parse().unwrap();
        if seq > killed.seq {
            assert!(line.starts_with("kill session.killed"), "{line}");
        }
    }
}

#[test]
fn a_kill_reaches_another_pod_with_its_next_decision() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let (one, two) = (server.store(), server.store());
    let policy = policy();
    let mut took = Vec::new();
    for n in 0..times("SPRAG_REDIS_KILLS", 50) {
        let session = format!("s{n}");
        two.decide(draft(call(START, &session, 1), &policy))
            .unwrap();
        let started = now();
        one.decide(draft(kill(START, &session), &policy)).unwrap();
        let refused = two
            .decide(draft(call(START + 1, &session, 2), &policy))
            .unwrap();
        took.push(started.elapsed());
        assert_eq!(refused.verdict.decision, Decision::Kill);
    }
    took.sort_unstable();
    let p99 = took[took.len() * 99 / 100];
    println!(
        "from the order to kill to the refusal on another pod: p99 {p99:?} of {}",
        took.len()
    );
}

#[test]
fn a_session_that_sticks_takes_one_round_trip_and_one_behind_a_balancer_two() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let pods = [server.store(), server.store()];
    let policy = policy();
    for n in 0..200 {
        let at = START + n * 4_000;
        pods[0]
            .decide(draft(call(at, "sticky", n), &policy))
            .unwrap();
        pods[1]
            .decide(draft(call(at, "other", n), &policy))
            .unwrap();
    }
    for pod in &pods {
        let counts = pod.counts();
        assert_eq!(
            (counts.decisions, counts.round_trips),
            (200, 200),
            "{counts:?}"
        );
    }
    for n in 0..200_usize {
        let at = START + u64::try_from(n).unwrap() * 4_000;
        let pod = &pods[n % 2];
        pod.decide(draft(call(at, "round robin", at), &policy))
            .unwrap();
    }
    let trips: u64 = pods.iter().map(|pod| pod.counts().round_trips).sum();
    let decisions: u64 = pods.iter().map(|pod| pod.counts().decisions).sum();
    println!(
        "{} round trips for 200 decisions behind round robin",
        trips - 400
    );
    assert_eq!(decisions, 600);
    assert!(trips - 400 <= 400);
}

#[test]
fn callers_at_the_same_time_share_round_trips() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    let policy = policy();
    let before = store.counts();
    std::thread::scope(|scope| {
        for thread in 0..64 {
            let (store, policy) = (&store, &policy);
            scope.spawn(move || {
                for n in 0..50 {
                    let session = format!("s{thread}");
                    let record = store.decide(draft(call(START + n * 4_000, &session, n), policy));
                    record.unwrap();
                }
            });
        }
    });
    let after = store.counts();
    let (decisions, trips) = (
        after.decisions - before.decisions,
        after.round_trips - before.round_trips,
    );
    println!("{trips} round trips for {decisions} decisions");
    assert_eq!((decisions, after.offline), (3_200, 0));
    assert!(trips < decisions, "{trips}");
    let seqs: Vec<u64> = crate::model::all_records(&store, LogScope::All)
        .iter()
        .map(|record| record.seq)
        .collect();
    assert!(seqs.windows(2).all(|pair| pair[0] + 1 == pair[1]));
}

#[test]
fn pods_tell_the_time_of_redis() {
    if !is_there() {
        return;
    }
    let server = Server::start();
    let store = server.store();
    let answer = server.ask("TIME").unwrap();
    let seconds: u64 = answer.lines().nth(2).unwrap().parse().unwrap();
    let told = store.now().unwrap();
    assert!(
        told >= Timestamp(seconds * 1_000 - 1_000) && told <= Timestamp(seconds * 1_000 + 60_000)
    );
}
