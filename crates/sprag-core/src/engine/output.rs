//! What a model said: it has happened, so it is only warned about, and a block acts from the next call.

use super::settle::{Stage, answer, settle};
use super::stopped;
use crate::cell::Cells;
use crate::finding::Findings;
use crate::id::Id;
use crate::observation::Output;
use crate::policy::Policy;
use crate::rules::output as rule;
use crate::time::Timestamp;
use crate::verdict::Verdict;

pub(super) fn judge(
    policy: &Policy,
    output: &Output,
    cells: &mut Cells,
    now: Timestamp,
) -> Verdict {
    let agent = output.agent.as_ref().map(Id::as_str);
    let limits = policy.limits_for(agent, output.session.as_str());
    let Some(mut cell) = cells.session.take() else {
        return Verdict::default();
    };
    let gate = stopped(&output.session, output.generation, &cell, cells);
    let verdict = match gate {
        Some(finding) => answer(finding, &cell, output.identity, Stage::After),
        None => {
            let mut found = Findings::default();
            // A blocked agent may talk: it should sum up.
            if cell.blocked().is_none() {
                rule::judge(output, &mut cell.held.output, &limits, &mut found);
            }
            cell.stick(output.agent.as_ref());
            settle(found, &mut cell, output.identity, Stage::After, now)
        }
    };
    cells.session = Some(cell);
    verdict
}
