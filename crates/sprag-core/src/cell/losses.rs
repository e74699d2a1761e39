//! What a call destroys if it runs, as the memories of destructive calls keep it.
//!
//! A call that is let through is counted at once. A call that is asked about is not, but its client may run
//! it all the same: then its step counts what the call would have. Until then it is kept beside the pending
//! call.
//!
//! Bounded by: 64 targets of a tool, 16 of commands, 5 names.

use super::{AgentCell, Destructive, SessionCell};
use crate::policy::{Limits, Scope, Widest};
use crate::time::Timestamp;

/// What one call destroys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CallLosses {
    /// A destructive tool, with its targets.
    pub(crate) tool: Option<Vec<u64>>,
    /// What the tool is on, in clear.
    pub(crate) tool_name: Option<Box<str>>,
    /// What commands destroy outside of the workspace.
    pub(crate) far: Vec<u64>,
    /// Not all of that can be replaced.
    pub(crate) counts: bool,
    pub(crate) far_names: Vec<Box<str>>,
    /// What is removed in the workspace.
    pub(crate) near: Vec<u64>,
}

impl CallLosses {
    pub(crate) fn is_empty(&self) -> bool {
        self.tool.is_none() && self.far.is_empty() && self.near.is_empty()
    }

    /// Remembers a call that ran.
    pub(crate) fn count(
        &self,
        (session, mut agent): (&mut SessionCell, Option<&mut AgentCell>),
        now: Timestamp,
        limits: &Limits,
        widest: Widest,
    ) {
        let (span, keep) = (widest.destructive_window, widest.destructive_calls);
        let by_agent = limits.destructive.scope == Scope::Agent;
        if let Some(targets) = &self.tool {
            let memory: &mut Destructive = match agent.as_deref_mut() {
                Some(agent) if by_agent => &mut agent.destructive,
                _ => session.held.destructive.get_or_insert_default(),
            };
            memory.push(targets, now, span, keep);
            if let Some(name) = &self.tool_name {
                memory.name(name, now);
            }
        }
        if !self.near.is_empty() {
            let near = session.held.near.get_or_insert_default();
            near.push(&self.near, now);
        }
        if self.far.is_empty() {
            return;
        }
        let memory: &mut Destructive = match agent {
            Some(agent) if by_agent => &mut agent.commands,
            _ => session.held.commands.get_or_insert_default(),
        };
        memory.push_targets(&self.far, now, span, keep);
        if self.counts {
            memory.window.push(now, span, keep);
            for name in &self.far_names {
                memory.name(name, now);
            }
        }
    }
}
