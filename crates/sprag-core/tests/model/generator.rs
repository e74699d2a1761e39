//! Random histories, skewed so that every rule has something to say.

use sprag_core::{
    Approach, Call, Dispatch, Hints, Id, Identity, Message, MessageKind, Observation, Observed,
    Order, Source, Step, Usage,
};

use super::clock::{Clock, ClockHabits};
use super::random::Dice;
use super::stock::Stock;

/// What a history is mostly about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Theme {
    Talk,
    Calls,
    Steps,
    Spending,
    Mixed,
}

/// The kinds of events.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Talk,
    Outside,
    Call,
    Step,
    Usage,
    Kill,
    Reset,
    Start,
    End,
}

/// What the events of a history may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Habits {
    pub(crate) clock: ClockHabits,
    /// Calls and steps name each other.
    pub(crate) call_ids: bool,
    /// Two may see one call.
    pub(crate) use_ids: bool,
    /// Operators kill.
    pub(crate) kills: bool,
    /// How many events, in percent, come from a shared identity, in histories that have such.
    pub(crate) shared: usize,
}

impl Habits {
    /// Everything that can happen.
    pub(crate) const ALL: Self = Self {
        clock: ClockHabits {
            goes_back: true,
            pauses: true,
        },
        call_ids: true,
        use_ids: true,
        kills: true,
        shared: 50,
    };

    /// A clock that only goes on, for less than an hour in all, and no calls that wait.
    pub(crate) const SHORT: Self = Self {
        clock: ClockHabits {
            goes_back: false,
            pauses: false,
        },
        call_ids: false,
        use_ids: false,
        ..Self::ALL
    };
}

/// Makes one history.
pub(crate) struct Generator<'s> {
    dice: Dice,
    stock: &'s Stock,
    habits: Habits,
    theme: Theme,
    clock: Clock,
    /// How many of the sessions take part.
    sessions: usize,
    /// How often, in percent, an event says who its agent is.
    agents: usize,
    shared: usize,
    events: Vec<Observation>,
}

/// The history of a seed.
pub(crate) fn history(seed: u64, stock: &Stock, habits: Habits) -> Vec<Observation> {
    let mut dice = Dice::new(seed);
    let clock = Clock::new(&mut dice, habits.clock);
    let length = dice.weighted(&[(20, 12), (40, 25), (30, 40), (10, 70)]);
    let length = dice.within(length / 2, length);
    let themes = [
        Theme::Talk,
        Theme::Talk,
        Theme::Calls,
        Theme::Steps,
        Theme::Spending,
        Theme::Mixed,
    ];
    let generator = Generator {
        theme: *dice.pick(&themes),
        sessions: dice.weighted(&[(20, 1), (25, 2), (25, 3), (30, stock.sessions.len())]),
        agents: *dice.pick(&[0, 10, 40]),
        shared: if dice.chance(20) { habits.shared } else { 0 },
        dice,
        stock,
        habits,
        clock,
        events: Vec::with_capacity(length),
    };
    generator.make(length)
}

