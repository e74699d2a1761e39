//! Random calls, steps and usage.

use sprag_core::{
    Answer, ApprovalScope, Call, Hints, Id, Message, Millis, Observation, Observed, Output, Priced,
    Reach, Source, Step, Usage, approval_code,
};

use super::generator::Generator;

impl Generator<'_> {
    /// More calls at once than may wait for their steps.
    pub(crate) fn many_pending(&mut self) {
        let session = self.session();
        for id in 0..self.rng.within(63, 67) {
            let at = self.clock.next(&mut self.rng, &self.events);
            let mut call = self.call(session.clone());
            call.id = Some(self.samples.call_ids[id].clone());
            let what = Observed::Call(call);
            self.events.push(Observation::new(at, what));
        }
        for id in 0..4 {
            let at = self.clock.next(&mut self.rng, &self.events);
            let mut step = self.bare_step(session.clone());
            step.id = Some(self.samples.call_ids[id].clone());
            step.approach = None;
            let what = Observed::Step(step);
            self.events.push(Observation::new(at, what));
        }
    }

    /// Fresh sessions that are opened with the same words and mostly do the same.
    pub(crate) fn runs(&mut self) {
        let start = self.clock.next(&mut self.rng, &self.events);
        let samples = self.samples;
        let count = self.rng.within(2, 4);
        for (nth, session) in samples.sessions.iter().take(count).enumerate() {
            let opening = Message {
                content: Some(samples.contents[0].0),
                source: Source::User,
                to_agent: None,
                ..self.outside(session.clone())
            };
            let mut events = vec![Observed::Message(opening)];
            for program in 0..2 {
                let other = self.rng.chance(10);
                let mut step = self.bare_step(session.clone());
                step.approach = Some(samples.programs[program].clone());
                step.outcome = samples.outcomes[usize::from(other)].clone();
                (step.id, step.use_id, step.generation) = (None, None, None);
                events.push(Observed::Step(step));
            }
            let gap = self.rng.weighted(&[(85, 62_000), (15, 20_000)]);
            for (at, what) in events.into_iter().enumerate() {
                let ms = nth * gap + at * 500;
                let at = start.plus(Millis(u64::try_from(ms).expect("a short time")));
                self.events.push(Observation::new(at, what));
            }
        }
    }

    pub(crate) fn call(&mut self, session: Id) -> Call {
        let samples = self.samples;
        let starts = if self.starts() { 150 } else { 5 };
        let tools = self.rng.weighted(&[
            (50, &samples.harmless),
            (30, &samples.destructive),
            (20, &samples.forbidden),
            (starts, &samples.delegating),
        ]);
        let destructive = self.rng.maybe(10, |rng| rng.chance(70));
        Call {
            session,
            agent: self.agent(),
            flow: self.maybe_flow(25),
            id: self.maybe_id(
                self.habits.call_ids,
                30 + starts / 3,
                &samples.call_ids[..3],
            ),
            use_id: self.maybe_id(self.habits.use_ids, 8, &samples.use_ids),
            approach: self.rng.pick(tools).clone(),
            hints: Hints {
                destructive,
                ..Hints::default()
            },
            turn: None,
            effects: self
                .rng
                .maybe(25, |rng| rng.pick(&samples.effects).clone())
                .unwrap_or_default(),
            unparsed: false,
            orders_guard: self.rng.chance(3),
            root: None,
            dialog: self.rng.chance(50),
            path_reach: self.rng.maybe(8, |rng| {
                *rng.pick(&[
                    Reach::Scratch,
                    Reach::Workspace,
                    Reach::Workspace,
                    Reach::Outside,
                ])
            }),
            generation: self.generation(),
            identity: self.identity(),
            via: self.via(),
            family: None,
        }
    }

    /// An answer to a question that one of the last calls may have opened.
    pub(crate) fn answer(&mut self) -> Option<Observed> {
        let skipped = self.rng.below(3);
        let calls = self.events.iter().rev();
        let mut calls = calls.filter_map(|event| match &event.what {
            Observed::Call(call) => Some(call),
            _ => None,
        });
        let call = calls.nth(skipped)?;
        let (session, exact) = (call.session.clone(), call.approach.exact.prefix());
        let generation = self.rng.weighted(&[(90, 1), (8, 2), (2, 3)]);
        let count = self.rng.weighted(&[(75, 1), (18, 2), (7, 3)]);
        let scopes = [ApprovalScope::Once, ApprovalScope::Session];
        let answer = Answer {
            approval: approval_code(exact, &session, generation, count)?,
            session,
            scope: *self.rng.pick(&scopes),
            by: None,
            why: None,
        };
        Some(match self.rng.chance(65) {
            true => Observed::Approve(answer),
            false => Observed::Decline(answer),
        })
    }

    fn maybe_id(&mut self, may: bool, percent: usize, ids: &[Id]) -> Option<Id> {
        self.rng
            .maybe(percent, |rng| rng.pick(ids).clone())
            .filter(|_| may)
    }

    /// Half the steps complete a call that was made, wherever one names itself.
    pub(crate) fn step(&mut self, session: Id) -> Step {
        let skipped = self.rng.below(3);
        let completes = self.rng.chance(50);
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
        let repeats = self.rng.chance(40);
        Step {
            id: call.id,
            use_id: call.use_id,
            approach: Some(call.approach).filter(|_| repeats),
            ..self.bare_step(call.session)
        }
    }

    fn bare_step(&mut self, session: Id) -> Step {
        let samples = self.samples;
        let approaches = self
            .rng
            .weighted(&[(70, &samples.programs), (30, &samples.harmless)]);
        Step {
            session,
            agent: self.agent(),
            flow: self.maybe_flow(15),
            id: self.maybe_id(self.habits.call_ids, 10, &samples.call_ids[..3]),
            use_id: self.maybe_id(self.habits.use_ids, 4, &samples.use_ids),
            approach: self.rng.maybe(90, |rng| rng.pick(approaches).clone()),
            outcome: samples.outcomes[self.rng.weighted(&[(70, 0), (20, 1), (10, 2)])].clone(),
            generation: self.generation(),
            identity: self.identity(),
            via: self.via(),
            family: None,
        }
    }

    /// One in four is a reservation; half of what is spent settles one.
    pub(crate) fn usage(&mut self, session: Id) -> Usage {
        let samples = self.samples;
        let pending = self.rng.chance(25);
        let settles = pending || self.rng.chance(50);
        let prices = [Priced::Reported, Priced::Policy, Priced::Unknown];
        Usage {
            session,
            agent: self.agent(),
            flow: self.maybe_flow(50),
            model: self.rng.maybe(40, |rng| rng.pick(&samples.agents).clone()),
            tokens: *self.rng.pick(&[0, 1, 5, 20, 40]),
            output_tokens: 0,
            cache_write_tokens: 0,
            cache_read_tokens: *self.rng.pick(&[0, 1000]),
            cost_micros: *self.rng.pick(&[0, 1, 50, 80, 200]),
            prices: prices[self.rng.weighted(&[(60, 0), (35, 1), (5, 2)])].clone(),
            pending,
            id: self
                .rng
                .maybe(100, |rng| rng.pick(&samples.call_ids[..3]).clone())
                .filter(|_| settles),
            generation: self.generation(),
            identity: self.identity(),
        }
    }

    pub(crate) fn output(&mut self, session: Id) -> Output {
        let contents = &self.samples.contents;
        Output {
            session,
            agent: self.agent(),
            flow: self.maybe_flow(20),
            text: self
                .rng
                .maybe(90, |rng| contents[rng.weighted(&[(85, 0), (15, 1)])].0),
            chant: self.rng.weighted(&[(70, 0), (20, 8), (10, 1)]),
            generation: self.generation(),
            identity: self.identity(),
        }
    }
}
