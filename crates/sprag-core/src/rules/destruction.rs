//! What a call destroys by its tool's name and by its commands, judged and counted together.

use super::destructive::{self, Destroys};
use super::effects::{self, Losses};
use crate::cell::{AgentCell, CallLosses, SessionCell};
use crate::effect::ObservedEffect;
use crate::finding::Findings;
use crate::observation::Call;
use crate::policy::Limits;
use crate::time::Timestamp;

/// What one call destroys.
pub(crate) struct Destruction<'c> {
    pub(crate) destroys: Option<Destroys>,
    losses: Losses<'c>,
}

impl<'c> Destruction<'c> {
    pub(crate) fn of(call: &'c Call, limits: &Limits) -> Self {
        let near = destructive::near_targets(call, &limits.destructive);
        let losses = if call.effects.is_empty() && near.is_empty() {
            Losses::default()
        } else {
            Losses::of(call, &limits.destructive, &near)
        };
        Self {
            destroys: Destroys::of(call, &limits.destructive),
            losses,
        }
    }

    /// Whether it destroys nothing, as nearly every call.
    pub(crate) fn is_empty(&self) -> bool {
        self.destroys.is_none() && self.losses.is_empty()
    }

    /// Judges all destructive rules before the call is let through.
    pub(crate) fn judge(
        &self,
        call: &Call,
        (session, mut agent): (&mut SessionCell, Option<&mut AgentCell>),
        now: Timestamp,
        limits: &Limits,
        found: &mut Findings,
    ) {
        if let Some(destroys) = &self.destroys {
            let cells = (&mut *session, agent.as_deref_mut());
            destructive::judge(destroys, call, cells, now, limits, found);
        }
        if !self.losses.is_empty() {
            effects::judge(&self.losses, call, (session, agent), now, limits, found);
        }
    }

    /// What counts if the call runs.
    pub(crate) fn losses(&self) -> CallLosses {
        let mut losses = CallLosses::default();
        if let Some(destroys) = &self.destroys {
            losses.tool = Some(destroys.targets().to_vec());
            losses.tool_name = destroys.text().map(Into::into);
        }
        self.losses.counted(&mut losses);
        losses
    }

    /// The effects that a person may be asked about: program with subcommand, what happens, and to what.
    pub(crate) fn deeds(&self) -> impl Iterator<Item = &'c ObservedEffect> {
        self.losses.judged()
    }
}
