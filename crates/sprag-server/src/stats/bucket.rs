//! The counts of one span of time.

use sprag_core::{Decision, RuleId};
use sprag_store::{Census, Record};

use crate::event_kind::{KINDS, index};

pub(super) const VERDICTS: usize = Decision::ALL.len();
const RULES: usize = RuleId::ALL.len();

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bucket {
    pub(super) events: [u32; KINDS.len()],
    pub(super) verdicts: [u32; VERDICTS],
    pub(super) enforced: [u32; RULES],
    pub(super) shadow: [u32; RULES],
    pub(super) levels: Option<Census>,
}

impl Bucket {
    pub(super) const EMPTY: Self = Self {
        events: [0; KINDS.len()],
        verdicts: [0; VERDICTS],
        enforced: [0; RULES],
        shadow: [0; RULES],
        levels: None,
    };

    pub(super) fn count(&mut self, record: &Record) {
        let Some(observation) = record.observation() else {
            return;
        };
        let verdict = &record.verdict;
        more(&mut self.events, index(&observation.what));
        more(&mut self.verdicts, verdict.decision as usize);
        if let Some(rule) = verdict.rule {
            more(&mut self.enforced, rule as usize);
        }
        if let Some(would) = &verdict.would {
            more(&mut self.shadow, would.rule as usize);
        }
    }
}

fn more(counts: &mut [u32], place: usize) {
    if let Some(count) = counts.get_mut(place) {
        *count = count.saturating_add(1);
    }
}
