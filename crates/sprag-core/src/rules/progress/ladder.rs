//! First a word, then the end: how a streak becomes a finding, and in which words.
//!
//! The agent reads the message next to its result, so a warning names what was seen and how far
//! the block is, and a block names what to do instead of going on.

use crate::cell::tried::Tried;
use crate::finding::{Finding, Findings};
use crate::policy::{Limit, Limits, Threshold};
use crate::rule::RuleId;
use crate::rules::text::plain_name;
use crate::verdict::Decision;

/// One rung: a rule, the key of its threshold in the policy, and how far the streak is.
pub(super) struct Rung<'a> {
    pub(super) rule: RuleId,
    pub(super) key: &'a str,
    pub(super) threshold: Threshold,
    pub(super) count: u16,
    pub(super) manner: Manner,
    /// What the next step weighs if it is the very same call: a warning says so.
    pub(super) again_weighs: u32,
}

/// When a rung warns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// On each step from the warning to the block.
    WarnsEachTime,
    /// When the streak gets there, and once more right before the block.
    WarnsTwice,
    /// When the streak gets there; there is no block.
    NeverBlocks,
}

impl Rung<'_> {
    /// Adds a finding if the streak is long enough. `say` returns what was seen, without a full stop;
    /// `prove` adds evidence.
    pub(super) fn climb(
        &self,
        limits: &Limits,
        found: &mut Findings,
        say: impl FnOnce() -> String,
        prove: impl FnOnce(Finding) -> Finding,
    ) {
        let count = u32::from(self.count);
        let block = self.threshold.block.get();
        let last = block.saturating_sub(1);
        // A word always comes one turn before the end, whatever the policy says.
        let warn = match self.manner {
            Manner::WarnsEachTime => self.threshold.warn.get(),
            Manner::WarnsTwice | Manner::NeverBlocks => self.threshold.warn.get().min(last),
        };
        let warns = match self.manner {
            Manner::WarnsEachTime => count >= warn,
            Manner::WarnsTwice => count == warn || count == last,
            Manner::NeverBlocks => count == warn,
        };
        let decision = if count >= block && self.manner != Manner::NeverBlocks {
            Decision::Block
        } else if warns {
            Decision::Warn
        } else {
            return;
        };
        found.add(limits, self.rule, || {
            let seen = say();
            let message = if decision == Decision::Block {
                format!("{seen}. Stop here: no further calls are let through. Summarise what you tried and what is missing, and end your turn.")
            } else if self.manner == Manner::NeverBlocks {
                format!("{seen}. Change the approach, or say what is missing.")
            } else {
                let again = if self.again_weighs > 1 {
                    " The very same call again counts twice."
                } else {
                    ""
                };
                format!("{seen} ({count}/{block} before block).{again} Change the approach, or say what is missing.")
            };
            let finding = Finding::new(self.rule, decision, message)
                .why(seen)
                .with("streak", count)
                .with("warn", warn)
                .with("block", block);
            prove(finding).hint_if(self.lifting(limits))
        });
    }
}

impl Rung<'_> {
    /// The command that lifts it: the key's own threshold, half as high again.
    fn lifting(&self, limits: &Limits) -> Option<String> {
        let progress = &limits.progress;
        let set = match self.key {
            "stagnation" => progress.stagnation,
            "empty" => progress.empty,
            "recurrence" => progress.recurrence,
            "churn" => progress.churn,
            "probe" => progress.probe,
            _ => progress.stuck,
        };
        let block = set.block.get();
        let raised = Limit::of(block.saturating_add(block.div_ceil(2))).get();
        let lifted = u64::from(self.threshold.block.get()) * u64::from(raised) / u64::from(block);
        let helps = lifted > u64::from(self.count) && self.manner != Manner::NeverBlocks;
        helps.then(|| format!("sprag policy set progress.{}.block {raised}", self.key))
    }
}

/// How a call is named in a sentence: by its tool and its command or file. A program has no name.
pub(super) fn name(tried: &Tried) -> String {
    match (tried.name.as_str(), tried.label.as_str()) {
        ("", _) => "this program".to_owned(),
        (tool, "") => format!("`{}`", plain_name(tool)),
        (tool, label) => format!("`{}` ({})", plain_name(tool), plain_name(label)),
    }
}

/// `1 step`, `3 steps`.
pub(super) fn times(count: u32, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
