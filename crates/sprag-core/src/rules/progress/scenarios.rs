//! What the progress rules say to whole runs, step by step.

use crate::cell::progress::Progress;
use crate::cell::tried::{ShortName, Tried};
use crate::digest::{Digest, DigestKey};
use crate::finding::Findings;
use crate::observation::{Outcome, Tone, ToolKind};
use crate::policy::{Classifier, Limits};
use crate::time::Timestamp;
use crate::verdict::{Decision, Verdict};

/// A session that is told step by step, a second apart unless said otherwise.
pub(super) struct TracedRun {
    pub(super) progress: Progress,
    limits: Limits,
    now: u64,
    pace: u64,
}

fn digest(text: &str) -> Digest {
    DigestKey::fixed().digest(&[text.as_bytes()])
}

fn tried(kind: ToolKind, call: &str) -> Tried {
    Tried {
        exact: digest(call).prefix(),
        normal: digest(call).prefix(),
        kind,
        waits: false,
        moves: false,
        asks: false,
        aims: false,
        probes: false,
        argument: 0,
        about: Default::default(),
        name: ShortName::new(call.split(' ').next().unwrap()),
        label: ShortName::new(""),
    }
}

impl TracedRun {
    fn new() -> Self {
        Self {
            progress: Progress::default(),
            limits: Limits::default(),
            now: 1_760_000_000_000,
            pace: 1000,
        }
    }

    pub(super) fn plain() -> Self {
        let mut run = Self::new();
        run.limits.progress.classifier = Classifier::Plain;
        run
    }

    fn step(&mut self, kind: ToolKind, call: &str, answer: &str, tone: Tone) -> Verdict {
        self.now += self.pace;
        let letters: String = answer.chars().filter(|c| !c.is_ascii_digit()).collect();
        let outcome = Outcome {
            exact: digest(answer),
            normal: digest(answer),
            is_error: false,
            tone,
            shape: u32::try_from(digest(&letters).prefix() >> 32).unwrap(),
            long: false,
            absent: false,
            ends_failing: tone == Tone::Failure,
            weak: false,
            one_word: false,
            pending: false,
            words: if tone == Tone::Failure {
                let hash = |word| u16::try_from(digest(word).prefix() >> 48).unwrap();
                letters.split_whitespace().map(hash).collect()
            } else {
                Vec::new()
            },
            numbers: Vec::new(),
            said: 0,
            oversized: false,
        };
        let mut found = Findings::default();
        let now = Timestamp(self.now);
        let tried = tried(kind, call);
        let turn_start = self.progress.step;
        self.progress
            .judge(now, &tried, &outcome, turn_start, &self.limits, &mut found);
        found.into_verdict()
    }

    fn read(&mut self, call: &str, answer: &str) -> Verdict {
        self.step(ToolKind::Read, call, answer, Tone::Telling)
    }

    pub(super) fn run(&mut self, call: &str, answer: &str) -> Verdict {
        self.step(ToolKind::Run, call, answer, Tone::Telling)
    }

    fn fail(&mut self, call: &str, answer: &str) -> Verdict {
        self.step(ToolKind::Run, call, answer, Tone::Failure)
    }

    fn edit(&mut self, call: &str, answer: &str) -> Verdict {
        self.step(ToolKind::Change, call, answer, Tone::Done)
    }

    fn poll(&mut self, answer: &str) -> Verdict {
        self.step(ToolKind::Poll, "job_status 7", answer, Tone::Telling)
    }
}

/// The decisions on `count` steps.
fn decisions(count: usize, mut step: impl FnMut(usize) -> Verdict) -> Vec<Decision> {
    (0..count).map(|at| step(at).decision).collect()
}

/// On which step there first was a warning, and a block.
fn first(decisions: &[Decision]) -> (Option<usize>, Option<usize>) {
    let on = |least| {
        decisions
            .iter()
            .position(|found| *found >= least)
            .map(|at| at + 1)
    };
    (on(Decision::Warn), on(Decision::Block))
}

#[test]
fn the_fourth_identical_call_is_warned_about_and_the_fifth_blocks() {
    let mut run = TracedRun::new();
    let said = decisions(6, |_| run.read("read a", "same"));
    assert_eq!(first(&said), (Some(4), Some(5)));
}

