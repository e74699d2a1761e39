//! Sub-agents: who started whom, which are open, and what a flow may still start.

use sprag_core::{
    Call, Decision, Id, Limits, Message, MessageKind, Millis, Observed, RuleId, Timestamp, Via,
};

use super::findings::Findings;
use super::history::History;
use super::record::{Cells, Record};
use super::sightings::use_id;

const IDLE: Millis = Millis(30 * 60_000);

/// What an event did to the tree of sub-agents.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kinship<'a> {
    /// `child` was started by `by`, at this generation of it, and counts in `flow`.
    Started {
        child: &'a Id,
        by: &'a Id,
        generation: u32,
        flow: &'a Id,
    },
    /// What a session at the top started counts in `flow`.
    Counts { session: &'a Id, flow: &'a Id },
    /// A session is nobody's sub-agent any more.
    Left(&'a Id),
}

/// What stands above a session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Above {
    pub(crate) is_killed: bool,
    pub(crate) is_stale: bool,
    pub(crate) starters: u32,
}

/// A sub-agent that has not returned.
#[derive(Debug, Clone, Copy)]
struct Open<'a> {
    child: Option<&'a Id>,
    call: Option<&'a Id>,
    by: &'a Id,
    generation: u32,
    last: Timestamp,
}

/// The sub-agents of a flow.
#[derive(Debug, Default)]
pub(crate) struct Starts<'a> {
    open: Vec<Open<'a>>,
    /// Who among the sub-agents started one, and when.
    by_sub_agents: Vec<(&'a Id, Timestamp)>,
}

/// The id by which a call is known.
fn key(what: &Observed) -> Option<&Id> {
    let id = match what {
        Observed::Call(call) => call.id.as_ref(),
        Observed::Step(step) => step.id.as_ref(),
        _ => None,
    };
    use_id(what).or(id)
}

/// Whether a call starts a sub-agent that anybody could tell the end of.
pub(crate) fn starts_one(call: &Call) -> bool {
    call.approach.delegates && (call.use_id.is_some() || call.id.is_some())
}

impl<'a> History<'a> {
    fn kinships(&self) -> impl Iterator<Item = &Kinship<'a>> {
        self.records
            .iter()
            .filter_map(|record| record.facts.kinship.as_ref())
    }

    /// Who started a session that has not returned, and at which generation.
    pub(crate) fn starter(&self, session: &Id) -> Option<(&'a Id, u32)> {
        self.kinships()
            .fold(None, |starter, kinship| match kinship {
                Kinship::Started {
                    child,
                    by,
                    generation,
                    ..
                } if *child == session => Some((*by, *generation)),
                Kinship::Left(left) if *left == session => None,
                _ => starter,
            })
    }

    /// The flow that counts a session's start, else its own.
    fn family(&self, session: &Id) -> Option<&'a Id> {
        self.kinships().fold(None, |family, kinship| match kinship {
            Kinship::Started { child, flow, .. } if *child == session => Some(*flow),
            Kinship::Counts { session: of, flow } if *of == session => Some(*flow),
            Kinship::Left(left) if *left == session => None,
            _ => family,
        })
    }

    pub(crate) fn family_of_message(&self, message: &Message, from: &Id) -> Option<&'a Id> {
        match message.kind {
            MessageKind::Spawn => None,
            MessageKind::Say => self.family(from).filter(|_| self.starter(from).is_some()),
            MessageKind::Return => self.family(from),
        }
    }

    /// The flow in which a call or step of `session` concerns sub-agents.
    pub(crate) fn family_of_deed(&self, what: &'a Observed, session: &'a Id) -> Option<&'a Id> {
        match what {
            Observed::Step(_) => self.family(session),
            Observed::Call(_) if self.starter(session).is_some() => self.family(session),
            Observed::Call(call) if call.approach.delegates => match call.via {
                Via::Hook | Via::Gateway => Some(session),
                _ => Some(call.flow.as_ref().unwrap_or(session)),
            },
            _ => None,
        }
    }

    /// The sessions above one: by its id and by who started whom, up to eight.
    pub(crate) fn above(&self, session: &'a Id) -> Above {
        let mut above = Above {
            is_killed: self.is_killed_by_id(session),
            ..Above::default()
        };
        let mut at = session;
        while let Some((by, generation)) = self.starter(at).filter(|_| above.starters < 8) {
            above.starters += 1;
            above.is_stale |= self.generation(by) > generation;
            above.is_killed |= self.is_killed_by_id(by);
            at = by;
        }
        above
    }

    /// The sub-agents of `flow` as the events up to now left them.
    pub(crate) fn starts(&self, flow: &Id, now: Timestamp) -> Starts<'a> {
        let mut starts = Starts::default();
        let life = self.flow_life(flow, now);
        let before = self.records.len() - life.len();
        for (at, record) in life.iter().enumerate() {
            if record.cells.flow != Some(flow) && record.cells.family != Some(flow) {
                continue;
            }
            let earlier = History::count_resets(&self.records[..before + at], record.cells.session);
            starts.note(record.what, record.cells, flow, (record.now, 1 + earlier));
            starts.add(record, flow, 1 + earlier);
        }
        starts
    }
}

