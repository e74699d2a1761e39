//! The progress rules: an agent that acts and acts while nothing new comes of it.
//!
//! Every step is an approach and an outcome. The *plain* classifier asks of both whether they were
//! ever seen. The *informed* one asks what a person would ask: has this approach's outcome changed
//! since its last time? Each idea stands in a file of its own:
//!
//! - `novelty.rs`: whether a step brings news, repeats, or says nothing either way;
//! - `repeat.rs`: whether a repeat counts;
//! - `similar.rs`: whether a failure says nearly what the last one said;
//! - `waiting.rs`: whether a look was waited for;
//! - `stagnation.rs`: repeats without any news in between;
//! - `stuck.rs`: new approaches that end in a known failure, in the same answer, or in nothing;
//! - `barren.rs`: no new answer for a long time, the end of all forgiveness;
//! - `familiar.rs`: rounds in which nothing is new but wording, numbers and ids;
//! - `recurrence.rs`: one approach that keeps coming back, other work in between;
//! - `failing.rs`: one program run at once again and again, each time ending in a failure;
//! - `wall.rs`: one program that keeps failing in known ways, however it is called;
//! - `numbers.rs`: answers that differ in numbers only, of one call or of a few in turn, and numbers that advance;
//! - `rounds.rs`: rounds of calls that are longer than the memory;
//! - `churn.rs`: the same change again, whatever it answers;
//! - `telling.rs`: calls about another thing, and calls that say the same again in other words;
//! - `probe.rs`: calls that only talk to themselves;
//! - `plain.rs`: the matrix.
//!
//! Resets when: news. A user's word sets streaks to zero and forgets nothing.
//! Bounded by: the memory in `cell/progress.rs`; each step looks through at most 512 numbers.

mod barren;
mod churn;
mod failing;
mod familiar;
mod ladder;
mod novelty;
mod numbers;
mod plain;
#[cfg(test)]
mod plain_model;
mod probe;
mod recurrence;
mod repeat;
mod rounds;
#[cfg(test)]
mod scenarios;
mod similar;
mod stagnation;
mod stuck;
mod telling;
mod waiting;
mod wall;

use crate::cell::progress::Progress;
use crate::cell::tried::Tried;
use crate::finding::Findings;
use crate::observation::Outcome;
use crate::policy::{Classifier, Limits};
use crate::time::Timestamp;

use novelty::{Novelty, StepFacts};

impl Progress {
    /// Judges a step that is not in a blocked session, and remembers it. Its turn began when
    /// `turn_start` steps had been judged.
    pub(crate) fn judge(
        &mut self,
        now: Timestamp,
        tried: &Tried,
        outcome: &Outcome,
        turn_start: u32,
        limits: &Limits,
        found: &mut Findings,
    ) {
        self.belong_to(limits.progress.classifier);
        self.step = self.step.saturating_add(1);
        match self.classifier {
            Classifier::Plain => plain::judge(self, tried, outcome, limits, found),
            Classifier::Informed => {
                let facts = StepFacts::new(self, now, tried, outcome, turn_start);
                informed(self, facts, limits, found);
            }
        }
    }
}

fn informed(progress: &mut Progress, facts: StepFacts<'_>, limits: &Limits, found: &mut Findings) {
    if facts.novelty == Novelty::News || facts.finds_a_gap() {
        progress.streaks.stagnation = 0;
        progress.streaks.repeats = 0;
        // Another number in the same words says nothing new about the wall.
        if facts.novelty != Novelty::Similar || !facts.same_words {
            progress.streaks.stuck = 0;
            progress.streaks.weak = 0;
        }
        progress.streaks.echo = 0;
        progress.news = (progress.step, facts.now);
    }
    if facts.novelty == Novelty::News {
        progress.streaks.empty = 0;
        progress.streaks.aimed = 0;
        progress.streaks.similar = 0;
        progress.streaks.swept = 0;
    }
    waiting::count(&facts, progress, limits, found);
    stagnation::judge(&facts, progress, limits, found);
    stuck::judge(&facts, progress, limits, found);
    barren::judge(&facts, progress, limits, found);
    familiar::judge(&facts, progress, limits, found);
    recurrence::judge(&facts, progress, limits, found);
    failing::judge(&facts, progress, limits, found);
    wall::judge(&facts, progress, limits, found);
    numbers::judge(&facts, progress, limits, found);
    rounds::judge(&facts, progress, limits, found);
    churn::judge(&facts, progress, limits, found);
    telling::judge(&facts, progress, limits, found);
    probe::judge(&facts, progress, limits, found);
    progress.keep(facts.at, facts.tried.normal, facts.past);
    progress.last = facts.last;
}