#[test]
fn a_warning_says_what_was_seen_and_how_far_the_end_is() {
    let mut run = TracedRun::new();
    decisions(3, |_| run.fail("make all", "no rule"));
    let warned = run.fail("make all", "no rule");
    assert_eq!(
        warned.message.as_deref(),
        Some(
            "`make` gave the same failure 4 times in a row (3/5 before block). The very same call again counts twice. Change the approach, or say what is missing."
        )
    );
    let blocked = run.fail("make all", "no rule");
    assert_eq!(
        blocked.message.as_deref(),
        Some(
            "`make` gave the same failure 5 times in a row. Stop here: no further calls are let through. Summarise what you tried and what is missing, and end your turn."
        )
    );
    assert_eq!(
        blocked.hint.as_deref(),
        Some("sprag policy set progress.stagnation.block 8")
    );
    let evidence = blocked.evidence.unwrap();
    assert_eq!(evidence["tool"], "make");
    assert_eq!(evidence["same_answers"], 5);
    assert_eq!(evidence["seconds_without_news"], 4);
}

#[test]
fn a_round_of_calls_is_found_in_its_third_turn() {
    for period in 2..40 {
        let mut run = TracedRun::new();
        let said = decisions(period * 4 + 2, |at| {
            let call = at % period;
            run.run(&format!("t {call}"), &format!("r {call}"))
        });
        assert_eq!(
            first(&said),
            (Some(period * 2 + 3), Some(period * 2 + 5)),
            "period {period}"
        );
    }
}

#[test]
fn doing_it_all_once_more_is_fine() {
    let mut run = TracedRun::new();
    let said = decisions(40, |at| {
        let call = at % 20;
        run.run(&format!("t {call}"), &format!("r {call}"))
    });
    assert_eq!(first(&said), (None, None));
}

#[test]
fn calls_whose_answers_change_are_work() {
    let mut run = TracedRun::new();
    let said = decisions(60, |at| {
        run.run(
            &format!("t {}", at % 2),
            &format!("state {}x", "i".repeat(at)),
        )
    });
    assert_eq!(first(&said), (None, None));
}

#[test]
fn an_answer_that_flips_between_two_states_is_no_news() {
    let mut run = TracedRun::new();
    let said = decisions(20, |at| run.run("probe", ["up", "down"][at % 2]));
    assert!(first(&said).1.is_some());
}

#[test]
fn the_same_failure_whatever_was_edited_is_found() {
    let mut run = TracedRun::new();
    let mut last = Verdict::default();
    let said = decisions(26, |at| {
        last = if at % 2 == 0 {
            run.edit(&format!("edit v{at}"), "ok")
        } else {
            run.fail("test", "expected 3, got 4")
        };
        last.clone()
    });
    assert_eq!(first(&said), (Some(14), Some(24)));
    assert_eq!(
        last.message.unwrap(),
        "`test` gave the same failure 13 times in 25 steps, whatever was changed in between. Stop here: no further calls are let through. Summarise what you tried and what is missing, and end your turn."
    );
}

#[test]
fn a_check_after_each_new_change_is_work() {
    let mut run = TracedRun::new();
    let said = decisions(60, |at| {
        if at % 2 == 0 {
            run.edit(&format!("write f{at}"), "ok")
        } else {
            run.read("git status", "clean")
        }
    });
    assert_eq!(first(&said), (None, None));
}

#[test]
fn the_same_change_again_is_found_though_its_answer_differs() {
    let mut run = TracedRun::new();
    let said = decisions(10, |at| {
        run.step(
            ToolKind::Change,
            "edit a",
            &format!("{at} lines"),
            Tone::Telling,
        )
    });
    assert_eq!(first(&said), (Some(4), Some(7)));
}

#[test]
fn the_same_change_between_new_ones_is_work() {
    let mut run = TracedRun::new();
    let said = decisions(60, |at| match at % 3 {
        0 => run.edit(&format!("edit v{at}"), "ok"),
        1 => run.step(ToolKind::Change, "git add .", "", Tone::Silent),
        _ => run.run("test", &format!("{at} passed")),
    });
    assert_eq!(first(&said), (None, None));
}

#[test]
fn different_commands_that_meet_one_failure_are_stuck() {
    let mut run = TracedRun::new();
    let said = decisions(10, |at| run.fail(&format!("cmd {at}"), "no such container"));
    assert_eq!(first(&said), (Some(6), Some(9)));
}

