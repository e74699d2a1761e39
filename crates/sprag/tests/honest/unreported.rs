//! Callers that ask before each call and never report what came of it: only the calls and their times
//! are known.

use serde_json::{Value, json};
use sprag::{Decision, Event, Judge, Policy, Timestamp};

use crate::session::STOPPED_BY;

/// A call so many milliseconds after the one before.
type Made = (u64, &'static str, Value);

fn shell(after_ms: u64, command: &str) -> Made {
    (after_ms, "Bash", json!({ "command": command }))
}

/// `rounds` times what `acts` makes of each number.
fn rounds(count: u64, acts: impl Fn(u64) -> Vec<Made>) -> Vec<Made> {
    (0..count).flat_map(acts).collect()
}

/// How often it was warned about, and on which call it was first refused.
fn play(calls: &[Made]) -> (usize, Option<usize>) {
    let mut judge = Judge::new(Policy::default());
    let mut at = 1_760_000_000_000;
    let (mut warned, mut stopped) = (0, None);
    for (n, (after_ms, tool, args)) in calls.iter().enumerate() {
        at += after_ms;
        let event = json!({"type": "call", "session": "s", "id": format!("c{n}"), "tool": tool, "args": args});
        let event = Event::parse(event.to_string().as_bytes()).unwrap();
        let verdict = judge.judge(&event, Timestamp(at)).unwrap();
        warned += usize::from(verdict.decision == Decision::Warn);
        if verdict.refuses() {
            stopped.get_or_insert(n + 1);
        }
    }
    (warned, stopped)
}

/// What it is called, the work, and the runaway that looks like it.
type Pair = (&'static str, Vec<Made>, Vec<Made>);

fn read(after_ms: u64, path: &str) -> Made {
    (after_ms, "Read", json!({ "file_path": path }))
}

fn at_work() -> Vec<Pair> {
    let edit = |ms, n: u64| {
        (
            ms,
            "Edit",
            json!({"file_path": "a.rs", "new_string": format!("v{n}")}),
        )
    };
    vec![
        (
            "edit and test",
            rounds(40, |n| vec![edit(6_000, n), shell(1_000, "cargo test")]),
            rounds(25, |_| vec![edit(1_000, 1), shell(500, "cargo test")]),
        ),
        (
            "start and stop a server between looks at its page",
            rounds(12, |n| {
                let page = format!("curl -s localhost:8080/page/{n}");
                vec![
                    shell(4_000, "./server start"),
                    shell(3_000, &page),
                    shell(1_000, "./server stop"),
                ]
            }),
            rounds(25, |_| {
                vec![shell(800, "./server start"), shell(800, "./server stop")]
            }),
        ),
    ]
}

fn at_files() -> Vec<Pair> {
    vec![
        (
            "restart a service a few times",
            rounds(6, |_| {
                vec![shell(5_000, "svc stop api"), shell(4_000, "svc start api")]
            }),
            rounds(25, |_| {
                vec![shell(1_000, "svc stop api"), shell(1_000, "svc start api")]
            }),
        ),
        (
            "two files read in turn while a third grows",
            rounds(40, |_| vec![read(35_000, "a.log"), read(2_000, "b.log")]),
            rounds(25, |_| vec![read(1_000, "a.log"), read(1_000, "b.log")]),
        ),
    ]
}

fn at_watches() -> Vec<Pair> {
    vec![
        (
            "three watchers in turn",
            rounds(40, |_| {
                vec![
                    shell(31_000, "kubectl get pods"),
                    shell(1_000, "gh run list"),
                    shell(1_000, "curl -s shop/health"),
                ]
            }),
            rounds(20, |_| {
                vec![
                    shell(900, "kubectl get pods"),
                    shell(900, "gh run list"),
                    shell(900, "curl -s shop/health"),
                ]
            }),
        ),
        (
            "a debugger that is stepped and printed",
            rounds(18, |n| {
                vec![
                    (3_000, "gdb", json!({"cmd": "next"})),
                    (2_000, "gdb", json!({"cmd": format!("print v{n}")})),
                ]
            }),
            rounds(25, |_| {
                vec![
                    (700, "gdb", json!({"cmd": "run"})),
                    (700, "gdb", json!({"cmd": "bt"})),
                ]
            }),
        ),
    ]
}

fn at_lists() -> Vec<Pair> {
    vec![
        (
            "next and done through a work list, at a person's pace",
            rounds(60, |_| {
                vec![
                    (4_000, "next_task", json!({})),
                    (5_000, "mark_done", json!({})),
                ]
            }),
            rounds(25, |_| {
                vec![(300, "next_task", json!({})), (300, "mark_done", json!({}))]
            }),
        ),
        (
            "four looks in turn, slowly",
            rounds(30, |_| {
                (0..4)
                    .map(|n| read(5_000, ["a", "b", "c", "d"][n]))
                    .collect()
            }),
            rounds(15, |_| {
                (0..4).map(|n| read(600, ["a", "b", "c", "d"][n])).collect()
            }),
        ),
    ]
}

/// Work whose calls alternate, each with the runaway that looks like it.
fn pairs() -> Vec<Pair> {
    [at_work(), at_files(), at_watches(), at_lists()].concat()
}

#[test]
fn work_that_alternates_without_results_goes_on() {
    for (name, honest, _) in pairs() {
        let (warned, stopped) = play(&honest);
        assert_eq!(stopped, None, "{name}");
        assert!(warned <= 1, "{name}: warned {warned} times");
    }
}

#[test]
fn a_runaway_that_alternates_without_results_is_stopped() {
    for (name, _, twin) in pairs() {
        let (_, stopped) = play(&twin);
        let stopped = stopped.unwrap_or_else(|| panic!("{name} goes on"));
        assert!(stopped <= STOPPED_BY, "{name}: stopped on call {stopped}");
    }
}
