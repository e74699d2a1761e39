//! Waiting: the same look again and again, some time apart, until something moves by itself.

use serde_json::{Value, json};

use crate::session::{Act, Look, Numbers, Report};

/// A way to wait: what is asked, what it answers while nothing changes, while it advances (`{}` is
/// a number that grows), and while it fails.
struct Way {
    tool: String,
    args: Value,
    still: String,
    advancing: String,
    failing: String,
    /// Its words say that it looks at something that moves by itself.
    known: bool,
}

/// Commands and tools that people use to wait.
fn usual() -> impl Iterator<Item = Way> {
    let rows = include_str!("waits.tsv").lines().skip(1);
    rows.map(|row| {
        let [tool, args, still, advancing, failing, known] =
            row.split('\t').collect::<Vec<_>>().try_into().unwrap();
        Way {
            tool: tool.to_owned(),
            args: serde_json::from_str(args).unwrap(),
            still: still.to_owned(),
            advancing: advancing.to_owned(),
            failing: failing.to_owned(),
            known: known == "true",
        }
    })
}

/// A tool with a name that no list has, and answers that no list has.
fn unheard_of(numbers: &mut Numbers) -> Way {
    let (key, value) = (numbers.word(), numbers.word());
    let (state, thing) = (numbers.word(), numbers.word());
    Way {
        tool: numbers.word(),
        args: json!({ key: value }),
        still: format!("{thing} is {state}"),
        advancing: format!("{thing}: {{}} {state}"),
        failing: format!("{thing} failed: {state} unavailable"),
        known: false,
    }
}

fn ways() -> Vec<Way> {
    let mut numbers = Numbers::new(7);
    let unheard_of = std::iter::repeat_with(|| unheard_of(&mut numbers)).take(24);
    usual().chain(unheard_of).collect()
}

/// A little work first, as every session has it: so that it has a pace.
fn work_before(pace_ms: u64) -> Vec<Act> {
    (0..6)
        .map(|n| {
            let file = format!("src/part_{n}.rs");
            let text = format!("fn part_{n}() {{ /* {} */ }}", n * 7919);
            Look::new(pace_ms, "Read", json!({ "file_path": file }), text).into()
        })
        .collect()
}

fn looks(way: &Way, count: u64, gap_ms: u64, result: impl Fn(u64) -> String) -> Vec<Act> {
    (0..count)
        .map(|n| Look::new(gap_ms, &way.tool, way.args.clone(), result(n)).into())
        .collect()
}

const GAPS_MS: [u64; 7] = [
    12_000, 20_000, 35_000, 45_000, 240_000, 1_800_000, 7_200_000,
];

/// Every way at every gap that is patient enough for it, with and without work before.
fn patient(mut each: impl FnMut(&Way, u64, &str, Vec<Act>)) {
    for way in ways() {
        for gap in GAPS_MS {
            if gap < 35_000 && !way.known {
                continue;
            }
            let name = format!("{} {} every {} s", way.tool, way.args, gap / 1000);
            each(&way, gap, &name, Vec::new());
            each(&way, gap, &format!("{name} after work"), work_before(4_000));
        }
    }
}

#[test]
fn looking_again_some_time_later_is_waiting() {
    let mut report = Report::default();
    patient(|way, gap, name, mut acts| {
        acts.extend(looks(way, 45, gap, |_| way.still.clone()));
        report.honest(&format!("unchanged: {name}"), &acts);
    });
    report.check(60 * 5);
}

#[test]
fn an_answer_that_advances_is_progress() {
    let mut report = Report::default();
    patient(|way, gap, name, mut acts| {
        let answer = |n: u64| way.advancing.replace("{}", &(n * 3 + 2).to_string());
        acts.extend(looks(way, 50, gap, answer));
        report.honest(&format!("advancing: {name}"), &acts);
    });
    report.check(60 * 5);
}

#[test]
fn a_dozen_failing_looks_some_time_apart_are_waiting() {
    let mut report = Report::default();
    patient(|way, gap, name, mut acts| {
        for look in looks(way, 12, gap, |_| way.failing.clone()) {
            let Act::Call(look) = look else { continue };
            acts.push(look.failing().into());
        }
        report.honest(&format!("failing: {name}"), &acts);
    });
    report.check(60 * 5);
}

#[test]
fn a_command_that_sleeps_first_is_waiting() {
    let mut report = Report::default();
    for way in ways().into_iter().filter(|way| way.tool == "Bash") {
        let command = format!("sleep 30; {}", way.args["command"].as_str().unwrap());
        let acts: Vec<Act> = (0..40)
            .map(|_| {
                Look::shell(900, &command, way.still.clone())
                    .takes(30_000)
                    .into()
            })
            .collect();
        report.honest(&command, &acts);
    }
    report.check(25);
}

#[test]
fn looking_again_at_once_is_a_loop() {
    let mut report = Report::default();
    for way in ways() {
        for (gap, pace) in [(300, 4_000), (2_000, 4_000), (6_000, 6_000)] {
            let patient_poll = way.known && gap >= 5_000;
            if patient_poll {
                continue;
            }
            let name = format!("{} {} every {gap} ms", way.tool, way.args);
            let mut acts = work_before(pace);
            acts.extend(looks(&way, 45, gap, |_| way.still.clone()));
            report.twin(&format!("frantic: {name}"), &acts);
            let acts = looks(&way, 45, gap, |_| way.failing.clone());
            let acts: Vec<Act> = acts
                .into_iter()
                .map(|act| match act {
                    Act::Call(look) => look.failing().into(),
                    other => other,
                })
                .collect();
            report.twin(&format!("frantic and failing: {name}"), &acts);
        }
    }
    report.check(60 * 2);
}
