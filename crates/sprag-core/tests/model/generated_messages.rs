//! Random messages: between agents, and from outside.

use sprag_core::{Id, Identity, Message, MessageKind, Observed, Source};

use super::generator::Generator;

impl Generator<'_> {
    /// A message between two of at least two sessions; half of them go on where the last arrived.
    pub(crate) fn talk(&mut self) -> Message {
        let sessions = &self.samples.sessions[..self.sessions.max(2)];
        let last_receiver = self
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.what {
                Observed::Message(message) => Some(&message.to),
                _ => None,
            });
        let goes_on = self.rng.chance(50);
        let from = last_receiver
            .filter(|_| goes_on)
            .unwrap_or_else(|| self.rng.pick(sessions))
            .clone();
        let mut to = self.rng.pick(sessions).clone();
        while to == from && !self.rng.chance(15) {
            to = self.rng.pick(sessions).clone();
        }
        let contents = &self.samples.contents;
        let said = self.rng.maybe(60, |rng| rng.pick(contents).clone());
        let (content, wording) = said.unzip();
        Message {
            content,
            wording: wording.flatten(),
            kind: {
                let more = if self.starts() { 150 } else { 0 };
                self.rng.weighted(&[
                    (85, MessageKind::Say),
                    (9 + more, MessageKind::Spawn),
                    (6 + more / 5, MessageKind::Return),
                ])
            },
            use_id: self
                .rng
                .maybe(10, |rng| rng.pick(&self.samples.use_ids).clone()),
            from: Some(from),
            flow: self.maybe_flow(85),
            agent: self.agent(),
            generation: self.generation(),
            identity: self.identity(),
            ..self.outside(to)
        }
    }

    pub(crate) fn outside(&mut self, to: Id) -> Message {
        let conversations = &self.samples.conversations;
        Message {
            from: None,
            to,
            source: self.rng.weighted(&[
                (80, Source::User),
                (10, Source::Applet),
                (10, Source::Scheduler),
            ]),
            flow: self.maybe_flow(80),
            conversation: self.rng.maybe(35, |rng| rng.pick(conversations).clone()),
            agent: None,
            to_agent: self.agent(),
            content: self.rng.maybe(60, |rng| rng.pick(&self.samples.contents).0),
            wording: None,
            kind: MessageKind::Say,
            unblock: self.rng.chance(25),
            generation: None,
            identity: Identity::Exact,
            use_id: None,
            task: None,
            family: None,
        }
    }
}
