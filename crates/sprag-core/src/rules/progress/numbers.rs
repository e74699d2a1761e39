//! Answers that differ from the last one of the same approach in numbers and ids only.
//!
//! A random number is not news, but it may be luck that the agent waits for, or a measurement. So the first
//! fourteen such answers are taken for news, and two of them count as one repeat. It makes no difference whether
//! one call is run in a row or a few in turn: what the world says is the same each time. A number that advances
//! is news: a counter, a percentage, a number of rows. It advances if it moved the same way in four changes
//! running, at the same place of the answer, by a thousandth of itself at least: a long number that moves by
//! less is an id. The number of a receipt does not advance: if a call says something, as the same mail to the
//! same person does, or changes something, an answer that counts on by one is the next number of a list.
//!
//! Trips when: 10 such answers warn, 20 block (`progress.recurrence`, two answers a count).
//! Resets when: another answer is news, or a number moved the same way eight times running.
//! Bounded by: the first six numbers of one answer of each of eight approaches.
//! Odd cases: looks after a lull count only if they fail, and of those in a row that all come after a pause each
//! third; what is looked at again and again and is not run does not count while it does not fail. In a failure
//! no number advances, but one that moves by more than one each time says that a retry gets on, and so counts
//! less (`repeat.rs`).

use crate::cell::progress::{Advance, Progress};
use crate::cell::tried::Tried;
use crate::finding::Findings;
use crate::observation::{Outcome, Tone, ToolKind};
use crate::policy::Limits;
use crate::rule::RuleId;

use super::ladder::{Manner, Rung, name, times};
use super::novelty::{Novelty, StepFacts};
use super::waiting::Wait;

/// So many answers that differ in numbers weigh as much as one that does not differ.
const ANSWERS_PER_COUNT: u16 = 2;
/// So many of them are taken for news.
const NEWS_AT_FIRST: u16 = 14;
/// A number that moved the same way so often running advances.
const ADVANCES: u8 = 4;
/// A random number never moves the same way so often running.
const ADVANCES_FOR_SURE: u8 = 8;
/// Of answers in a row that all came after a pause each third counts.
const PAUSED_PER_COUNT: u16 = 3;
/// One, in thousandths: a number that moves by no more counts attempts or receipts.
const ONE: u64 = 1000;
/// A number that moves by less than this part of itself is an id.
const ID_PART: u64 = 1000;
/// Of so many approaches the numbers are remembered.
const TRACKED: usize = 8;

/// Where the numbers in the answers of an approach are going.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trend {
    /// In a failure one moved on by more than one, the same way as the last time.
    pub(super) gets_on: bool,
    /// How often running some number moved the same way.
    running: u8,
}

impl Trend {
    /// Some number has moved the same way for a while.
    pub(super) fn advances(self) -> bool {
        self.running >= ADVANCES
    }
}

/// Compares the numbers of an answer with those of the approach's last one, and keeps them.
pub(super) fn trend(
    progress: &mut Progress,
    tried: &Tried,
    outcome: &Outcome,
    is_known: bool,
) -> Trend {
    let failed = outcome.tone == Tone::Failure;
    let numbers = &outcome.numbers;
    let advances = &mut progress.advances;
    let at = advances
        .iter()
        .position(|held| held.approach == tried.normal);
    let Some(at) = at else {
        if !numbers.is_empty() && (is_known || failed) {
            if advances.len() >= TRACKED {
                advances.remove(0);
            }
            advances.push(Advance {
                approach: tried.normal,
                numbers: numbers.clone(),
                moved: vec![0; numbers.len()],
            });
        }
        return Trend::default();
    };
    let mut advance = advances.remove(at);
    let gets_on = failed && advance.gets_on(numbers);
    let running = advance.move_on(numbers, least(tried, failed));
    advances.push(advance);
    // What a change answers is a receipt, and what a failure counts are attempts.
    let is_news = !failed && tried.kind != ToolKind::Change;
    Trend {
        gets_on,
        running: if is_news { running } else { 0 },
    }
}

/// The least by which a number moves: more than one in a failure, which may count attempts, and in a receipt.
fn least(tried: &Tried, failed: bool) -> u64 {
    let says = tried.about.said.first().is_some_and(|word| *word != 0);
    let tells = !tried.asks && (says || tried.label.as_str().is_empty() && !tried.about.controls);
    if failed || tells { ONE + 1 } else { 1 }
}

