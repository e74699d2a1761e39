//! Random histories from a seed: few names, so that everything meets everything.

use sprag_core::{
    Call, Dispatch, Hints, Id, Identity, Message, MessageKind, Observation, Observed, Order,
    Outcome, Output, Priced, Source, Step, Timestamp, Tone, Usage, Via,
};

use crate::observations::{approach, digest, id, order};

const VIAS: [Via; 4] = [Via::Api, Via::Hook, Via::Mcp, Via::Gateway];

/// A source of random observations whose clock mostly goes on.
pub(crate) struct Stream {
    state: u64,
    now: u64,
    /// How many sessions there are to choose from.
    pub(crate) sessions: u64,
}

impl Stream {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            now: 1_700_000_000_000,
            sessions: 6,
        }
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % bound
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn maybe<T>(&mut self, one_in: u64, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.chance(one_in).then(|| make(self))
    }

    fn pick<T: Copy, const N: usize>(&mut self, from: [T; N]) -> T {
        let at = self.below(u64::try_from(N).unwrap());
        from[usize::try_from(at).unwrap()]
    }

    fn small(&mut self, bound: u64) -> u32 {
        u32::try_from(self.below(bound)).unwrap()
    }

    fn session(&mut self) -> Id {
        let number = self.below(self.sessions);
        match self.below(8) {
            0 => id(&format!("s{number}/sub")),
            _ => id(&format!("s{number}")),
        }
    }

    fn flow(&mut self) -> Id {
        let number = self.below(4);
        id(&format!("f{number}"))
    }

    fn agent(&mut self) -> Id {
        let number = self.below(3);
        id(&format!("agent{number}"))
    }

    fn identity(&mut self) -> Identity {
        if self.chance(20) {
            Identity::Shared
        } else {
            Identity::Exact
        }
    }

    fn clock(&mut self) -> Timestamp {
        let at = match self.below(300) {
            0 => self.now.saturating_sub(7_200_000),
            1 => {
                self.now += 90_000_000;
                self.now
            }
            2..=20 => {
                self.now += 40_000;
                self.now
            }
            _ => {
                self.now += self.below(900);
                self.now
            }
        };
        Timestamp(at)
    }

    pub(crate) fn observation(&mut self) -> Observation {
        let at = self.clock();
        let what = match self.below(40) {
            0..=15 => Observed::Message(self.message()),
            16..=26 => Observed::Call(self.call()),
            27..=33 => Observed::Step(self.step()),
            34 => Observed::Usage(self.usage()),
            35 if self.chance(2) => Observed::Output(self.output()),
            35 => Observed::Kill(self.order()),
            36 => Observed::Reset(self.order()),
            37 | 38 => Observed::DispatchStart(self.dispatch()),
            _ => Observed::DispatchEnd(self.dispatch()),
        };
        Observation::new(at, what)
    }

    fn message(&mut self) -> Message {
        use MessageKind::{Return, Say, Spawn};
        let from = if self.chance(5) {
            None
        } else {
            Some(self.session())
        };
        Message {
            from,
            to: self.session(),
            source: self.pick([Source::User, Source::Applet, Source::Scheduler]),
            flow: self.maybe(2, Self::flow),
            conversation: self.maybe(4, |s| id(&format!("c{}", s.below(3)))),
            agent: self.maybe(3, Self::agent),
            to_agent: self.maybe(3, Self::agent),
            content: self.maybe(2, |s| digest(s.below(4))),
            wording: None,
            kind: self.pick([Say, Say, Say, Say, Spawn, Spawn, Return]),
            unblock: self.chance(6),
            generation: self.maybe(30, |s| s.small(4)),
            identity: self.identity(),
            use_id: self.maybe(9, |s| id(&format!("use{}", s.below(30)))),
            task: None,
            family: None,
        }
    }

    fn call(&mut self) -> Call {
        let number = self.below(12);
        let tool = self.pick(["read", "delete_asset", "status", "task"]);
        Call {
            turn: None,
            effects: Vec::new(),
            unparsed: false,
            orders_guard: false,
            path_reach: None,
            root: None,
            dialog: false,
            session: self.session(),
            agent: self.maybe(3, Self::agent),
            flow: self.maybe(3, Self::flow),
            id: self.maybe(2, |s| id(&format!("t{}", s.below(9)))),
            use_id: self.maybe(6, |s| id(&format!("use{}", s.below(30)))),
            approach: approach(number, tool),
            hints: Hints {
                read_only: self.maybe(4, |s| s.chance(2)),
                destructive: self.maybe(4, |s| s.chance(2)),
                idempotent: self.maybe(4, |s| s.chance(2)),
            },
            generation: self.maybe(30, |s| s.small(4)),
            identity: self.identity(),
            via: self.pick(VIAS),
            family: None,
        }
    }

    fn step(&mut self) -> Step {
        let number = self.below(8);
        Step {
            session: self.session(),
            agent: self.maybe(3, Self::agent),
            flow: self.maybe(3, Self::flow),
            id: self.maybe(2, |s| id(&format!("t{}", s.below(9)))),
            use_id: self.maybe(6, |s| id(&format!("use{}", s.below(30)))),
            approach: self.maybe(2, |s| approach(s.below(12), "read")),
            outcome: Outcome {
                long: false,
                absent: false,
                one_word: false,
                pending: false,
                ends_failing: false,
                weak: false,
                words: Vec::new(),
                numbers: Vec::new(),
                said: 0,
                exact: digest(number),
                normal: digest(number / 2),
                shape: self.small(3),
                is_error: self.chance(3),
                tone: self.pick([
                    Tone::Telling,
                    Tone::Failure,
                    Tone::Empty,
                    Tone::Done,
                    Tone::Silent,
                ]),
                oversized: self.chance(9),
            },
            generation: self.maybe(30, |s| s.small(4)),
            identity: self.identity(),
            via: self.pick(VIAS),
            family: None,
        }
    }

    fn usage(&mut self) -> Usage {
        let pending = self.chance(4);
        Usage {
            session: self.session(),
            agent: self.maybe(3, Self::agent),
            flow: self.maybe(3, Self::flow),
            model: self.maybe(2, Self::agent),
            tokens: self.below(5_000),
            output_tokens: self.below(500),
            cache_write_tokens: self.below(500),
            cache_read_tokens: self.below(90_000),
            cost_micros: self.below(90_000),
            prices: match self.below(3) {
                0 => Priced::Reported,
                1 => Priced::Policy,
                _ => Priced::Unknown,
            },
            pending,
            id: Some(id("r1")).filter(|_| pending || self.chance(2)),
            generation: None,
            identity: self.identity(),
        }
    }

    fn output(&mut self) -> Output {
        Output {
            session: self.session(),
            agent: self.maybe(3, Self::agent),
            flow: None,
            text: self.maybe(2, |s| digest(s.below(2))),
            chant: u16::from(self.chance(3)),
            generation: None,
            identity: self.identity(),
        }
    }

    fn order(&mut self) -> Order {
        order(self.session().as_str())
    }

    fn dispatch(&mut self) -> Dispatch {
        Dispatch {
            session: self.session(),
            flow: self.maybe(2, Self::flow),
        }
    }
}
