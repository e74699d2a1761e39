//! The model itself: resolves what an event leaves open, asks the rules, keeps the record.

use sprag_core::{
    Code, Decision, Dispatch, Id, Identity, LimitsRef, Observation, Observed, Order, Policy,
    Timestamp,
};

use super::findings::{Findings, Stage};
use super::history::History;
use super::record::{Cells, EventFacts, Mark, ModelError, ModelVerdict, Record};
use super::sightings::{FirstSight, use_id};
use super::starts::Kinship;

/// A naive engine: a policy and all that happened.
pub(crate) struct Model<'a> {
    policy: &'a Policy,
    /// A person stopped everything that agents do.
    pub(crate) panics: bool,
    pub(crate) history: History<'a>,
}

/// A session at the moment of an event.
pub(crate) struct Actor<'h, 'a> {
    pub(crate) id: &'a Id,
    pub(crate) agent: Option<&'a Id>,
    pub(crate) limits: LimitsRef<'a>,
    pub(crate) generation: u32,
    pub(crate) is_killed: bool,
    /// One above it was reset since it was started.
    pub(crate) is_orphaned: bool,
    /// It was started as a sub-agent and has not returned.
    pub(crate) is_sub_agent: bool,
    /// How many started it one after the other.
    pub(crate) starters: u32,
    pub(crate) is_blocked: bool,
    /// The records since the session last read as new.
    pub(crate) life: &'h [Record<'a>],
}

/// A call, step or usage after resolution.
pub(crate) struct Action<'h, 'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) actor: Actor<'h, 'a>,
    pub(crate) history: &'h History<'a>,
    pub(crate) what: &'a Observed,
    pub(crate) now: Timestamp,
    pub(crate) cells: Cells<'a>,
    pub(crate) stage: Stage,
}

/// What a call, step or usage says of itself.
pub(crate) struct Origin<'a> {
    pub(crate) session: &'a Id,
    pub(crate) agent: Option<&'a Id>,
    pub(crate) flow: Option<&'a Id>,
    pub(crate) generation: Option<u32>,
    pub(crate) identity: Identity,
}

/// What judging an event comes to: its findings and what it did.
pub(crate) type ModelOutcome<'a> = (Findings, EventFacts<'a>);

impl<'a> Model<'a> {
    pub(crate) fn new(policy: &'a Policy) -> Self {
        Self {
            policy,
            panics: false,
            history: History::default(),
        }
    }

    /// Judges one event and keeps it.
    pub(crate) fn check(&mut self, event: &'a Observation) -> Result<ModelVerdict, ModelError> {
        let at = event.at;
        self.panics = event.panic.is_some();
        let record = match &event.what {
            Observed::Message(message) => match &message.from {
                Some(from) => self.agent_message(at, &event.what, message, from)?,
                None => self.outside_message(at, &event.what, message),
            },
            Observed::Call(_) | Observed::Step(_) | Observed::Usage(_) | Observed::Output(_) => {
                self.deed(at, &event.what)?
            }
            Observed::Kill(order) | Observed::Reset(order) => self.order(at, &event.what, order),
            Observed::DispatchStart(dispatch) | Observed::DispatchEnd(dispatch) => {
                self.dispatch(at, &event.what, dispatch)
            }
            Observed::Approve(answer) | Observed::Decline(answer) => {
                self.answer(at, &event.what, answer)?
            }
        };
        let verdict = record.verdict.clone();
        self.history.records.push(record);
        Ok(verdict)
    }

    /// The sticky agent of a session, else the event's own word.
    pub(crate) fn agent_of(&self, session: &Id, named: Option<&'a Id>) -> Option<&'a Id> {
        self.history.agent(session).or(named)
    }

    pub(crate) fn limits_of(&self, session: &Id, agent: Option<&Id>) -> LimitsRef<'a> {
        self.policy
            .limits_for(agent.map(Id::as_str), session.as_str())
    }

