//! Does a repeat count?
//!
//! These repeats are no sign of a loop and do not count, though they bring no news:
//! - the first repeat, unless it comes right away, or fails again with nothing new in between: people, replayed
//!   set-ups and compacted contexts ask a second time;
//! - a check after a change that had not been made before, unless it fails;
//! - a look after a lull (`waiting.rs`); of looks that are slow but no lull, and of failing looks after
//!   a lull, each third counts;
//! - of quick polls, two of three; so too if an approach alternates between answers (a flaky test), and
//!   if a tool that runs no command only acknowledges (a key, a click, a line for a program): that
//!   tells nothing of what came of it;
//! - of looks that are told after a pause of 5 s that something is in the way for now, two of three, and seven of
//!   eight if nothing ran into it for 10 s; so too if a failure has a number that gets on by more than one each time;
//! - a second look in the same turn.
//!
//! A switch, a move or a label is set again and again by whoever steers: while other answers are new, and when it
//! is set to and fro, it is taken for an acknowledged act. Of acts of a few short values that are acknowledged in a
//! word each sixth counts.
//!
//! Bounded by: one past an approach.

use crate::cell::progress::{ApproachHistory, Progress};
use crate::cell::tried::Tried;
use crate::observation::{Outcome, Tone, ToolKind};
use crate::time::Timestamp;

use super::novelty::short;
use super::waiting::{Wait, tenths};

/// Of looks that are half excused each third counts.
const THIRD: u8 = 3;
/// Of switches and moves that are acknowledged, each sixth.
const SIXTH: u8 = 6;
/// Of looks that are told after a wait that something is in the way for now, and of failures that get on, each
/// eighth.
const EIGHTH: u8 = 8;
/// Who runs into what is in the way after so long only, by whatever approach, waits for it.
const HELD_UP_TENTHS: u32 = 100;
/// Something tried again after more other steps than this is begun anew.
const NEAR_STEPS: u32 = 20;

/// The past of an approach that gave a new answer.
pub(super) fn first(
    step: u32,
    now: Timestamp,
    outcome: &Outcome,
    before: Option<ApproachHistory>,
) -> ApproachHistory {
    let answered = short(outcome);
    ApproachHistory {
        outcome: answered,
        earlier: before.map_or(answered, |before| before.outcome),
        shape: outcome.shape,
        step,
        tenths: tenths(now),
        span: 0,
        same: 0,
        looks: 0,
        thirds: 0,
    }
}

/// A step as it is compared with the past of its approach.
pub(super) struct Look<'a> {
    pub(super) tried: &'a Tried,
    pub(super) outcome: &'a Outcome,
    pub(super) now: Timestamp,
    pub(super) wait: Wait,
    pub(super) directly: bool,
    /// It fails, and a number in the failure gets on.
    pub(super) gets_on: bool,
    /// How long ago the session ran into the same failure, in tenths of a second.
    pub(super) since_wall: u32,
    /// Only numbers changed, as they did many times.
    pub(super) is_stale: bool,
    pub(super) turn_start: u32,
}

impl Look<'_> {
    /// For a step that brings what its approach brought before: the past with it, and whether it counts.
    pub(super) fn again(
        &self,
        progress: &Progress,
        before: ApproachHistory,
    ) -> (ApproachHistory, bool) {
        let steps = progress.step.saturating_sub(before.step);
        let failed = self.outcome.tone == Tone::Failure;
        let changed = progress.changed > before.step;
        let checks = changed && !failed;
        let same_turn = before.step > self.turn_start;
        // After a change a failure is judged as one, however long the session thought about it.
        let wait = if changed { Wait::None } else { self.wait };
        // A wait that ran out of time was a wait.
        let ran_out = self.tried.waits && !self.outcome.is_error;
        let excused = same_turn || wait == Wait::Lull && (!failed || ran_out);
        let mut past = before;
        if checks {
            (past.span, past.same, past.looks, past.thirds) = (0, 0, 0, 0);
        } else if steps > NEAR_STEPS {
            past.same = 0;
        }
        let answered = short(self.outcome);
        let flips = before.outcome != answered;
        let acknowledges = self.acknowledges(progress, &before);
        let mut counts = false;
        if !excused {
            past.looks = past.looks.saturating_add(1);
            let patient = wait != Wait::None || self.tried.kind == ToolKind::Poll;
            if patient || flips || acknowledges || self.gets_on {
                past.thirds = past.thirds.saturating_add(1);
                counts = past.thirds >= self.counts_each(progress, &before, wait, acknowledges);
            } else {
                let in_vain = failed && !changed && progress.news.0 < before.step;
                counts = self.directly || in_vain || past.looks > 1;
            }
            counts &= !checks;
        }
        if counts {
            past.thirds = 0;
        }
        // The same answer begins again here.
        if flips {
            past.earlier = before.outcome;
            (past.span, past.looks) = (0, 0);
        }
        past.outcome = answered;
        past.shape = self.outcome.shape;
        past.step = progress.step;
        past.tenths = tenths(self.now);
        if !flips {
            let steps = u16::try_from(steps).unwrap_or(u16::MAX);
            past.span = past.span.saturating_add(steps);
        }
        past.same = past.same.saturating_add(u16::from(counts));
        (past, counts)
    }

    /// Of repeats that are partly excused, one in so many counts.
    fn counts_each(
        &self,
        progress: &Progress,
        before: &ApproachHistory,
        wait: Wait,
        acknowledges: bool,
    ) -> u8 {
        let is_told = self.outcome.tone == Tone::Failure && self.outcome.pending;
        let is_held_up = is_told && wait != Wait::None && self.since_wall >= HELD_UP_TENTHS;
        let acts = self.tried.kind == ToolKind::Run || progress.news.0 > before.step;
        if is_held_up || self.gets_on {
            EIGHTH
        } else if acknowledges && self.tried.about.controls && acts {
            SIXTH
        } else {
            THIRD
        }
    }

    /// The answer only acknowledges what was done, and says nothing of what came of it.
    fn acknowledges(&self, progress: &Progress, before: &ApproachHistory) -> bool {
        let controls = self.tried.about.controls;
        let acts = self.tried.kind == ToolKind::Run && self.tried.label.as_str().is_empty();
        let sets = self.tried.kind == ToolKind::Change && controls;
        let steers = sets && (progress.news.0 > before.step || !self.directly);
        let is_short = match self.outcome.tone {
            Tone::Silent | Tone::Done => true,
            Tone::Empty => controls,
            Tone::Telling => {
                controls && self.directly && self.outcome.one_word && !self.outcome.pending
            }
            Tone::Failure => false,
        };
        (acts || steers) && is_short
    }
}
