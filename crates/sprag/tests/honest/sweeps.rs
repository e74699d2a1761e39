//! Sweeps: different targets, the same healthy answer, one after the other or all at once.

use serde_json::{Value, json};

use crate::session::{Act, Look, Numbers, Report};

/// A sweep: what is swept, with which tool, and what every target answers.
struct Sweep {
    name: &'static str,
    tool: &'static str,
    args: &'static str,
    answer: Value,
}

fn sweeps() -> impl Iterator<Item = Sweep> {
    let rows = include_str!("sweeps.tsv").lines().skip(1);
    rows.map(|row| {
        let [name, tool, args, answer] = row.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let answer = serde_json::from_str(answer).unwrap();
        Sweep {
            name,
            tool,
            args,
            answer,
        }
    })
}

fn looks(sweep: &Sweep, count: usize) -> Vec<Look> {
    (0..count)
        .map(|n| {
            let args = sweep.args.replace("{n}", &n.to_string());
            let args = serde_json::from_str(&args).unwrap();
            Look::new(1_200, sweep.tool, args, sweep.answer.clone())
        })
        .collect()
}

#[test]
fn a_sweep_that_finds_all_well_is_work() {
    let mut report = Report::default();
    for sweep in sweeps() {
        for count in [6, 12, 18] {
            let acts: Vec<Act> = looks(&sweep, count).into_iter().map(Act::from).collect();
            report.honest(&format!("{} of {count}", sweep.name), &acts);
        }
    }
    report.check(60);
}

#[test]
fn a_sweep_in_one_parallel_turn_is_work() {
    let mut report = Report::default();
    for sweep in sweeps() {
        for count in [6, 12, 40] {
            let acts = [Act::Together(looks(&sweep, count))];
            report.honest(&format!("{} of {count} at once", sweep.name), &acts);
        }
    }
    report.check(60);
}

#[test]
fn a_parallel_turn_of_failures_is_one_attempt() {
    let mut report = Report::default();
    for sweep in sweeps() {
        let failing = |look: Look| {
            let mut look = look.failing();
            look.result = json!("error: VPN is down");
            look
        };
        let turn: Vec<Look> = looks(&sweep, 12).into_iter().map(failing).collect();
        let acts = [Act::Together(turn)];
        report.honest(&format!("{}: twelve failures at once", sweep.name), &acts);
    }
    report.check(20);
}

#[test]
fn a_sweep_over_one_target_is_a_loop() {
    let mut report = Report::default();
    for sweep in sweeps() {
        let one: Vec<Look> = looks(&sweep, 1);
        let acts: Vec<Act> = (0..45).map(|_| one[0].clone().into()).collect();
        report.twin(&format!("{}: one target", sweep.name), &acts);
    }
    report.check(20);
}

#[test]
fn rewording_a_question_that_brings_the_same_long_answer_is_a_loop() {
    let mut report = Report::default();
    let mut numbers = Numbers::new(21);
    let page = "Results: the handbook, chapter one, is about the history of the place. ".repeat(5);
    for key in ["query", "q", "pattern", "prompt", "question", "search"] {
        let acts: Vec<Act> = (0..45)
            .map(|_| {
                let words = format!("{} {}", numbers.word(), numbers.word());
                Look::new(
                    1_500,
                    "search_handbook",
                    json!({ key: words }),
                    page.clone(),
                )
                .into()
            })
            .collect();
        report.twin(&format!("reworded {key}"), &acts);
    }
    report.check(6);
}