    /// The flow that the session's running dispatch lends to what names none.
    pub(crate) fn inherited_flow(&self, at: Timestamp, session: &'a Id) -> Option<&'a Id> {
        let now = self.history.now(at, &Cells::of_session(session));
        self.history.running_dispatch(session, now)
    }

    pub(crate) fn actor(
        &self,
        id: &'a Id,
        agent: Option<&'a Id>,
        limits: LimitsRef<'a>,
        now: Timestamp,
    ) -> Actor<'_, 'a> {
        let above = self.history.above(id);
        Actor {
            id,
            agent,
            limits,
            generation: self.history.generation(id),
            is_killed: above.is_killed,
            is_orphaned: above.is_stale && !above.is_killed,
            is_sub_agent: self.history.starter(id).is_some(),
            starters: above.starters,
            is_blocked: self.history.is_blocked(id),
            life: self.history.session_life(id, now),
        }
    }

    fn deed(&self, at: Timestamp, what: &'a Observed) -> Result<Record<'a>, ModelError> {
        let origin = self.origin(at, what);
        let agent = self.agent_of(origin.session, origin.agent);
        let cells = self.deed_cells(what, &origin, agent);
        let now = self.deed_time(at, what, cells, origin.session);
        let limits = self.limits_of(origin.session, agent);
        let deed = Action {
            policy: self.policy,
            actor: self.actor(origin.session, agent, limits, now),
            history: &self.history,
            what,
            now,
            cells,
            stage: match what {
                Observed::Call(_) => Stage::Call,
                Observed::Usage(usage) if usage.pending => Stage::Message,
                _ => Stage::After,
            },
        };
        let generation = deed.actor.generation;
        if origin.generation.is_some_and(|named| named > generation) {
            return Err(ModelError::NewerGeneration);
        }
        let is_stale = origin.generation.is_some_and(|named| named < generation);
        let is_orphaned = deed.actor.is_orphaned;
        let is_stopped = is_stale || is_orphaned || deed.actor.is_killed;
        let is_panic =
            self.panics && !is_stopped && !matches!(what, Observed::Usage(_) | Observed::Output(_));
        let first = self.first_sight(now, origin.session, what);
        let first = first.filter(|_| !is_stopped && !is_panic);
        let asked_before = first.as_ref().is_some_and(|first| first.asked);
        if let Some(record) = first.and_then(|first| deed.second_sight(first, what)) {
            return Ok(record);
        }
        let (findings, mut facts) = match what {
            _ if is_stale || is_orphaned => stale(),
            _ if is_panic => deed.panic(what),
            Observed::Call(call) => deed.call(call),
            Observed::Step(step) => deed.step(step),
            Observed::Usage(usage) => deed.usage(usage),
            Observed::Output(output) => deed.output(output),
            _ => unreachable!("only calls, steps and usage are deeds"),
        };
        facts.asked_before = asked_before;
        facts.mark = findings.mark(origin.identity);
        let mut verdict = ModelVerdict {
            generation,
            ..findings.verdict(origin.identity, deed.stage)
        };
        deed.name_question(what, &mut verdict, &mut facts);
        let counts = matches!(what, Observed::Usage(_)) && facts.accepted;
        let above = counts.then(|| self.with_live_above(cells, origin.session, now));
        Ok(Record {
            what,
            now,
            cells: above.unwrap_or(cells),
            facts,
            verdict,
        })
    }

    fn deed_cells(
        &self,
        what: &'a Observed,
        origin: &Origin<'a>,
        agent: Option<&'a Id>,
    ) -> Cells<'a> {
        Cells {
            session: Some(origin.session),
            alias: use_id(what),
            flow: origin.flow,
            family: self
                .history
                .family_of_deed(what, origin.session)
                .filter(|family| Some(*family) != origin.flow),
            agent: agent
                .filter(|_| self.policy.counts_agents() || matches!(what, Observed::Usage(_)))
                .filter(|_| !matches!(what, Observed::Output(_))),
            ..Cells::default()
        }
    }

    /// Usage may touch the sessions above too.
    fn deed_time(
        &self,
        at: Timestamp,
        what: &Observed,
        cells: Cells<'a>,
        session: &'a Id,
    ) -> Timestamp {
        match what {
            Observed::Usage(_) => self.history.now(at, &cells.with_above(session)),
            _ => self.history.now(at, &cells),
        }
    }

    /// With the sessions above in which usage counts.
    fn with_live_above(&self, cells: Cells<'a>, session: &'a Id, now: Timestamp) -> Cells<'a> {
        let mut cells = cells.with_above(session);
        for id in &mut cells.above {
            id.take_if(|id| !self.history.is_live(id, now));
        }
        cells
    }

