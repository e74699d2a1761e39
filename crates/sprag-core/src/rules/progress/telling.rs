//! Whether a call is about another thing, or says the same thing again in other words.
//!
//! A batch and a loop of acts look alike by their answers: each mail is acknowledged, each issue gets a
//! number. They differ in what is said. A batch turns to another thing each time, or says something that was
//! not said before. A loop says to the same one what it said already, reworded or with a higher count.
//!
//! A call *sweeps* if its form is known and its thing is not. It *retells* if form and thing are known, its
//! text has several words, and all of them, but for one in eight, were in texts of that form before. A number in
//! it that is one or two above the last one only counts attempts; any other number is something new.
//!
//! Trips when: 12 calls that retell and are merely acknowledged warn, 21 block (three times `churn`).
//! Resets when: any step brings news.
//! Bounded by: 256 fingerprints, and the last text.
//! Odd cases: what is said to a file is judged by other rules: one edits the same place in the same words
//! for good reasons. An answer that differs from the one before in numbers only is a receipt. In one turn the
//! streak grows once.

use crate::cell::hash::{first_half, mix};
use crate::cell::progress::{LastTold, Progress};
use crate::cell::tried::Tried;
use crate::finding::Findings;
use crate::observation::{Outcome, Tone, ToolKind};
use crate::policy::{Limit, Limits, Threshold};
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::{Novelty, StepFacts};

/// A text of fewer words says too little to be compared.
const LEAST_WORDS: usize = 2;
/// A question of so many words is one at length.
const LENGTH_WORDS: usize = 3;
/// One word in so many may be new.
const NEW_ONE_IN: usize = 8;
/// A count of attempts grows by so much at most.
const COUNTS_BY: u32 = 2;
/// It is the more patient kind of `churn`.
const PATIENCE: u32 = 3;

/// How what a call says compares with what was said before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SaidBefore {
    /// All of it was said, or it says nothing.
    #[default]
    Known,
    /// The words were said, but with other numbers, or of another place in a list.
    OtherNumbers,
    /// Fewer than half of the words are new.
    Reworded,
    /// Most words are new.
    New,
}

impl SaidBefore {
    /// Of so many words, so many were new.
    fn of(said: usize, new: usize) -> Self {
        if new <= said / NEW_ONE_IN {
            Self::Known
        } else if new * 2 < said {
            Self::Reworded
        } else {
            Self::New
        }
    }
}

/// What a call tells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Telling {
    pub(super) sweeps: bool,
    /// It sweeps in words that were all said before, by a tool that runs no command.
    pub(super) asks_the_same: bool,
    pub(super) retells: bool,
    /// It asks the same of the same thing, at another place or in another order.
    pub(super) turns_page: bool,
    /// How much of what it says was not said before.
    pub(super) wording: SaidBefore,
    /// In more than a few words.
    pub(super) at_length: bool,
    /// Its answer is an acknowledgement or a receipt.
    pub(super) is_acknowledged: bool,
}

/// Compares a call with those before it, and remembers what it is about.
pub(super) fn of(
    progress: &mut Progress,
    tried: &Tried,
    outcome: &Outcome,
    is_new: bool,
    answer_seen: bool,
) -> Telling {
    let about = &tried.about;
    if about.form == 0 {
        return Telling::default();
    }
    let form = u64::from(about.form);
    let key = |part: u64| first_half(mix(form, part));
    let form_known = progress.told.use_again(key(0));
    let thing_known = progress
        .told
        .use_again(key(1 + (u64::from(about.thing) << 16)));
    let words = about.said.iter().take_while(|word| **word != 0);
    let (mut said, mut new) = (0, 0);
    for word in words {
        said += 1;
        new += usize::from(!progress.told.use_again(key(2 + (u64::from(*word) << 48))));
    }
    let before = progress.last_told;
    let is_same_form = before.form == about.form;
    if said > 0 {
        progress.last_told = LastTold {
            form: about.form,
            count: about.count,
            shape: outcome.shape,
        };
    }
    let counts_on = about.count == before.count
        || is_same_form && about.count.wrapping_sub(before.count) <= COUNTS_BY;
    // To somebody or something by name, one word and a count are a text.
    let is_text = said >= LEAST_WORDS || said > 0 && about.thing != 0 && about.count > 0;
    let says_nothing_new = is_text && new <= said / NEW_ONE_IN && counts_on;
    let repeats_count = outcome
        .numbers
        .contains(&(u64::from(about.count.saturating_sub(1)) * 1000));
    let is_receipt = is_same_form
        && outcome.shape != 0
        && outcome.shape == before.shape
        && (tried.label.as_str().is_empty() || about.count > 0 && repeats_count);
    let to_a_file = tried.aims && !tried.label.as_str().is_empty();
    let sweeps = is_new && form_known && !thing_known && about.thing != 0;
    Telling {
        sweeps,
        asks_the_same: sweeps && new == 0 && tried.label.as_str().is_empty(),
        turns_page: is_new && thing_known && new == 0 && about.thing != 0,
        retells: is_new && thing_known && says_nothing_new && !to_a_file,
        wording: match new {
            0 if is_new && !says_nothing_new => SaidBefore::OtherNumbers,
            new => SaidBefore::of(said, new),
        },
        at_length: said >= LENGTH_WORDS,
        is_acknowledged: acknowledges(outcome, answer_seen || is_receipt)
            && tried.kind != ToolKind::Read,
    }
}

fn acknowledges(outcome: &Outcome, is_known: bool) -> bool {
    match outcome.tone {
        Tone::Silent | Tone::Done => true,
        Tone::Telling => !outcome.long && !outcome.absent && is_known,
        Tone::Failure | Tone::Empty => false,
    }
}

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    if facts.novelty == Novelty::News {
        progress.streaks.retold = 0;
    }
    let acts = facts.retells && facts.novelty == Novelty::Quiet;
    if !acts || progress.grown.retold > facts.turn_start {
        return;
    }
    progress.grown.retold = progress.step;
    let retold = progress.streaks.retold.saturating_add(1);
    progress.streaks.retold = retold;
    let churn = limits.progress.churn;
    let rung = Rung {
        rule: RuleId::ProgressChurn,
        key: "churn",
        threshold: Threshold {
            warn: Limit::of(churn.warn.get().saturating_mul(PATIENCE)),
            block: Limit::of(churn.block.get().saturating_mul(PATIENCE)),
        },
        count: retold,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    let tool = facts.tried.name.as_str();
    let say = || {
        format!(
            "{} said what had been said before, in other words or with another number, the last by {}",
            times(u32::from(retold), "call"),
            name(facts.tried)
        )
    };
    rung.climb(limits, found, say, |finding| {
        finding
            .with("tool", tool)
            .with("counted", "retold")
            .with("said_again", retold)
    });
}
