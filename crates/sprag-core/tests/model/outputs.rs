//! What models say: the same words in a row, and answers that repeat themselves.

use sprag_core::{Decision, Digest, Observed, Output, RuleId};

use super::findings::Findings;
use super::judge::{Action, ModelOutcome, killed};
use super::record::{EventFacts, Record};

impl<'a> Action<'_, 'a> {
    pub(crate) fn output(&self, output: &Output) -> ModelOutcome<'a> {
        let mut facts = EventFacts::default();
        if self.actor.is_killed {
            return (killed(Decision::Kill), facts);
        }
        facts.accepted = true;
        let mut findings = Findings::default();
        if self.actor.is_blocked {
            return (findings, facts);
        }
        facts.spoke = true;
        let limits = &*self.actor.limits;
        if let Some(words) = output.text {
            let times = 1 + self.row(words);
            let repeat = &limits.output.repeat;
            if times >= repeat.block.get() as usize {
                findings.add(limits, RuleId::OutputRepeat, Decision::Block);
            } else if times >= repeat.warn.get() as usize {
                findings.add(limits, RuleId::OutputRepeat, Decision::Warn);
            }
        }
        if output.chant > 0 {
            let earlier = self.spoken().filter(|(_, output)| output.chant > 0).count();
            let decision = if earlier >= 2 {
                Decision::Block
            } else {
                Decision::Warn
            };
            findings.add(limits, RuleId::OutputChant, decision);
        }
        (findings, facts)
    }

    /// The answers of this life that were judged.
    fn spoken(&self) -> impl Iterator<Item = (usize, &'a Output)> {
        let records = self.actor.life.iter().enumerate();
        records.filter_map(|(at, record)| match record.what {
            Observed::Output(output)
                if record.facts.spoke && record.cells.session == Some(self.actor.id) =>
            {
                Some((at, output))
            }
            _ => None,
        })
    }

    /// How often in a row the model said just this before.
    fn row(&self, words: Digest) -> usize {
        let interrupts = |record: &Record<'_>| self.interrupts(record);
        let since = self.actor.life.iter().rposition(interrupts);
        let said: Vec<Digest> = self
            .spoken()
            .filter(|(at, _)| since.is_none_or(|since| *at > since))
            .filter_map(|(_, output)| output.text)
            .collect();
        said.iter().rev().take_while(|text| **text == words).count()
    }

    /// A call, a step of its own, a user's word, or the start of a run.
    fn interrupts(&self, record: &Record<'_>) -> bool {
        let (id, facts) = (Some(self.actor.id), &record.facts);
        let acts = match record.what {
            Observed::Call(_) => facts.accepted && !facts.repeats,
            Observed::Step(step) => {
                facts.step && facts.completes.is_none() && step.approach.is_some()
            }
            _ => false,
        };
        acts && record.cells.session == id
            || (facts.user_word || facts.starts_run) && record.cells.receiver == id
    }
}
