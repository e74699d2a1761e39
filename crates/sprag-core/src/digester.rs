//! The digester: an event comes in with its payload, an observation goes on without it.
//!
//! Raw arguments and results are reduced here to digests and a few small features, and nothing
//! after it sees more. An observation carries what *any* policy may ask for, so that a log
//! can be folded again under another one. The policy at hand decides one thing only: which targets
//! of destructive calls are kept in clear for the people who read the audit. It does so for all
//! sessions alike, whatever overrides they are under, so nothing about the session or its agent has
//! to be looked up before an event is digested.

mod approach;
mod canonical;
mod command;
mod comment;
mod delegation;
mod failure;
mod fields;
mod json;
mod kind;
mod label;
mod literal;
mod noise;
mod noise_names;
mod noise_words;
mod normal;
mod number;
mod outcome;
mod payload;
mod pending;
mod probe;
mod reduce;
mod shape;
mod subject;
mod tone;
mod waiting;
mod wording;
mod words;

use std::sync::Arc;

use crate::chant::{Chant, ChantDetector};
use crate::digest::{DigestKey, Fingerprint};
use crate::effect::{CallText, EffectReader, Effects, MAX_EFFECTS, ObservedEffect};
use crate::event::{
    AnswerEvent, CallEvent, DispatchEvent, Event, EventError, MessageEvent, OrderEvent,
    OutputEvent, StepEvent, UsageEvent,
};
use crate::id::Id;
use crate::observation::{
    Answer, Call, Dispatch, Hints, Message, Observation, Observed, Order, Output, Step, Usage,
};
use crate::policy::{DestructiveLimits, Policy};
use crate::price::{self, Priced, Tokens};
use crate::time::Timestamp;

pub use canonical::{CanonicalError, canonical_json};
pub(crate) use json::parse_text;
pub use reduce::reduced_json;

/// The most characters of an operator's name or reason that are kept.
const MAX_REMARK_CHARS: usize = 1000;
/// The same of an answer, which a session keeps.
const MAX_ANSWER_CHARS: usize = 240;

/// A project's folder with a longer name is not kept.
const MAX_ROOT_BYTES: usize = 256;
/// The most characters of what an effect is on, and of who does it.
const MAX_TARGET_CHARS: usize = 80;

/// Turns events into observations, under the key of one store.
#[derive(Debug, Clone)]
pub struct Digester {
    key: DigestKey,
    effects: Option<Arc<dyn EffectReader>>,
}

impl Digester {
    /// A digester whose digests are made under `key`.
    #[must_use]
    pub const fn new(key: DigestKey) -> Self {
        Self { key, effects: None }
    }

    /// Also reads from calls what they destroy.
    #[must_use]
    pub fn with_effects(mut self, reader: Arc<dyn EffectReader>) -> Self {
        self.effects = Some(reader);
        self
    }

    /// What the rules see of `event`, which happened `at`. If any limits of `policy` make a call
    /// destructive, its targets are kept in clear. Targets are also named before other arguments.
    ///
    /// A payload that is not JSON that every reader understands the same way (a duplicate key, a
    /// number beyond `f64`, half a surrogate pair, too many levels) is reduced to one that is, for
    /// every adapter alike: see [`reduced_json`]. What can't be read must not go unjudged.
    ///
    /// # Errors
    /// Returns an error if a payload can't be digested.
    pub fn observe(
        &self,
        event: &Event,
        at: Timestamp,
        policy: &Policy,
    ) -> Result<Observation, EventError> {
        match self.observe_strictly(event, at, policy) {
            Err(EventError::Payload { .. }) => self.observe_strictly(&event.reduced(), at, policy),
            observed => observed,
        }
    }

