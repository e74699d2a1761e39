//! The whole past, and the questions that rules ask of it.

use sprag_core::{Id, Millis, Observed, Timestamp};

use super::record::{Cells, Mark, Record};

/// Everything that happened, in order.
#[derive(Debug, Default)]
pub(crate) struct History<'a> {
    pub(crate) records: Vec<Record<'a>>,
}

impl<'a> History<'a> {
    /// The later of `at` and the newest time in the cells.
    pub(crate) fn now(&self, at: Timestamp, cells: &Cells<'_>) -> Timestamp {
        self.records
            .iter()
            .filter(|record| record.cells.share(cells))
            .map(|record| record.now)
            .fold(at, Timestamp::max)
    }

    /// The records since a cell last read as new: since it was idle for `idle`.
    pub(crate) fn life(
        &self,
        now: Timestamp,
        idle: Millis,
        touches: impl Fn(&Cells<'a>) -> bool,
    ) -> &[Record<'a>] {
        let mut start = 0;
        let mut touched = None;
        for (at, record) in self.records.iter().enumerate() {
            if touches(&record.cells) {
                if is_idle(record.now, touched, idle) {
                    start = at;
                }
                touched = Some(record.now);
            }
        }
        if is_idle(now, touched, idle) {
            start = self.records.len();
        }
        &self.records[start..]
    }

    /// The records that a session still knows of: since its last reset or its last idle day.
    pub(crate) fn session_life(&self, session: &Id, now: Timestamp) -> &[Record<'a>] {
        let life = self.life(now, Millis::DAY, |cells| cells.has_session(session));
        let reset = life.iter().rposition(|record| resets(record, session));
        &life[reset.map_or(0, |at| at + 1)..]
    }

    /// The same with the reset itself, which is the first event of a new generation.
    pub(crate) fn lifetime(&self, session: &Id, now: Timestamp) -> &[Record<'a>] {
        let life = self.life(now, Millis::DAY, |cells| cells.has_session(session));
        let reset = life.iter().rposition(|record| resets(record, session));
        &life[reset.unwrap_or(0)..]
    }

    /// Whether a session was ever seen and had an event in the last day.
    pub(crate) fn is_live(&self, session: &str, now: Timestamp) -> bool {
        let Ok(id) = Id::new(session) else {
            return false;
        };
        let mut records = self.records.iter().rev();
        let last = records.find(|record| record.cells.has_session(&id));
        last.is_some_and(|last| now.since(last.now) < Millis::DAY)
    }

    /// How many steps the session ever reported that were work.
    pub(crate) fn steps(&self, session: &Id) -> usize {
        let is_step =
            |record: &&Record<'_>| record.facts.works && record.cells.session == Some(session);
        self.records.iter().filter(is_step).count()
    }

    /// It starts at 1 and grows with each reset.
    pub(crate) fn generation(&self, session: &Id) -> u32 {
        1 + Self::count_resets(&self.records, Some(session))
    }

    /// How often a session was reset in `records`.
    pub(crate) fn count_resets(records: &[Record<'_>], session: Option<&Id>) -> u32 {
        let is_reset = |record: &&Record<'_>| session.is_some_and(|id| resets(record, id));
        let resets = records.iter().filter(is_reset).count();
        u32::try_from(resets).expect("histories are short")
    }

    /// The first agent that an accepted event named for the session.
    pub(crate) fn agent(&self, session: &Id) -> Option<&'a Id> {
        self.records
            .iter()
            .filter(|record| record.facts.accepted && record.cells.has_session(session))
            .find_map(|record| named_agent(record, session))
    }

    /// Whether the session or one that its id names carries a kill mark. Marks outlive expiry, not a reset.
    pub(crate) fn is_killed_by_id(&self, session: &Id) -> bool {
        self.has_mark(session.as_str(), Mark::Kill)
            || session
                .parents()
                .any(|parent| self.has_mark(parent, Mark::Kill))
    }

    /// Whether the session carries a block mark.
    pub(crate) fn is_blocked(&self, session: &Id) -> bool {
        self.has_mark(session.as_str(), Mark::Block)
    }

    fn has_mark(&self, session: &str, mark: Mark) -> bool {
        let mut marked = false;
        for record in &self.records {
            let is = |id: Option<&Id>| id.is_some_and(|id| id.as_str() == session);
            if record.facts.mark == Some(mark) && is(record.cells.session) {
                marked = true;
            }
            let cleared = matches!(record.what, Observed::Reset(_)) && is(record.cells.session);
            let lifted = record.facts.unblocks && is(record.cells.receiver) && mark == Mark::Block;
            if cleared || lifted {
                marked = false;
            }
        }
        marked
    }

    /// The flow of the latest dispatch that still runs in the session.
    pub(crate) fn running_dispatch(&self, session: &Id, now: Timestamp) -> Option<&'a Id> {
        let mut running: Vec<&'a Id> = Vec::new();
        for record in self.session_life(session, now) {
            if record.cells.session != Some(session) {
                continue;
            }
            match record.what {
                Observed::DispatchStart(dispatch) => {
                    running.retain(|flow| Some(*flow) != dispatch.flow.as_ref());
                    running.extend(&dispatch.flow);
                }
                Observed::DispatchEnd(dispatch) => match &dispatch.flow {
                    Some(ended) => running.retain(|flow| *flow != ended),
                    None => drop(running.pop()),
                },
                _ => {}
            }
        }
        running.pop()
    }
}

fn is_idle(now: Timestamp, touched: Option<Timestamp>, idle: Millis) -> bool {
    touched.is_some_and(|touched| now.since(touched) >= idle)
}

fn resets(record: &Record<'_>, session: &Id) -> bool {
    matches!(record.what, Observed::Reset(order) if order.session == *session)
}

fn named_agent<'a>(record: &Record<'a>, session: &Id) -> Option<&'a Id> {
    let (agent, to_agent) = match record.what {
        Observed::Message(message) => (&message.agent, &message.to_agent),
        Observed::Call(call) => (&call.agent, &None),
        Observed::Step(step) => (&step.agent, &None),
        Observed::Usage(usage) => (&usage.agent, &None),
        Observed::Output(output) => (&output.agent, &None),
        _ => (&None, &None),
    };
    let as_actor = agent
        .as_ref()
        .filter(|_| record.cells.session == Some(session));
    let as_receiver = to_agent
        .as_ref()
        .filter(|_| record.cells.receiver == Some(session));
    as_actor.or(as_receiver)
}