    fn order(&self, at: Timestamp, what: &'a Observed, order: &'a Order) -> Record<'a> {
        let mut record = self.unjudged(at, what, &order.session);
        match what {
            Observed::Kill(_) => record.facts.mark = Some(Mark::Kill),
            _ => {
                record.verdict.generation += 1;
                let is_stale = self.history.above(&order.session).is_stale;
                record.facts.kinship = is_stale.then_some(Kinship::Left(&order.session));
            }
        }
        record
    }

    fn dispatch(&self, at: Timestamp, what: &'a Observed, dispatch: &'a Dispatch) -> Record<'a> {
        self.unjudged(at, what, &dispatch.session)
    }

    pub(crate) fn unjudged(
        &self,
        at: Timestamp,
        what: &'a Observed,
        session: &'a Id,
    ) -> Record<'a> {
        let cells = Cells::of_session(session);
        Record {
            what,
            now: self.history.now(at, &cells),
            cells,
            facts: EventFacts::default(),
            verdict: ModelVerdict {
                generation: self.history.generation(session),
                ..ModelVerdict::default()
            },
        }
    }
}

impl<'a> Action<'_, 'a> {
    /// A call or step that was reported before: answered as then, or let run by the client that was asked
    /// about it. None if it is to be judged again.
    fn second_sight(&self, first: FirstSight, what: &'a Observed) -> Option<Record<'a>> {
        let (now, cells) = (self.now, self.cells);
        if !first.asked {
            return Some(repeated(what, now, cells, first.verdict));
        }
        let Observed::Call(call) = what else {
            return None;
        };
        let code = first.verdict.approval.filter(|_| first.passed_hook)?;
        let facts = self.let_run_by_client(call, &code)?;
        let verdict = ModelVerdict {
            generation: self.actor.generation,
            approval: Some(code),
            ..ModelVerdict::default()
        };
        Some(Record {
            what,
            now,
            cells,
            facts,
            verdict,
        })
    }
}

/// The gate of old generations: such an event is an attempt and a sighting, and nothing else.
pub(crate) fn stale<'a>() -> ModelOutcome<'a> {
    let code = Code::SessionStaleGeneration;
    (
        Findings::killed(Decision::Kill, code),
        EventFacts::default(),
    )
}

impl<'a> Action<'_, 'a> {
    /// The gate of a panic: a call is remembered as a refused one, and a step ends the wait of its call.
    fn panic(&self, what: &'a Observed) -> ModelOutcome<'a> {
        let mut facts = EventFacts {
            panic: true,
            ..EventFacts::default()
        };
        match what {
            Observed::Call(call) => facts.pending = self.refused(call),
            Observed::Step(step) => {
                let key = step.use_id.as_ref().or(step.id.as_ref());
                let pending = key.and_then(|key| self.pending(key));
                facts.completes = pending.map(|call| call.key);
            }
            _ => {}
        }
        let decision = match self.stage {
            Stage::After => Decision::Warn,
            _ => Decision::Deny,
        };
        (Findings::panic(decision), facts)
    }
}

/// The gate of killed sessions.
pub(crate) fn killed(decision: Decision) -> Findings {
    Findings::killed(decision, Code::SessionKilledLoopGuard)
}

/// A call or step that was reported before: it counts nothing.
fn repeated<'a>(
    what: &'a Observed,
    now: Timestamp,
    cells: Cells<'a>,
    verdict: ModelVerdict,
) -> Record<'a> {
    let facts = EventFacts {
        repeats: true,
        ..EventFacts::default()
    };
    Record {
        what,
        now,
        cells,
        facts,
        verdict,
    }
}
