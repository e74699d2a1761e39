//! First a word, then the end: how a streak becomes a finding, and in which words.
//!
//! The agent reads the message next to its result, so a warning names what was seen and how far
//! the block is, and a block names what to do instead of going on.

use crate::cell::tried::Tried;
use crate::finding::{Finding, Findings};
use crate::policy::{Limit, Limits, Threshold};
use crate::rule::RuleId;
use crate::verdict::Decision;

/// One rung: a rule, the key of its threshold in the policy, and how far the streak is.
pub(super) struct Rung<'a> {
    pub(super) rule: RuleId,
    pub(super) key: &'a str,
    pub(super) threshold: Threshold,
    pub(super) count: u16,
    pub(super) manner: Manner,
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
                format!("{seen} ({count}/{block} before block). Change the approach, or say what is missing.")
            };
            let finding = Finding::new(self.rule, decision, message)
                .why(seen)
                .with("streak", count)
                .with("warn", warn)
                .with("block", block);
            let raised = Limit::of(block.saturating_add(block.div_ceil(2))).get();
            prove(finding).hint(format!("sprag policy set progress.{}.block {raised}", self.key))
        });
    }
}

/// How a call is named in a sentence: by its tool and its command or file. A program has no name.
pub(super) fn name(tried: &Tried) -> String {
    match (tried.name.as_str(), tried.label.as_str()) {
        ("", _) => "this program".to_owned(),
        (tool, "") => format!("`{tool}`"),
        (tool, label) => format!("`{tool}` ({label})"),
    }
}

/// `1 step`, `3 steps`.
pub(super) fn times(count: u32, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
