//! Taking back a cell whose time is ahead of the clock.
//!
//! The time in a cell never goes back by itself, so that a clock that does counts nothing less. But a clock that
//! once jumped ahead, for a wrong battery or a wrong zone, would leave cells in which no window slides on until
//! the real time has caught up. A store that notices this says so in the event, and the fold takes the cell
//! back: what it holds counts as having happened just now.
//!
//! Bounded by: what the cell holds.
//! Odd cases: up to five minutes are left alone, since the clocks of several hosts differ; a replay finds the
//! mark in the record and does the same.

use super::approvals::Approval;
use super::calls::Calls;
use super::progress::Progress;
use super::session::ResettableState;
use super::spent::RESERVED_FOR;
use super::starts::OpenStarts;
use super::window::Window;
use super::{
    AgentCell, AliasCell, ConversationCell, Destructive, FlowCell, InboxCell, NearLosses, PairCell,
    SessionCell, Spending, TaskCell,
};
use crate::time::{Millis, Timestamp};

/// So far a cell may be ahead.
pub(crate) const CLOCK_TOLERANCE: Millis = Millis(300_000);

/// A cell, or a part of one, that holds times.
pub(super) trait Rewind {
    /// Makes every time that is after `to` be `to`.
    fn rewind(&mut self, to: Timestamp);
}

impl Rewind for Timestamp {
    fn rewind(&mut self, to: Timestamp) {
        *self = (*self).min(to);
    }
}

impl<T: Rewind> Rewind for Option<T> {
    fn rewind(&mut self, to: Timestamp) {
        if let Some(held) = self {
            held.rewind(to);
        }
    }
}

impl<T: Rewind> Rewind for Box<T> {
    fn rewind(&mut self, to: Timestamp) {
        (**self).rewind(to);
    }
}

impl Rewind for Window {
    fn rewind(&mut self, to: Timestamp) {
        self.0.iter_mut().for_each(|at| at.rewind(to));
    }
}

impl Rewind for Calls {
    fn rewind(&mut self, to: Timestamp) {
        self.recent.iter_mut().for_each(|(_, at)| at.rewind(to));
    }
}

impl Rewind for Destructive {
    fn rewind(&mut self, to: Timestamp) {
        self.window.rewind(to);
        self.targets.iter_mut().for_each(|(_, at)| at.rewind(to));
        self.names.iter_mut().for_each(|(_, at)| at.rewind(to));
    }
}

impl Rewind for NearLosses {
    fn rewind(&mut self, to: Timestamp) {
        self.targets.iter_mut().for_each(|(_, at)| at.rewind(to));
    }
}

impl Rewind for OpenStarts {
    fn rewind(&mut self, to: Timestamp) {
        self.list.iter_mut().for_each(|one| one.last.rewind(to));
        let by_sub_agents = &mut self.by_sub_agents;
        by_sub_agents.iter_mut().for_each(|(_, at)| at.rewind(to));
    }
}

impl Rewind for Spending {
    /// A reservation is open for no longer than one that is made now.
    fn rewind(&mut self, to: Timestamp) {
        let latest = to.plus(RESERVED_FOR);
        let reserved = &mut self.reserved;
        reserved
            .iter_mut()
            .for_each(|held| held.until.rewind(latest));
    }
}

impl Rewind for Approval {
    /// It stays open for as long as it was.
    fn rewind(&mut self, to: Timestamp) {
        let back = self.asked.since(to).0;
        self.asked.rewind(to);
        self.until = Timestamp(self.until.0.saturating_sub(back));
    }
}

impl Rewind for Progress {
    fn rewind(&mut self, to: Timestamp) {
        self.news.1.rewind(to);
        let waited = &mut self.waited;
        let moments = [&mut waited.lull, &mut waited.short_lull, &mut waited.slow];
        let looks = self
            .pasts
            .kept_mut()
            .iter_mut()
            .map(|past| &mut past.tenths);
        let samples = self.rounds.iter_mut().map(|sample| &mut sample.tenths);
        for tenths in looks.chain(samples).chain(moments) {
            rewind_tenths(tenths, to);
        }
    }
}

/// A time in tenths of a second, modulo 2^32: what is less than half of that ahead is ahead.
fn rewind_tenths(tenths: &mut u32, to: Timestamp) {
    let to = u32::try_from((to.0 / 100) & u64::from(u32::MAX)).unwrap_or_default();
    let ahead = tenths.wrapping_sub(to);
    if *tenths != 0 && ahead < u32::MAX / 2 {
        *tenths = to;
    }
}

impl Rewind for ResettableState {
    fn rewind(&mut self, to: Timestamp) {
        for at in [
            &mut self.since,
            &mut self.attended_at,
            &mut self.run_started,
            &mut self.pace.answered,
            &mut self.pace.active,
        ] {
            at.rewind(to);
        }
        if let Some(refusals) = self.refusals.used() {
            refusals.counted_at.rewind(to);
            refusals.identical_at.rewind(to);
        }
        self.calls.rewind(to);
        if let Some(spent) = self.spent.used() {
            spent.rewind(to);
        }
        self.destructive.rewind(to);
        self.commands.rewind(to);
        self.near.rewind(to);
        self.progress.rewind(to);
        self.pending.iter_mut().for_each(|call| call.at.rewind(to));
        let approvals = self.approvals.used().map(|held| &mut held.list);
        let approvals = approvals.into_iter().flatten();
        approvals.for_each(|approval| approval.rewind(to));
    }
}

impl Rewind for SessionCell {
    fn rewind(&mut self, to: Timestamp) {
        self.touched.rewind(to);
        for mark in [&mut self.killed, &mut self.blocked].into_iter().flatten() {
            mark.at.rewind(to);
        }
        self.held.rewind(to);
    }
}

impl Rewind for FlowCell {
    fn rewind(&mut self, to: Timestamp) {
        self.touched.rewind(to);
        if let Some((_, at)) = &mut self.started {
            at.rewind(to);
        }
        self.chain_since.rewind(to);
        self.last_attempt.rewind(to);
        self.starts.rewind(to);
        self.spent.rewind(to);
        self.members
            .iter_mut()
            .for_each(|member| member.last.rewind(to));
        self.calls.rewind(to);
        self.new_calls.rewind(to);
        self.news.at.rewind(to);
    }
}

impl Rewind for PairCell {
    fn rewind(&mut self, to: Timestamp) {
        self.touched.rewind(to);
        self.talk.rewind(to);
    }
}

impl Rewind for InboxCell {
    fn rewind(&mut self, to: Timestamp) {
        self.touched.rewind(to);
        self.arrived.rewind(to);
        self.new_arrived.rewind(to);
    }
}

impl Rewind for ConversationCell {
    fn rewind(&mut self, to: Timestamp) {
        self.touched.rewind(to);
    }
}

impl Rewind for AgentCell {
    fn rewind(&mut self, to: Timestamp) {
        self.touched.rewind(to);
        self.day_since.rewind(to);
        self.spent.rewind(to);
        self.destructive.rewind(to);
        self.commands.rewind(to);
    }
}

impl Rewind for TaskCell {
    fn rewind(&mut self, to: Timestamp) {
        self.touched.rewind(to);
        self.warned.rewind(to);
        self.runs.iter_mut().for_each(|run| run.at.rewind(to));
    }
}

impl Rewind for AliasCell {
    fn rewind(&mut self, to: Timestamp) {
        self.touched.rewind(to);
        for seen in &mut self.seen {
            for report in [&mut seen.call, &mut seen.step].into_iter().flatten() {
                report.at.rewind(to);
            }
        }
    }
}
