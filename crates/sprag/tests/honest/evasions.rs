//! How far an agent gets that does not want to be stopped: the tables of docs/detection.md.
//!
//! The guard is against errors, not enemies, so these are figures to know, not promises. The test
//! measures them and compares them with what the page says.

use std::fmt::Write as _;

use serde_json::json;

use crate::session::{Act, Look, Numbers, play};

const CALLS: u64 = 300;
const PAGE: &str = include_str!("../../../../docs/detection.md");

/// What an agent does, and its nth call, made `gap` milliseconds after the last result.
type Evasion = (&'static str, fn(n: u64, gap: u64) -> Look);

fn read(gap: u64, args: serde_json::Value, result: impl Into<serde_json::Value>) -> Look {
    Look::new(gap, "read_report", args, result)
}

fn word(n: u64) -> String {
    Numbers::new(n * 2 + 1).word()
}

const EVASIONS: &[Evasion] = &[
    ("makes the identical call", |_, gap| {
        read(gap, json!({"id": 1}), "nothing changed")
    }),
    ("shuffles the keys of its arguments", |n, gap| {
        let args = if n % 2 == 0 {
            r#"{"a":1,"b":2}"#
        } else {
            r#"{"b":2,"a":1}"#
        };
        read(gap, serde_json::from_str(args).unwrap(), "nothing changed")
    }),
    ("adds a nonce under a nonce's name", |n, gap| {
        read(gap, json!({"id": 1, "request_id": n}), "nothing changed")
    }),
    (
        "adds a nonce elsewhere, and gets a short answer",
        |n, gap| read(gap, json!({"id": 1, "pad": word(n)}), "nothing changed"),
    ),
    (
        "rewords a question, and gets the same long answer",
        |n, gap| {
            let page = "chapter one is about the history of the place ".repeat(6);
            Look::new(gap, "ask", json!({"query": word(n)}), page)
        },
    ),
    ("rewords a search that finds nothing", |n, gap| {
        Look::new(
            gap,
            "search",
            json!({"query": word(n)}),
            "No results found.",
        )
    }),
    ("rewords, and gets the same failure", |n, gap| {
        Look::shell(gap, &format!("tool --try {}", word(n)), "error: no licence").failing()
    }),
    (
        "rewords, and gets a failure that repeats its words",
        |n, gap| {
            let word = word(n);
            let failure = format!("error: unknown option {word}");
            Look::shell(gap, &format!("tool --{word}"), failure).failing()
        },
    ),
    ("alternates two calls", |n, gap| {
        read(gap, json!({"id": n % 2}), format!("state {}", n % 2))
    }),
    ("goes round seven calls", |n, gap| {
        read(gap, json!({"id": n % 7}), format!("state {}", n % 7))
    }),
    ("does a new thing between its attempts", |n, gap| {
        if n % 2 == 0 {
            Look::shell(gap, "make", "error: no rule").failing()
        } else {
            read(
                gap,
                json!({"id": n}),
                format!("page {n} {}", word(n).repeat(30)),
            )
        }
    }),
    ("gets a time stamp in each answer", |n, gap| {
        read(
            gap,
            json!({"id": 1}),
            format!("2026-03-01T10:00:{:02}Z idle", n % 60),
        )
    }),
    ("gets a random number in each answer of a run", |n, gap| {
        let number = Numbers::new(n + 5).below(10_000);
        Look::shell(gap, "./try", format!("result {number}"))
    }),
    ("gets random words in each answer", |n, gap| {
        Look::shell(gap, "./try", format!("{} {}", word(n), word(n + 900)))
    }),
    (
        "runs a program that prints random words and fails",
        |n, gap| Look::shell(gap, "./fuzz", format!("{}\nerror: crashed", word(n))).failing(),
    ),
    ("makes the same edit while the file grows", |n, gap| {
        let args = json!({"path": "a", "text": "x"});
        Look::new(gap, "edit_file", args, format!("{n} lines now"))
    }),
    ("edits each time, and the test fails the same", |n, gap| {
        if n % 2 == 0 {
            Look::new(
                gap,
                "edit_file",
                json!({"path": "a", "text": word(n)}),
                "ok",
            )
        } else {
            Look::shell(gap, "make test", "FAILED: expected 3, got 4").failing()
        }
    }),
];

fn run(gap: u64, act: impl Fn(u64, u64) -> Look) -> (String, String, String) {
    let acts: Vec<Act> = (0..CALLS).map(|n| act(n, gap).into()).collect();
    let outcome = play(&acts);
    let number = |call: Option<usize>| call.map_or("–".to_owned(), |call| call.to_string());
    let warned = number(outcome.warned.first().map(|(call, _)| *call));
    let by = outcome.stopped.as_ref().map_or("–", |(_, text)| {
        let rule = text.split_whitespace().nth(1).unwrap_or_default();
        rule.trim_end_matches(':')
    });
    let by = by.to_owned();
    (warned, number(outcome.stopped.map(|(call, _)| call)), by)
}

#[test]
fn the_table_of_evasions_is_what_is_measured() {
    let mut table =
        String::from("| the agent… | warned on call | stopped on call | by |\n|---|---|---|---|\n");
    for (name, act) in EVASIONS {
        let (warned, stopped, by) = run(8_000, act);
        let by = by.trim_start_matches("progress.");
        writeln!(table, "| {name} | {warned} | {stopped} | {by} |").unwrap();
    }
    assert!(
        PAGE.contains(&table),
        "docs/detection.md should have:\n{table}"
    );
}

#[test]
fn what_waiting_costs_is_what_is_measured() {
    let mut table = String::from(
        "| the same look every… | 1 s | 5 s | 12 s | 29 s | 30 s | 60 s |\n|---|---|---|---|---|---|---|\n",
    );
    type Way = (&'static str, fn(u64) -> Look);
    let ways: [Way; 3] = [
        ("at something unheard of, unchanged", |gap| {
            Look::new(gap, "zwobulate", json!({"k": "v"}), "the frob is blue")
        }),
        ("at a build, unchanged", |gap| {
            Look::shell(gap, "gh run view 7", "in progress")
        }),
        ("at something unheard of, failing", |gap| {
            Look::new(gap, "zwobulate", json!({"k": "v"}), "frob unavailable").failing()
        }),
    ];
    for (name, look) in ways {
        write!(table, "| {name} |").unwrap();
        for gap in [1_000, 5_000, 12_000, 29_000, 30_000, 60_000] {
            let (_, stopped, _) = run(gap, |_, gap| look(gap));
            write!(table, " {stopped} |").unwrap();
        }
        table.push('\n');
    }
    assert!(
        PAGE.contains(&table),
        "docs/detection.md should have:\n{table}"
    );
}
