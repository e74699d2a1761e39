//! Random histories, skewed so that every rule has something to say.

use sprag_core::{Dispatch, Id, Identity, Observation, Observed, Order};

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
    pub(crate) dice: Dice,
    pub(crate) stock: &'s Stock,
    pub(crate) habits: Habits,
    theme: Theme,
    pub(crate) clock: Clock,
    /// How many of the sessions take part.
    pub(crate) sessions: usize,
    /// How often, in percent, an event says who its agent is.
    agents: usize,
    shared: usize,
    pub(crate) events: Vec<Observation>,
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

    pub(crate) fn session(&mut self) -> Id {
        let at = self.dice.below(self.sessions);
        self.stock.sessions[at].clone()
    }

    fn flow(&mut self) -> Id {
        self.dice.pick(&self.stock.flows).clone()
    }

    pub(crate) fn maybe_flow(&mut self, percent: usize) -> Option<Id> {
        self.dice.chance(percent).then(|| self.flow())
    }

    pub(crate) fn agent(&mut self) -> Option<Id> {
        let agents = &self.stock.agents;
        self.dice
            .maybe(self.agents, |dice| dice.pick(agents).clone())
    }

    /// Mostly none, which is always right; else one that may be old, current or yet to come.
    pub(crate) fn generation(&mut self) -> Option<u32> {
        self.dice
            .maybe(6, |dice| dice.weighted(&[(70, 1), (20, 2), (10, 3)]))
    }

    pub(crate) fn identity(&mut self) -> Identity {
        match self.dice.chance(self.shared) {
            true => Identity::Shared,
            false => Identity::Exact,
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