    fn observe_strictly(
        &self,
        event: &Event,
        at: Timestamp,
        policy: &Policy,
    ) -> Result<Observation, EventError> {
        let limits = policy.any_destructive();
        let what = match event {
            Event::Message(event) => Observed::Message(self.message(event)?),
            Event::Call(event) => Observed::Call(self.call(event, limits)?),
            Event::Step(event) => Observed::Step(self.step(event, limits)?),
            Event::Usage(event) => Observed::Usage(usage(event, policy)),
            Event::Output(event) => {
                let copies = policy.base().output.chant.get();
                Observed::Output(self.output(event, copies)?)
            }
            Event::Kill(event) => Observed::Kill(order(event)),
            Event::Reset(event) => Observed::Reset(order(event)),
            Event::DispatchStart(event) => Observed::DispatchStart(dispatch(event)),
            Event::DispatchEnd(event) => Observed::DispatchEnd(dispatch(event)),
            Event::Approve(event) => Observed::Approve(answer(event)),
            Event::Decline(event) => Observed::Decline(answer(event)),
        };
        Ok(Observation::new(at, what))
    }

    /// The words are compared without their layout: a model that repeats itself may wrap its lines differently.
    fn output(&self, event: &OutputEvent, copies: u32) -> Result<Output, EventError> {
        let text = event.text.as_ref().map(payload::text).transpose()?;
        let text = text.unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        let mut detector = ChantDetector::new(u16::try_from(copies).unwrap_or(u16::MAX));
        let chant = match detector.push(text.as_bytes()) {
            None => 0,
            Some(Chant::Lines { .. }) => 1,
            Some(Chant::Period { copies, .. }) => copies.max(2),
        };
        Ok(Output {
            session: event.session.clone(),
            agent: event.agent.clone(),
            flow: event.flow.clone(),
            text: (!words.is_empty()).then(|| self.key.digest(&[b"output\n", words.as_bytes()])),
            chant,
            generation: event.generation,
            identity: event.identity,
        })
    }

    fn message(&self, event: &MessageEvent) -> Result<Message, EventError> {
        // An empty message says nothing that could be said again.
        let content = event
            .content
            .as_ref()
            .filter(|content| content.as_json() != "\"\"")
            .map(|content| payload::content(&self.key, content))
            .transpose()?;
        let wording = content
            .as_ref()
            .filter(|_| event.from.is_some())
            .and_then(|content| wording::of_content(&self.key, content));
        Ok(Message {
            from: event.from.clone(),
            to: event.to.clone(),
            source: event.source,
            flow: event.flow.clone(),
            conversation: event.conversation.clone(),
            agent: event.agent.clone(),
            to_agent: event.to_agent.clone(),
            content: content.map(|content| content.exact),
            wording,
            kind: event.kind,
            unblock: event.unblock,
            generation: event.generation,
            identity: event.identity,
            use_id: event.use_id.clone(),
            task: None,
            family: None,
        })
    }

    fn call(&self, event: &CallEvent, limits: &DestructiveLimits) -> Result<Call, EventError> {
        let tool = approach::CalledTool {
            server: event.server.as_ref(),
            tool: &event.tool,
            args: event.args.as_ref(),
            hints: event.hints,
        };
        let effects = self.effects(event);
        let root = event.root.as_deref().or(event.cwd.as_deref());
        let root = root
            .filter(|root| !effects.list.is_empty() && root.len() <= MAX_ROOT_BYTES)
            .map(|root| Box::from(root.trim_end_matches('/')));
        Ok(Call {
            effects: self.observed(effects.list),
            unparsed: effects.unparsed,
            orders_guard: effects.orders_guard,
            path_reach: effects.path,
            root,
            session: event.session.clone(),
            agent: event.agent.clone(),
            flow: event.flow.clone(),
            id: event.id.clone(),
            use_id: event.use_id.clone(),
            approach: approach::of_tool(&self.key, &tool, limits)?,
            hints: event.hints,
            turn: event.turn.as_ref().map(|turn| {
                self.key
                    .fingerprint(Fingerprint::Turn, turn.as_str().as_bytes())
            }),
            generation: event.generation,
            identity: event.identity,
            via: event.via,
            family: None,
            dialog: event.dialog,
        })
    }