impl Generator<'_> {
    fn make(mut self, length: usize) -> Vec<Observation> {
        if self.habits.call_ids && self.theme == Theme::Calls && self.dice.chance(2) {
            self.many_pending();
        }
        while self.events.len() < length {
            let at = self.clock.next(&mut self.dice, &self.events);
            let what = self.again().unwrap_or_else(|| self.fresh());
            self.events.push(Observation { at, what });
        }
        self.events
    }

    /// More calls at once than may wait for their steps.
    fn many_pending(&mut self) {
        let session = self.session();
        for id in 0..self.dice.within(63, 67) {
            let at = self.clock.next(&mut self.dice, &self.events);
            let mut call = self.call(session.clone());
            call.id = Some(self.stock.call_ids[id].clone());
            let what = Observed::Call(call);
            self.events.push(Observation { at, what });
        }
        for id in 0..4 {
            let at = self.clock.next(&mut self.dice, &self.events);
            let mut step = self.bare_step(session.clone());
            step.id = Some(self.stock.call_ids[id].clone());
            step.approach = None;
            let what = Observed::Step(step);
            self.events.push(Observation { at, what });
        }
    }

    /// What makes a loop: one of the last events once more.
    fn again(&mut self) -> Option<Observed> {
        if !self.dice.chance(35) {
            return None;
        }
        let back = self.dice.weighted(&[(60, 0), (30, 1), (10, 2)]);
        Some(self.events.iter().rev().nth(back)?.what.clone())
    }

    fn fresh(&mut self) -> Observed {
        let session = self.session();
        match self.kind() {
            Kind::Talk => Observed::Message(self.talk()),
            Kind::Outside => Observed::Message(self.outside(session)),
            Kind::Call => Observed::Call(self.call(session)),
            Kind::Step => Observed::Step(self.step(session)),
            Kind::Usage => Observed::Usage(self.usage(session)),
            Kind::Kill if !self.habits.kills => Observed::Reset(order(session)),
            Kind::Kill => Observed::Kill(order(session)),
            Kind::Reset => Observed::Reset(order(session)),
            Kind::Start => Observed::DispatchStart(Dispatch {
                session,
                flow: Some(self.flow()),
            }),
            Kind::End => Observed::DispatchEnd(Dispatch {
                session,
                flow: self.maybe_flow(50),
            }),
        }
    }

    fn kind(&mut self) -> Kind {
        let (talk, call, step, usage) = match self.theme {
            Theme::Talk => (70, 2, 8, 1),
            Theme::Calls => (4, 70, 8, 1),
            Theme::Steps => (4, 10, 70, 1),
            Theme::Spending => (10, 20, 15, 40),
            Theme::Mixed => (25, 25, 25, 5),
        };
        self.dice.weighted(&[
            (talk, Kind::Talk),
            (8, Kind::Outside),
            (call, Kind::Call),
            (step, Kind::Step),
            (usage, Kind::Usage),
            (1, Kind::Kill),
            (5, Kind::Reset),
            (3, Kind::Start),
            (2, Kind::End),
        ])
    }

    fn session(&mut self) -> Id {
        let at = self.dice.below(self.sessions);
        self.stock.sessions[at].clone()
    }

    fn flow(&mut self) -> Id {
        self.dice.pick(&self.stock.flows).clone()
    }

    fn maybe_flow(&mut self, percent: usize) -> Option<Id> {
        self.dice.chance(percent).then(|| self.flow())
    }

    fn agent(&mut self) -> Option<Id> {
        let agents = &self.stock.agents;
        self.dice
            .maybe(self.agents, |dice| dice.pick(agents).clone())
    }

    /// Mostly none, which is always right; else one that may be old, current or yet to come.
    fn generation(&mut self) -> Option<u32> {
        self.dice
            .maybe(6, |dice| dice.weighted(&[(70, 1), (20, 2), (10, 3)]))
    }

    fn identity(&mut self) -> Identity {
        match self.dice.chance(self.shared) {
            true => Identity::Shared,
            false => Identity::Exact,
        }
    }

    /// A message between two of at least two sessions; half of them go on where the last arrived.
    fn talk(&mut self) -> Message {
        let sessions = &self.stock.sessions[..self.sessions.max(2)];
        let last_receiver = self
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.what {
                Observed::Message(message) => Some(&message.to),
                _ => None,
            });
        let goes_on = self.dice.chance(50);
        let from = last_receiver
            .filter(|_| goes_on)
            .unwrap_or_else(|| self.dice.pick(sessions))
            .clone();
        let mut to = self.dice.pick(sessions).clone();
        while to == from && !self.dice.chance(15) {
            to = self.dice.pick(sessions).clone();
        }
        let contents = &self.stock.contents;
        Message {
            content: self.dice.maybe(60, |dice| *dice.pick(contents)),
            kind: self.dice.weighted(&[
                (85, MessageKind::Say),
                (9, MessageKind::Spawn),
                (6, MessageKind::Return),
            ]),
            from: Some(from),
            flow: self.maybe_flow(85),
            agent: self.agent(),
            generation: self.generation(),
            identity: self.identity(),
            ..self.outside(to)
        }
    }

    fn outside(&mut self, to: Id) -> Message {
        let conversations = &self.stock.conversations;
        Message {
            from: None,
            to,
            source: self.dice.weighted(&[
                (80, Source::User),
                (10, Source::Applet),
                (10, Source::Scheduler),
            ]),
            flow: self.maybe_flow(80),
            conversation: self.dice.maybe(35, |dice| dice.pick(conversations).clone()),
            agent: None,
            to_agent: self.agent(),
            content: None,
            kind: MessageKind::Say,
            unblock: self.dice.chance(25),
            generation: None,
            identity: Identity::Exact,
        }
    }

    fn call(&mut self, session: Id) -> Call {
        let stock = self.stock;
        let tools = self.dice.weighted(&[
            (50, &stock.harmless),
            (30, &stock.destructive),
            (20, &stock.forbidden),
        ]);
        let destructive = self.dice.maybe(10, |dice| dice.chance(70));
        Call {
            session,
            agent: self.agent(),
            flow: self.maybe_flow(25),
            id: self.maybe_id(self.habits.call_ids, 30, &stock.call_ids[..3]),
            use_id: self.maybe_id(self.habits.use_ids, 8, &stock.use_ids),
            approach: self.dice.pick(tools).clone(),
            hints: Hints {
                destructive,
                ..Hints::default()
            },
            generation: self.generation(),
            identity: self.identity(),
        }
    }

    fn maybe_id(&mut self, may: bool, percent: usize, ids: &[Id]) -> Option<Id> {
        self.dice
            .maybe(percent, |dice| dice.pick(ids).clone())
            .filter(|_| may)
    }

    /// Half the steps complete a call that was made, wherever one names itself.
    fn step(&mut self, session: Id) -> Step {
        let skipped = self.dice.below(3);
        let completes = self.dice.chance(50);
        let calls = self
            .events
            .iter()
            .rev()
            .filter_map(|event| match &event.what {
                Observed::Call(call) if call.id.is_some() || call.use_id.is_some() => Some(call),
                _ => None,
            });
        let call = calls.filter(|_| completes).nth(skipped).cloned();
        let Some(call) = call else {
            return self.bare_step(session);
        };
        let repeats = self.dice.chance(40);
        Step {
            id: call.id,
            use_id: call.use_id,
            approach: Some(call.approach).filter(|_| repeats),
            ..self.bare_step(call.session)
        }
    }

    fn bare_step(&mut self, session: Id) -> Step {
        let stock = self.stock;
        Step {
            session,
            agent: self.agent(),
            flow: self.maybe_flow(15),
            id: self.maybe_id(self.habits.call_ids, 10, &stock.call_ids[..3]),
            use_id: self.maybe_id(self.habits.use_ids, 4, &stock.use_ids),
            approach: self.dice.maybe(90, |dice| -> Approach {
                dice.pick(
                    dice.clone()
                        .weighted(&[(70, &stock.programs), (30, &stock.harmless)]),
                )
                .clone()
            }),
            outcome: stock.outcomes[self.dice.weighted(&[(70, 0), (20, 1), (10, 2)])].clone(),
            generation: self.generation(),
            identity: self.identity(),
        }
    }

    fn usage(&mut self, session: Id) -> Usage {
        Usage {
            session,
            agent: self.agent(),
            flow: self.maybe_flow(50),
            tokens: *self.dice.pick(&[0, 1, 5, 20, 40]),
            cost_micros: *self.dice.pick(&[0, 1, 50, 80, 200]),
            generation: self.generation(),
            identity: self.identity(),
        }
    }
}

fn order(session: Id) -> Order {
    Order {
        session,
        by: None,
        why: None,
    }
}