impl Advance {
    fn gets_on(&self, numbers: &[u64]) -> bool {
        let mut places = self.moved.iter().zip(&self.numbers).zip(numbers);
        self.numbers.len() == numbers.len()
            && places.any(|((moved, before), now)| {
                let goes_on = if now > before { *moved > 0 } else { *moved < 0 };
                goes_on && now.abs_diff(*before) > ONE
            })
    }

    /// Takes the next numbers, and returns how often running one of them moved the same way.
    fn move_on(&mut self, numbers: &[u64], least: u64) -> u8 {
        if self.numbers.len() != numbers.len() {
            self.numbers = numbers.to_vec();
            self.moved = vec![0; numbers.len()];
            return 0;
        }
        let before = std::mem::replace(&mut self.numbers, numbers.to_vec());
        for ((moved, before), now) in self.moved.iter_mut().zip(before).zip(numbers) {
            let least = least.max(before / ID_PART);
            *moved = match now.abs_diff(before) {
                0 => *moved,
                small if small < least => 0,
                _ if *now > before => moved.saturating_add(1).max(1),
                _ => moved.saturating_sub(1).min(-1),
            };
        }
        let most = self.moved.iter().map(|moved| moved.unsigned_abs()).max();
        most.unwrap_or(0)
    }
}

/// Whether an answer that changed says nothing new: only numbers did, none of them advances, and the session has seen
/// many like it.
pub(super) fn is_stale(progress: &Progress, is_alike: bool, trend: Trend) -> bool {
    let streaks = &progress.streaks;
    is_alike
        && trend.running < ADVANCES
        && streaks.alike.saturating_sub(streaks.spared) >= NEWS_AT_FIRST
}

pub(super) fn judge(
    facts: &StepFacts<'_>,
    progress: &mut Progress,
    limits: &Limits,
    found: &mut Findings,
) {
    if !facts.alike {
        if facts.novelty == Novelty::News {
            let streaks = &mut progress.streaks;
            (streaks.alike, streaks.unhurried, streaks.spared) = (0, 0, 0);
        }
        return;
    }
    let Some((answers, counted)) = counted(facts, progress) else {
        return;
    };
    let rung = Rung {
        rule: RuleId::ProgressRecurrence,
        key: "recurrence",
        threshold: limits.progress.recurrence,
        count: counted,
        manner: Manner::WarnsTwice,
        again_weighs: 1,
    };
    let say = || {
        format!(
            "{} differed from known ones in numbers or ids only, the last by {}",
            times(answers, "answer"),
            name(facts.tried)
        )
    };
    rung.climb(limits, found, say, |finding| {
        finding
            .with("tool", facts.tried.name.as_str())
            .with("counted", "alike")
            .with("answers", answers)
    });
}

/// Counts an answer: how many there were, and how much they weigh, if this one makes them weigh more.
fn counted(facts: &StepFacts<'_>, progress: &mut Progress) -> Option<(u32, u16)> {
    let repeats = facts.novelty == Novelty::Repeat;
    if repeats && !facts.directly {
        return None;
    }
    let failed = facts.outcome.tone == Tone::Failure;
    let streaks = &mut progress.streaks;
    streaks.alike = streaks.alike.saturating_add(1);
    let running = facts.trend.running;
    if running >= ADVANCES_FOR_SURE && !repeats {
        streaks.spared = streaks.alike;
    }
    streaks.unhurried = match facts.wait {
        Wait::Pause => streaks.unhurried.saturating_add(1),
        _ => 0,
    };
    let paused = streaks.unhurried > 1 && !streaks.unhurried.is_multiple_of(PAUSED_PER_COUNT);
    let looks = facts.directly && facts.tried.kind != ToolKind::Run;
    let waits = facts.wait == Wait::Lull || facts.outcome.pending && facts.wait != Wait::None;
    let is_fine = (looks || waits) && (!failed || facts.outcome.pending);
    let spared = repeats || paused || running >= ADVANCES || is_fine || facts.same_turn;
    if spared {
        streaks.spared = streaks.spared.saturating_add(1).min(streaks.alike);
        return None;
    }
    let counted = streaks.alike.saturating_sub(streaks.spared);
    let weighs_more = counted.is_multiple_of(ANSWERS_PER_COUNT);
    weighs_more.then_some((u32::from(counted), counted / ANSWERS_PER_COUNT))
}