    /// What the call destroys, if there is something that can read it.
    fn effects(&self, event: &CallEvent) -> Effects {
        let (Some(reader), Some(args)) = (&self.effects, &event.args) else {
            return Effects::default();
        };
        reader.effects(&CallText {
            server: event.server.as_ref().map(Id::as_str),
            tool: event.tool.as_str(),
            args: args.as_json(),
            hints: event.hints,
            cwd: event.cwd.as_deref(),
            root: event.root.as_deref(),
        })
    }

    fn observed(&self, effects: Vec<crate::effect::Effect>) -> Vec<ObservedEffect> {
        let observed = effects
            .into_iter()
            .take(MAX_EFFECTS)
            .map(|effect| ObservedEffect {
                verb: effect.verb,
                reach: effect.reach,
                vital: effect.vital,
                replaceable: effect.replaceable,
                target: self.key.digest(&[b"effect\n", effect.target.as_bytes()]),
                text: Some(fields::shorten(&effect.target, MAX_TARGET_CHARS)),
                by: fields::shorten(&effect.by, MAX_TARGET_CHARS),
            });
        observed.collect()
    }

    fn step(&self, event: &StepEvent, limits: &DestructiveLimits) -> Result<Step, EventError> {
        let approach = match (&event.tool, &event.approach) {
            (Some(tool), _) => {
                let tool = approach::CalledTool {
                    server: event.server.as_ref(),
                    tool,
                    args: event.args.as_ref(),
                    hints: Hints::default(),
                };
                Some(approach::of_tool(&self.key, &tool, limits)?)
            }
            (None, Some(program)) => Some(approach::of_program(&self.key, program)?),
            (None, None) => None,
        };
        Ok(Step {
            session: event.session.clone(),
            agent: event.agent.clone(),
            flow: event.flow.clone(),
            id: event.id.clone(),
            use_id: event.use_id.clone(),
            approach,
            outcome: outcome::of_step(&self.key, event)?,
            generation: event.generation,
            identity: event.identity,
            via: event.via,
            family: None,
        })
    }
}

/// The cost is what the event names, else what the model costs.
fn usage(event: &UsageEvent, policy: &Policy) -> Usage {
    let tokens = Tokens {
        input: event.input_tokens,
        output: event.output_tokens,
        cache_read: event.cache_read_tokens,
        cache_write: event.cache_write_tokens,
    };
    let (cost_micros, prices) = match (event.cost_micros, &event.model) {
        (Some(cost), _) => (cost, Priced::Reported),
        (None, Some(model)) => price::cost(&policy.base().prices, model.as_str(), tokens),
        (None, None) => (0, Priced::Reported),
    };
    Usage {
        session: event.session.clone(),
        agent: event.agent.clone(),
        flow: event.flow.clone(),
        model: event.model.clone(),
        tokens: tokens.counted(),
        output_tokens: tokens.output,
        cache_write_tokens: tokens.cache_write,
        cache_read_tokens: tokens.cache_read,
        cost_micros,
        prices,
        pending: event.pending,
        id: event.id.clone(),
        generation: event.generation,
        identity: event.identity,
    }
}

fn remark(text: Option<&str>) -> Option<Box<str>> {
    text.map(|text| fields::shorten(text, MAX_REMARK_CHARS))
}

fn answer(event: &AnswerEvent) -> Answer {
    let short = |text: Option<&str>| text.map(|text| fields::shorten(text, MAX_ANSWER_CHARS));
    Answer {
        session: event.session.clone(),
        approval: event.approval.clone(),
        scope: event.scope,
        by: short(event.by.as_deref()),
        why: short(event.why.as_deref()),
    }
}

fn order(event: &OrderEvent) -> Order {
    Order {
        session: event.session.clone(),
        by: remark(event.by.as_deref()),
        why: remark(event.why.as_deref()),
    }
}

fn dispatch(event: &DispatchEvent) -> Dispatch {
    Dispatch {
        session: event.session.clone(),
        flow: event.flow.clone(),
    }
}
