//! `progress.probe` against a naive count, on random histories.

use serde_json::json;

use crate::session::{Act, Look, Numbers, Outcome, play};

/// One step of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A command that prints what it was given.
    Probe,
    /// A tool that answers its own argument.
    Parrot,
    /// Something is read.
    Work,
}

/// What happens: steps at once, or a word of the user.
#[derive(Debug, Clone)]
enum Turn {
    Steps(Vec<Kind>),
    User,
}

fn history(seed: u64) -> Vec<Turn> {
    let mut numbers = Numbers::new(seed);
    // Some are nearly all talk, others are mostly work.
    let talk = [400, 60, 25, 3][usize::try_from(seed % 4).unwrap()];
    let kind = |numbers: &mut Numbers| match numbers.below(talk) {
        0 => Kind::Work,
        _ if numbers.below(4) == 0 => Kind::Parrot,
        _ => Kind::Probe,
    };
    let turns = (0..90).map(|_| match numbers.below(60) {
        0 => Turn::User,
        1..=4 => {
            let steps = 2 + numbers.below(3);
            Turn::Steps((0..steps).map(|_| kind(&mut numbers)).collect())
        }
        _ => Turn::Steps(vec![kind(&mut numbers)]),
    });
    turns.collect()
}

fn act(turn: &Turn, place: usize, seed: u64) -> Act {
    let Turn::Steps(steps) = turn else {
        return Act::Opens("user", 2_000);
    };
    let look = |(at, kind): (usize, &Kind)| {
        let nth = u64::try_from(place * 10 + at).unwrap() + seed * 10_000;
        let word = format!("{}{nth}", Numbers::new(nth).word());
        match kind {
            Kind::Probe => Look::shell(2_000, &format!("echo {word}"), word),
            Kind::Parrot => Look::new(2_000, "reflect", json!({"text": word}), word),
            Kind::Work => {
                let text =
                    format!("{word} says what nobody knew before, in a few words of its own");
                Look::new(
                    2_000,
                    "Read",
                    json!({"file_path": format!("{word}.md")}),
                    text,
                )
            }
        }
    };
    let mut looks: Vec<Look> = steps.iter().enumerate().map(look).collect();
    match looks.pop() {
        Some(only) if looks.is_empty() => Act::Call(only),
        last => {
            looks.extend(last);
            Act::Together(looks)
        }
    }
}

/// Where a naive count warns, and where it blocks; both as the number of calls made.
fn expected(turns: &[Turn]) -> (Vec<usize>, Option<usize>) {
    let (mut streak, mut parrots, mut calls) = (0, 0, 0);
    let mut warned = Vec::new();
    for turn in turns {
        let Turn::Steps(steps) = turn else {
            (streak, parrots) = (0, 0);
            continue;
        };
        calls += steps.len();
        let mut has_grown = false;
        for kind in steps {
            match kind {
                Kind::Work => (streak, parrots) = (0, 0),
                Kind::Parrot => parrots += 1,
                Kind::Probe => {}
            }
            let counts = *kind == Kind::Probe || *kind == Kind::Parrot && parrots >= 2;
            if counts && !has_grown {
                has_grown = true;
                streak += 1;
                match streak {
                    20 | 39 => warned.push(calls),
                    40 => return (warned, Some(calls)),
                    _ => {}
                }
            }
        }
    }
    (warned, None)
}

/// What the rule said, until it or another one stopped the session.
fn said(outcome: &Outcome) -> (Vec<usize>, Option<usize>) {
    let is_own = |text: &str| text.contains(" progress.probe: ");
    let warned = outcome.warned.iter().filter(|(_, text)| is_own(text));
    let stopped = outcome.stopped.iter().find(|(_, text)| is_own(text));
    (
        warned.map(|(call, _)| *call).collect(),
        stopped.map(|(call, _)| *call),
    )
}

#[test]
fn probes_are_counted_as_a_naive_count_does() {
    let (mut warnings, mut blocks, mut silent) = (0, 0, 0);
    for seed in 0..240 {
        let turns = history(seed);
        let acts: Vec<Act> = turns
            .iter()
            .enumerate()
            .map(|(place, turn)| act(turn, place, seed))
            .collect();
        let outcome = play(&acts);
        let told = said(&outcome);
        assert_eq!(told, expected(&turns), "seed {seed}: {outcome:?} {turns:?}");
        warnings += told.0.len();
        blocks += usize::from(told.1.is_some());
        silent += usize::from(told.0.is_empty());
    }
    assert!(
        warnings > 100 && blocks > 40 && silent > 40,
        "{warnings}, {blocks}, {silent}"
    );
}