impl<'a> Starts<'a> {
    /// What an event says of open sub-agents, whatever comes of it.
    pub(crate) fn note(
        &mut self,
        what: &'a Observed,
        cells: Cells<'a>,
        flow: &Id,
        (now, generation): (Timestamp, u32),
    ) {
        let Some(session) = cells.session else {
            return;
        };
        for one in &mut self.open {
            if one.child == Some(session) && now.since(one.last) < IDLE {
                one.last = now;
            }
        }
        match what {
            Observed::Message(message) if message.kind == MessageKind::Return => {
                self.open.retain(|one| one.child != Some(session));
            }
            Observed::Message(message)
                if message.kind == MessageKind::Spawn && cells.flow == Some(flow) =>
            {
                self.forget(session, generation, now);
            }
            Observed::Call(call)
                if starts_one(call) && cells.family.or(cells.flow) == Some(flow) =>
            {
                self.forget(session, generation, now);
            }
            Observed::Step(_) => {
                let is_it = |one: &Open<'_>| {
                    one.child.is_none() && one.by == session && one.call == key(what)
                };
                if key(what).is_some()
                    && let Some(at) = self.open.iter().position(is_it)
                {
                    self.open.remove(at);
                }
            }
            _ => {}
        }
    }

    /// What is idle, and what was started before the starter's reset with all that came of it.
    fn forget(&mut self, starter: &Id, generation: u32, now: Timestamp) {
        self.open.retain(|one| now.since(one.last) < IDLE);
        let mut gone: Vec<&Id> = Vec::new();
        loop {
            let is_void = |one: &Open<'a>| {
                one.by == starter && one.generation < generation || gone.contains(&one.by)
            };
            let (void, rest): (Vec<Open<'a>>, _) = self.open.iter().partition(|one| is_void(one));
            if void.is_empty() {
                return;
            }
            gone.extend(void.iter().filter_map(|one| one.child));
            self.open = rest;
        }
    }

    fn add(&mut self, record: &Record<'a>, flow: &Id, generation: u32) {
        let (Some(session), true) = (record.cells.session, record.facts.accepted) else {
            return;
        };
        match (record.what, record.facts.kinship) {
            (Observed::Message(message), Some(Kinship::Started { child, by, .. }))
                if message.kind == MessageKind::Spawn =>
            {
                if let Some(at) = self.announced(message, session) {
                    let is_named = self.open[at].child.is_some();
                    let one = &mut self.open[at];
                    one.child = Some(child);
                    one.last = record.now;
                    if is_named {
                        (one.by, one.generation) = (by, generation);
                    }
                    return;
                }
                self.open.push(Open {
                    child: Some(child),
                    call: None,
                    by: session,
                    generation,
                    last: record.now,
                });
            }
            (Observed::Call(call), _)
                if starts_one(call)
                    && !record.facts.repeats
                    && record.cells.family.or(record.cells.flow) == Some(flow) =>
            {
                self.open.push(Open {
                    child: None,
                    call: key(record.what),
                    by: session,
                    generation,
                    last: record.now,
                });
            }
            _ => return,
        }
        if record.facts.by_sub_agent {
            self.by_sub_agents.push((session, record.now));
        }
    }

    /// The start that a `spawn` is about, if it was counted before.
    fn announced(&self, message: &Message, from: &Id) -> Option<usize> {
        let find = |is: &dyn Fn(&Open<'_>) -> bool| self.open.iter().position(is);
        if let Some(known) = find(&|one| one.child == Some(&message.to)) {
            return Some(known);
        }
        if let Some(id) = &message.use_id {
            return find(&|one| one.child.is_none() && one.call == Some(id));
        }
        let own = find(&|one| one.child.is_none() && one.by == from);
        let is_below = message.to.parents().next() == Some(from.as_str());
        own.or_else(|| find(&|one| is_below && one.child.is_none()))
    }

    /// Whose start a `spawn` is: the one that called for it, else the sender.
    pub(crate) fn whose(&self, message: &Message, sender: (&'a Id, u32)) -> (&'a Id, u32) {
        let known = self.announced(message, sender.0).map(|at| self.open[at]);
        match known {
            Some(one) if one.child.is_none() => (one.by, one.generation),
            _ => sender,
        }
    }

    /// Whether a `spawn` is a start that was not counted yet.
    pub(crate) fn is_new(&self, message: &Message, from: &Id) -> bool {
        self.announced(message, from).is_none()
    }

    /// `flow.spawns` on one more start by `session`.
    pub(crate) fn judge(
        &self,
        (session, is_sub_agent): (&Id, bool),
        now: Timestamp,
        limits: &Limits,
        findings: &mut Findings,
    ) {
        let spawns = &limits.flow.spawns;
        let max = spawns.per_minute.get() as usize;
        let recent: Vec<_> = self
            .by_sub_agents
            .iter()
            .rev()
            .filter(|(_, at)| now.since(*at) < Millis::MINUTE)
            .take(max)
            .collect();
        let is_fast = recent.len() == max && recent.iter().any(|(by, _)| *by != session);
        let live = self.open.iter().filter(|one| now.since(one.last) < IDLE);
        let open = live.count() + 1;
        let (warn, deny) = match is_sub_agent {
            true => (spawns.warn, spawns.deny),
            false => (spawns.root_warn, spawns.root_deny),
        };
        let decision = match () {
            () if is_sub_agent && is_fast => Decision::Deny,
            () if open > warn.get() as usize && open > deny.get() as usize => Decision::Deny,
            () if open > warn.get() as usize => Decision::Warn,
            () => return,
        };
        findings.add(limits, RuleId::FlowSpawns, decision);
    }
}
