//! Which records a replay of one session must fold.
//!
//! A session's verdicts depend on its own cell and on those it shares: a flow, a pair, an inbox, an
//! agent's budget. What is in a shared cell depends in turn on the other sessions that wrote to it. So
//! the set is closed: every record of every cell that is reached. Kills reach down, so the sessions
//! above one belong to it as well; whoever started it is reached by the record of that start.
//!
//! An agent's cell adds up what all its sessions spend, whether or not a policy limits it. Where none does, no
//! verdict depends on it, and a replay that only repeats verdicts need not fold the agent's whole history.

use std::collections::{BTreeSet, HashSet};

use sprag_core::{CellKey, Id, Message, Observation, Observed};

use crate::error::StoreError;
use crate::log_index::NOTES;
use crate::record::Record;

/// The records that share a cell with `session`, directly or through others, and all notes. `counts_agents` says
/// whether the policy with this digest counts over the sessions of an agent.
pub(crate) fn sharing(
    session: &Id,
    mut touching: impl FnMut(u64) -> Result<Vec<u64>, StoreError>,
    mut record: impl FnMut(u64) -> Result<Record, StoreError>,
    mut counts_agents: impl FnMut(&str) -> Result<bool, StoreError>,
) -> Result<BTreeSet<u64>, StoreError> {
    let mut seqs: BTreeSet<u64> = touching(NOTES)?.into_iter().collect();
    let mut known = HashSet::new();
    let mut open = with_parents(session);
    while let Some(cell) = open.pop() {
        if !known.insert(cell.index()) {
            continue;
        }
        for seq in touching(cell.index())? {
            if !seqs.insert(seq) {
                continue;
            }
            let record = record(seq)?;
            if let Some(observation) = record.observation() {
                let all = counts_agents(&record.policy)?;
                let cells = cells_of(observation).into_iter();
                open.extend(cells.filter(|key| all || !matches!(key, CellKey::Agent(_))));
            }
        }
    }
    Ok(seqs)
}

fn with_parents(session: &Id) -> Vec<CellKey> {
    let parents = session.parents().filter_map(|parent| Id::new(parent).ok());
    parents
        .chain([session.clone()])
        .map(CellKey::Session)
        .collect()
}

/// Every cell that an event may have touched under any policy.
pub(crate) fn cells_of(observation: &Observation) -> Vec<CellKey> {
    let (session, flows, agent) = match &observation.what {
        Observed::Message(message) => return cells_of_message(message),
        Observed::Call(call) => (&call.session, [&call.flow, &call.family], &call.agent),
        Observed::Step(step) => (&step.session, [&step.flow, &step.family], &step.agent),
        Observed::Usage(usage) => (&usage.session, [&usage.flow, &None], &usage.agent),
        Observed::Output(output) => return with_parents(&output.session),
        Observed::Kill(order) | Observed::Reset(order) => return with_parents(&order.session),
        Observed::DispatchStart(dispatch) | Observed::DispatchEnd(dispatch) => {
            return with_parents(&dispatch.session);
        }
        Observed::Approve(answer) | Observed::Decline(answer) => {
            return with_parents(&answer.session);
        }
    };
    let mut cells = with_parents(session);
    cells.extend(flows.into_iter().flatten().cloned().map(CellKey::Flow));
    cells.extend(agent.clone().map(CellKey::Agent));
    cells
}

fn cells_of_message(message: &Message) -> Vec<CellKey> {
    let mut cells = with_parents(&message.to);
    cells.push(CellKey::Inbox(message.to.clone()));
    let flows = message.flow.iter().chain(&message.family);
    cells.extend(flows.cloned().map(CellKey::Flow));
    cells.extend(message.conversation.clone().map(CellKey::Conversation));
    cells.extend(message.to_agent.clone().map(CellKey::AgentInbox));
    cells.extend(message.task.clone().map(CellKey::Task));
    // The pair needs no entry of its own: whoever touches it touches both its sessions.
    if let Some(from) = &message.from {
        cells.extend(with_parents(from));
    }
    cells
}
