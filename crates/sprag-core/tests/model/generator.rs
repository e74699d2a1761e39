//! Random histories, skewed so that every rule has something to say.

use sprag_core::{Dispatch, Id, Identity, Observation, Observed, Order, Panic, Via};

use super::clock::{Clock, ClockHabits};
use super::rng::Rng;
use super::samples::Samples;

/// What a history is mostly about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Theme {
    Talk,
    Calls,
    Steps,
    Spending,
    Starts,
    Mixed,
}

/// The kinds of events.
#[derive(Debug, Clone, Copy)]
enum EventKind {
    Talk,
    Outside,
    Call,
    Step,
    Usage,
    Output,
    Kill,
    Reset,
    Start,
    End,
    Answer,
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
    /// People answer questions.
    pub(crate) answers: bool,
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
        answers: false,
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
    pub(crate) rng: Rng,
    pub(crate) samples: &'s Samples,
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
pub(crate) fn history(seed: u64, samples: &Samples, habits: Habits) -> Vec<Observation> {
    let mut rng = Rng::new(seed);
    let clock = Clock::new(&mut rng, habits.clock);
    let length = rng.weighted(&[(20, 12), (40, 25), (30, 40), (10, 70)]);
    let length = rng.within(length / 2, length);
    let themes = [
        Theme::Talk,
        Theme::Talk,
        Theme::Calls,
        Theme::Steps,
        Theme::Spending,
        Theme::Starts,
        Theme::Mixed,
    ];
    let generator = Generator {
        theme: *rng.pick(&themes),
        sessions: rng.weighted(&[(20, 1), (25, 2), (25, 3), (30, samples.sessions.len())]),
        agents: *rng.pick(&[0, 10, 40]),
        shared: if rng.chance(20) { habits.shared } else { 0 },
        rng,
        samples,
        habits,
        clock,
        events: Vec::with_capacity(length),
    };
    generator.make(length)
}

impl Generator<'_> {
    fn make(mut self, length: usize) -> Vec<Observation> {
        let mut panics = false;
        if self.habits.clock.goes_back && self.rng.chance(6) {
            self.runs();
        }
        if self.habits.call_ids && self.theme == Theme::Calls && self.rng.chance(2) {
            self.many_pending();
        }
        while self.events.len() < length {
            let at = self.clock.next(&mut self.rng, &self.events);
            let what = self.again().unwrap_or_else(|| self.fresh());
            // A panic comes over some histories, and goes again.
            if self.rng.chance(if panics { 15 } else { 1 }) {
                panics = !panics;
            }
            self.events.push(Observation {
                panic: panics.then(Panic::default),
                ..Observation::new(at, what)
            });
        }
        self.events
    }

    /// What makes a loop: one of the last events once more.
    fn again(&mut self) -> Option<Observed> {
        if let Some(Observed::Approve(answer)) = self.events.last().map(|last| &last.what)
            && self.rng.chance(50)
        {
            let calls = self.events.iter().rev().map(|event| &event.what);
            let mut calls = calls.filter(|what| matches!(what, Observed::Call(_)));
            return calls
                .find(|what| what.session() == &answer.session)
                .cloned();
        }
        if !self.rng.chance(35) {
            return None;
        }
        let back = self.rng.weighted(&[(60, 0), (30, 1), (10, 2)]);
        Some(self.events.iter().rev().nth(back)?.what.clone())
    }

    fn fresh(&mut self) -> Observed {
        let session = self.session();
        match self.kind() {
            EventKind::Talk => Observed::Message(self.talk()),
            EventKind::Outside => Observed::Message(self.outside(session)),
            EventKind::Call => Observed::Call(self.call(session)),
            EventKind::Step => Observed::Step(self.step(session)),
            EventKind::Usage => Observed::Usage(self.usage(session)),
            EventKind::Output => Observed::Output(self.output(session)),
            EventKind::Kill if !self.habits.kills => Observed::Reset(order(session)),
            EventKind::Kill => Observed::Kill(order(session)),
            EventKind::Reset => Observed::Reset(order(session)),
            EventKind::Start => Observed::DispatchStart(Dispatch {
                session,
                flow: Some(self.flow()),
            }),
            EventKind::Answer => self.answer().unwrap_or(Observed::Reset(order(session))),
            EventKind::End => Observed::DispatchEnd(Dispatch {
                session,
                flow: self.maybe_flow(50),
            }),
        }
    }

    fn kind(&mut self) -> EventKind {
        let (talk, call, step, usage) = match self.theme {
            Theme::Talk => (70, 2, 8, 1),
            Theme::Calls => (4, 70, 8, 1),
            Theme::Steps => (4, 10, 70, 1),
            Theme::Spending => (10, 20, 15, 40),
            Theme::Starts => (60, 30, 15, 1),
            Theme::Mixed => (25, 25, 25, 5),
        };
        self.rng.weighted(&[
            (talk, EventKind::Talk),
            (8, EventKind::Outside),
            (call, EventKind::Call),
            (step, EventKind::Step),
            (usage, EventKind::Usage),
            (4, EventKind::Output),
            (1, EventKind::Kill),
            (5, EventKind::Reset),
            (3, EventKind::Start),
            (2, EventKind::End),
            (if self.habits.answers { 30 } else { 0 }, EventKind::Answer),
        ])
    }

    /// Whether it is about sub-agents.
    pub(crate) fn starts(&self) -> bool {
        self.theme == Theme::Starts
    }

    pub(crate) fn session(&mut self) -> Id {
        let at = self.rng.below(self.sessions);
        self.samples.sessions[at].clone()
    }

    fn flow(&mut self) -> Id {
        self.rng.pick(&self.samples.flows).clone()
    }

    pub(crate) fn maybe_flow(&mut self, percent: usize) -> Option<Id> {
        self.rng.chance(percent).then(|| self.flow())
    }

    pub(crate) fn agent(&mut self) -> Option<Id> {
        let agents = &self.samples.agents;
        self.rng.maybe(self.agents, |rng| rng.pick(agents).clone())
    }

    /// Mostly none, which is always right; else one that may be old, current or yet to come.
    pub(crate) fn generation(&mut self) -> Option<u32> {
        self.rng
            .maybe(6, |rng| rng.weighted(&[(70, 1), (20, 2), (10, 3)]))
    }

    pub(crate) fn via(&mut self) -> Via {
        self.rng.weighted(&[
            (40, Via::Hook),
            (30, Via::Mcp),
            (20, Via::Api),
            (10, Via::Gateway),
        ])
    }

    pub(crate) fn identity(&mut self) -> Identity {
        match self.rng.chance(self.shared) {
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
