//! Runs of one task: sessions that were opened with the same words.

use sprag_core::{Digest, Id, Limits, Message, Millis, Timestamp, ToolKind};

use super::judge::Model;
use super::record::Record;

/// An agent and the words that a session was opened with.
pub(crate) type Task<'a> = (Option<&'a Id>, Digest);

/// What a run did, step by step.
type Trace = Vec<(Digest, Digest)>;

impl<'a> Model<'a> {
    /// The task of a message that opens a session.
    pub(crate) fn task(
        &self,
        at: Timestamp,
        message: &'a Message,
        agent: Option<&'a Id>,
    ) -> Option<Task<'a>> {
        let touched = self.touched(&message.to);
        let now = touched.map_or(at, |touched| touched.max(at));
        let opens =
            |record: &Record<'_>| record.facts.opens && record.cells.receiver == Some(&message.to);
        let life = self.history.session_life(&message.to, now);
        let is_opened = life.iter().any(opens);
        message
            .content
            .filter(|_| !is_opened)
            .map(|words| (agent, words))
    }

    /// When the last event of a session was.
    fn touched(&self, session: &Id) -> Option<Timestamp> {
        let records = self.history.records.iter().rev();
        let mut own = records.filter(|record| record.cells.has_session(session));
        own.next().map(|record| record.now)
    }

    /// Whether one more run of the task is told to be one too many.
    pub(crate) fn is_rerun(
        &self,
        task: Task<'a>,
        opened: &Id,
        now: Timestamp,
        limits: &Limits,
    ) -> bool {
        let is_it = |record: &&Record<'a>| record.cells.task == Some(task);
        let life = self
            .history
            .life(now, Millis::DAY, |cells| cells.task == Some(task));
        let runs: Vec<&Record<'a>> = life.iter().filter(is_it).collect();
        let told =
            |record: &&&Record<'a>| record.facts.rerun && now.since(record.now) < Millis::DAY;
        if runs.iter().find(told).is_some() {
            return false;
        }
        let opens: Vec<_> = runs.iter().filter(|record| record.facts.opens).collect();
        let latest = &opens[opens.len().saturating_sub(8)..];
        let traces: Vec<Trace> = latest
            .iter()
            .filter(|record| now.since(record.now) < Millis::DAY)
            .filter_map(|record| self.run(record, opened, now))
            .collect();
        let Some(last) = traces.last() else {
            return false;
        };
        let same = traces.iter().filter(|trace| *trace == last).count();
        same >= limits.session.rerun.get() as usize
    }

    /// What a run did, if it is one that counts.
    fn run(&self, opening: &Record<'a>, opened: &Id, now: Timestamp) -> Option<Trace> {
        let session = opening
            .cells
            .receiver
            .filter(|session| *session != opened)?;
        if self.history.generation(session) != opening.verdict.generation {
            return None;
        }
        let touched = self.touched(session)?;
        let life = self.history.session_life(session, touched);
        let own = life
            .iter()
            .filter(|record| record.cells.session == Some(session));
        let steps: Vec<&Record<'a>> = own.filter(|record| record.facts.judged.is_some()).collect();
        let works = steps.iter().any(|record| {
            let done = record.facts.reported;
            done.is_some_and(|approach| approach.kind != ToolKind::Read)
        });
        let trace: Trace = steps
            .iter()
            .filter_map(|record| record.facts.judged)
            .collect();
        let is_run = trace.len() >= 2 && works && now.since(touched) >= Millis::MINUTE;
        is_run.then_some(trace)
    }
}
