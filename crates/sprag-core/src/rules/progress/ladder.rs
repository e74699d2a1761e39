//! First a word, then the end: how a streak becomes a finding, and in which words.
//!
//! The agent reads the message next to its result, so a warning names what was seen and how far
//! the block is, and a block names what to do instead of going on.

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
}

impl Rung<'_> {
    /// Adds a finding if the streak is long enough. `say` describes what was seen, without a full stop;
    /// `prove` adds evidence.
    pub(super) fn climb(
        &self,
        limits: &Limits,
        found: &mut Findings,
        say: impl FnOnce() -> String,
        prove: impl FnOnce(Finding) -> Finding,
    ) {
        let count = u32::from(self.count);
        let (warn, block) = (self.threshold.warn.get(), self.threshold.block.get());
        let decision = if count >= block {
            Decision::Block
        } else if count >= warn {
            Decision::Warn
        } else {
            return;
        };
        found.add(limits, self.rule, || {
            let seen = say();
            let message = if decision == Decision::Block {
                format!("{seen}. Stop here: no further calls are let through. Summarise what you tried and what is missing, and end your turn.")
            } else {
                format!("{seen} ({count}/{block} before block). Change the approach, or say what is missing.")
            };
            let finding = Finding::new(self.rule, decision, message)
                .with("streak", count)
                .with("warn", warn)
                .with("block", block);
            let raised = Limit::of(block.saturating_add(block.div_ceil(2))).get();
            prove(finding).hint(format!("sprag policy set progress.{}.block {raised}", self.key))
        });
    }
}

/// How a tool is named in a sentence; a program has no name.
pub(super) fn name(tool: &str) -> String {
    if tool.is_empty() {
        "this program".to_owned()
    } else {
        format!("`{tool}`")
    }
}

/// `1 step`, `3 steps`.
pub(super) fn times(count: u32, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