#[test]
fn what_worked_before_meets_the_same_wall() {
    let mut run = TracedRun::new();
    decisions(10, |at| {
        run.run(&format!("cmd {at}"), &format!("result {at}"))
    });
    let said = decisions(10, |at| run.fail(&format!("cmd {at}"), "no such container"));
    assert_eq!(first(&said), (Some(6), Some(9)));
}

#[test]
fn wrong_guesses_in_any_order_are_found() {
    let mut run = TracedRun::new();
    let said = decisions(20, |at| run.fail(&format!("guess {}", at * 7 % 5), "wrong"));
    assert!(first(&said).1.is_some_and(|block| block <= 15));
}

#[test]
fn searching_on_is_forgiven_longer() {
    let mut run = TracedRun::new();
    let said = decisions(21, |at| {
        run.step(
            ToolKind::Read,
            &format!("search {at}"),
            "nothing",
            Tone::Empty,
        )
    });
    assert_eq!(first(&said), (Some(8), Some(20)));
}

#[test]
fn acknowledgements_and_silence_are_not_counted() {
    let mut run = TracedRun::new();
    let said = decisions(60, |at| run.edit(&format!("write {at}"), "ok"));
    assert_eq!(first(&said), (None, None));
    let said = decisions(60, |at| {
        run.step(ToolKind::Run, &format!("mk {at}"), "", Tone::Silent)
    });
    assert_eq!(first(&said), (None, None));
}

#[test]
fn a_small_world_with_few_answers_is_not_stuck() {
    let mut run = TracedRun::new();
    let said = decisions(60, |at| {
        run.run(&format!("move {at}"), ["wall", "free"][at * 2 / 3 % 2])
    });
    assert_eq!(first(&said), (None, None));
}

#[test]
fn a_patient_poll_is_waiting_and_a_frantic_one_is_not() {
    let mut patient = TracedRun::new();
    patient.pace = 5_000;
    assert_eq!(
        first(&decisions(200, |_| patient.poll("running"))),
        (None, None)
    );
    let mut frantic = TracedRun::new();
    frantic.pace = 500;
    let said = decisions(60, |_| frantic.poll("running"));
    assert_eq!(first(&said), (Some(10), Some(13)));
}

#[test]
fn runs_that_differ_in_numbers_only_end_after_twenty() {
    let mut run = TracedRun::new();
    let said = decisions(22, |at| {
        run.run("nc host", &format!("base {}", at * at + 1))
    });
    assert_eq!(first(&said), (Some(11), Some(21)));
}

#[test]
fn a_users_word_starts_the_streaks_anew_and_forgets_nothing() {
    let mut run = TracedRun::new();
    decisions(4, |_| run.read("read a", "same"));
    run.progress.reset_streaks();
    let said = decisions(5, |_| run.read("read a", "same"));
    assert_eq!(first(&said), (Some(3), Some(4)), "it is still known");
}

#[test]
fn the_plain_matrix_does_what_its_table_says() {
    let mut run = TracedRun::plain();
    let same = decisions(6, |_| run.run("c", "r"));
    assert_eq!(first(&same), (Some(4), Some(6)));
    let mut run = TracedRun::plain();
    let stuck = decisions(9, |at| run.run(&format!("c{at}"), "r"));
    assert_eq!(first(&stuck), (Some(6), Some(9)));
    let mut run = TracedRun::plain();
    let ended = decisions(60, |at| match at % 3 {
        0 => run.run(&format!("edit {at}"), "r"),
        _ => run.run("test", "r"),
    });
    assert_eq!(first(&ended), (None, None), "each streak ends the other");
}

#[test]
fn plain_evidence_names_the_cell() {
    let mut run = TracedRun::plain();
    decisions(3, |_| run.run("c", "r"));
    let verdict = run.run("c", "r");
    assert_eq!(verdict.evidence.unwrap()["cell"], "full_stagnation");
}

#[test]
fn another_classifier_starts_afresh() {
    let mut run = TracedRun::plain();
    decisions(3, |_| run.run("c", "r"));
    run.limits.progress.classifier = Classifier::Informed;
    assert_eq!(run.run("c", "r").decision, Decision::Allow);
}
