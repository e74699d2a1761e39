//! One session as its transcript tells it, folded through the engine.
//!
//! A *turn* lasts from one word of the person to the next. Loops are looked for inside of turns, since a person's word is
//! what ends them for a guard too.

use std::collections::{HashMap, VecDeque};

use serde_json::value::RawValue;
use sprag_core::{
    CallEvent, Decision, Event, Id, MessageEvent, Millis, Observation, Payload, StepEvent,
    Timestamp, UsageEvent,
};

use crate::episode::{Episode, TurnEnd};
use crate::excerpt;
use crate::fold::{Fold, FoldedEvent};
use crate::found_loop::{Ending, Loop};
use crate::recent_calls::{Meter, RecentCall, RecentCalls, Truncated, beginning};
use crate::sweeping::SweepingCommand;
use crate::transcript_item::{ItemKind, ResultBody, TokenCounts, TranscriptCall};
use crate::transcript_source::TranscriptSource;

/// The pace of a transcript without times: about that of a model which calls tools.
const PACE: Millis = Millis(8_000);
/// Calls that wait for their result at once.
const MAX_PENDING: usize = 256;
/// Observations that are kept of a session, for advice on limits.
const MAX_OBSERVED: usize = 2_000;

/// Sweeping commands that are kept of a session.
const MAX_SWEEPING: usize = 100;

/// What is told of a session when it is over.
#[derive(Debug, Default)]
pub(crate) struct SessionOutcome {
    pub(crate) name: String,
    pub(crate) calls: usize,
    pub(crate) last_at: Option<Timestamp>,
    pub(crate) tokens: TokenCounts,
    pub(crate) loops: Vec<Loop>,
    pub(crate) sweeping: Vec<SweepingCommand>,
    /// It came to an end of its own, and no loop that it never left is in it.
    pub(crate) finished: bool,
    pub(crate) observations: Vec<Observation>,
    /// Calls that Sprag refused in it.
    pub(crate) refused: usize,
}

/// A call whose result has not come yet.
struct UnjudgedCall {
    number: usize,
    at: Timestamp,
    event: Event,
}

/// A session while its transcript is read.
pub(crate) struct SessionFold {
    id: Id,
    name: String,
    source: TranscriptSource,
    file: String,
    project: Option<String>,
    now: Timestamp,
    has_times: bool,
    has_tokens: bool,
    /// How many calls there were.
    calls: usize,
    /// The first call of the turn.
    turn: usize,
    pending: HashMap<String, usize>,
    /// Calls that are not judged yet: whether they ran is known when their results come.
    unjudged: VecDeque<UnjudgedCall>,
    recents: RecentCalls,
    meter: Meter,
    /// What was spent when the last result came: what comes after it made the next call.
    spent_at_result: Meter,
    open: Option<Episode>,
    closed: Vec<Episode>,
    ending: Ending,
    ended: SessionOutcome,
}

impl SessionFold {
    /// A session of which nothing is told yet; none where its name is nothing.
    pub(crate) fn new(
        name: &str,
        source: TranscriptSource,
        file: &str,
        project: Option<String>,
    ) -> Option<Self> {
        Some(Self {
            id: id(name)?,
            name: name.to_owned(),
            source,
            file: file.to_owned(),
            project,
            now: Timestamp(0),
            has_times: false,
            has_tokens: false,
            calls: 0,
            turn: 1,
            pending: HashMap::new(),
            unjudged: VecDeque::new(),
            recents: RecentCalls::default(),
            meter: Meter::default(),
            spent_at_result: Meter::default(),
            open: None,
            closed: Vec::new(),
            ending: Ending::Open,
            ended: SessionOutcome::default(),
        })
    }

    /// Takes what the transcript tells next.
    pub(crate) fn take(&mut self, at: Option<Timestamp>, what: ItemKind<'_>, fold: &mut Fold) {
        match at {
            Some(at) => {
                self.has_times = true;
                self.now = self.now.max(at);
            }
            None if matches!(what, ItemKind::Call(_)) && !self.has_times => {
                self.now = self.now.plus(PACE)
            }
            None => {}
        }
        match what {
            ItemKind::Project(project) => {
                self.project.get_or_insert_with(|| project.to_owned());
            }
            ItemKind::Prompt => self.prompt(fold),
            ItemKind::Interrupted => {
                self.judge_calls(fold);
                self.ending = Ending::Interrupted;
                self.end_turn();
            }
            ItemKind::Call(call) => self.call(&call, fold),
            ItemKind::Outcome {
                id,
                answer,
                is_error,
            } => self.outcome(id, &answer, is_error, fold),
            ItemKind::Tokens(tokens) => self.tokens(tokens, fold),
            ItemKind::Said => self.ending = Ending::Finished,
            ItemKind::Wire(event) => self.wire(&event, fold),
        }
    }

    /// The session is over: what is known of it.
    pub(crate) fn end(mut self, fold: &mut Fold) -> SessionOutcome {
        self.judge_calls(fold);
        let finished = self.ending == Ending::Finished;
        self.end_turn();
        let stuck = |found: &Loop| found.stopped.is_some() && !found.perhaps_wrong;
        SessionOutcome {
            finished: finished && !self.ended.loops.iter().any(stuck),
            name: self.name,
            calls: self.calls,
            last_at: self.has_times.then_some(self.now),
            tokens: self.meter.tokens,
            ..self.ended
        }
    }

    fn prompt(&mut self, fold: &mut Fold) {
        self.judge_calls(fold);
        self.end_turn();
        let message = MessageEvent::new(self.id.clone()).unblock();
        self.judge(&message.into(), fold);
        self.spent_at_result = self.meter;
    }

    fn call(&mut self, call: &TranscriptCall<'_>, fold: &mut Fold) {
        let args = call.args.as_deref().map_or("", RawValue::get);
        let shown = match &call.server {
            Some(server) => format!("{server}/{}", call.tool).into(),
            None => Box::from(&*call.tool),
        };
        self.begin_act(shown, args);
        if self.pending.len() >= MAX_PENDING {
            self.pending.clear();
        }
        self.pending.insert(call.id.to_owned(), self.calls);
        let Some(tool) = id(&call.tool) else {
            return;
        };
        let mut event = CallEvent::new(self.id.clone(), tool);
        event.agent = id(self.source.as_str());
        event.id = id(call.id);
        event.server = call.server.as_deref().and_then(id);
        event.args = call.args.as_deref().map(Payload::from);
        event.root = self.project.as_deref().map(Into::into);
        event.cwd.clone_from(&event.root);
        self.unjudged.push_back(UnjudgedCall {
            number: self.calls,
            at: self.now,
            event: event.into(),
        });
        if self.unjudged.len() > MAX_PENDING {
            self.judge_calls(fold);
        }
    }

    /// Judges the calls that wait for it, in their order.
    fn judge_calls(&mut self, fold: &mut Fold) {
        while let Some(UnjudgedCall { number, at, event }) = self.unjudged.pop_front() {
            let judged = self.judge_at(&event, at, fold);
            if let Some(call) = self.recents.get_mut(number) {
                call.call_key = judged.key;
            }
            self.weigh(number, &judged);
        }
    }

    fn outcome(&mut self, call: &str, answer: &ResultBody<'_>, is_error: bool, fold: &mut Fold) {
        let Some(number) = self.pending.remove(call) else {
            return;
        };
        self.ending = Ending::Open;
        self.add_bytes(answer.len());
        if is_error && answer.is_own_refusal() {
            // It never ran: a guard was there already.
            self.unjudged.retain(|waiting| waiting.number != number);
            if self.recents.take_back(number) {
                self.calls -= 1;
            }
            self.ended.refused += 1;
            self.spent_at_result = self.meter;
            return;
        }
        self.judge_calls(fold);
        self.spent_at_result = self.meter;
        let mut event = StepEvent::new(self.id.clone()).is_error(is_error);
        event.id = id(call);
        event.result = answer.payload();
        let judged = self.judge(&event.into(), fold);
        if let Some(call) = self.recents.get_mut(number) {
            call.answer_key = judged.key;
            call.answer = match answer {
                ResultBody::Nothing => None,
                ResultBody::Raw(raw) => Some(Truncated::of(raw.get(), true)),
                ResultBody::Text(text) => Some(Truncated::of(text, false)),
            };
            call.is_error = is_error;
            call.after = self.meter;
        }
        self.weigh(number, &judged);
    }

    /// What Sprag's logs hold besides: messages between agents are calls too, the rest only moves the cells.
    fn wire(&mut self, event: &Event, fold: &mut Fold) {
        self.judge_calls(fold);
        if let Event::Message(message) = event {
            let content = message.content.as_ref().map_or("", Payload::as_json);
            self.begin_act(format!("to {}", message.to.as_str()).into(), content);
            let judged = self.judge(event, fold);
            self.weigh(self.calls, &judged);
        } else {
            self.judge(event, fold);
        }
    }

    fn begin_act(&mut self, tool: Box<str>, args: &str) {
        self.calls += 1;
        self.ending = Ending::Open;
        self.add_bytes(args.len());
        self.recents.push(RecentCall {
            number: self.calls,
            at: self.now,
            tool,
            args: beginning(args).into(),
            answer: None,
            is_error: false,
            call_key: 0,
            answer_key: 0,
            decision: Decision::Allow,
            before: self.spent_at_result,
            after: self.meter,
        });
    }

    fn tokens(&mut self, tokens: TokenCounts, fold: &mut Fold) {
        self.has_tokens |= tokens.total() > 0;
        self.meter.tokens.add(tokens);
        let input = tokens.input.saturating_add(tokens.cached);
        let mut usage = UsageEvent::new(self.id.clone()).tokens(input, tokens.output);
        usage.agent = id(self.source.as_str());
        self.judge(&Event::Usage(usage), fold);
    }

    fn add_bytes(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.meter.bytes = self.meter.bytes.saturating_add(bytes);
    }

    fn judge(&mut self, event: &Event, fold: &mut Fold) -> FoldedEvent {
        self.judge_at(event, self.now, fold)
    }

    fn judge_at(&mut self, event: &Event, at: Timestamp, fold: &mut Fold) -> FoldedEvent {
        let keep = self.ended.observations.len() < MAX_OBSERVED;
        let mut judged = fold.judge(event, at, keep);
        self.ended.observations.extend(judged.observation.take());
        judged
    }

    /// Makes a loop of what the rules say of the call `number`, or adds it to one.
    fn weigh(&mut self, number: usize, judged: &FoldedEvent) {
        if !judged.sweeps.is_empty() {
            return self.sweep(number, judged);
        }
        let Some(finding) = &judged.finding else {
            if self.open.as_ref().is_some_and(|open| open.is_over(number)) {
                self.put_aside();
            }
            return;
        };
        if let Some(call) = self.recents.get_mut(number) {
            call.decision = call.decision.max(finding.decision);
        }
        match &mut self.open {
            Some(open) if open.goes_on(&self.recents, number, finding) => {
                open.extend(&self.recents, number, finding);
            }
            _ => {
                self.put_aside();
                self.open = Episode::begin(&self.recents, number, finding, self.turn);
            }
        }
    }

    /// One call that takes a whole place is not a loop; it is listed on its own.
    fn sweep(&mut self, number: usize, judged: &FoldedEvent) {
        let (Some(call), Some(finding)) = (self.recents.get(number), &judged.finding) else {
            return;
        };
        if self.ended.sweeping.len() < MAX_SWEEPING {
            self.ended.sweeping.push(SweepingCommand {
                client: self.source,
                project: self.project.clone(),
                session: self.name.clone(),
                file: self.file.clone(),
                at: self.has_times.then_some(call.at),
                call: number,
                what: excerpt::call(call),
                effects: judged
                    .sweeps
                    .iter()
                    .map(|words| excerpt::text(words))
                    .collect(),
                verdict: finding.decision,
            });
        }
    }

    fn put_aside(&mut self) {
        if let Some(mut episode) = self.open.take() {
            episode.refresh(&self.recents);
            self.closed.push(episode);
        }
    }

    fn end_turn(&mut self) {
        self.put_aside();
        let turn = TurnEnd {
            source: self.source,
            project: self.project.as_deref(),
            session: &self.name,
            file: &self.file,
            last: self.calls,
            ending: self.ending,
            has_times: self.has_times,
            has_tokens: self.has_tokens,
            refused: self.ended.refused,
        };
        let closed = self.closed.drain(..).map(|episode| episode.close(&turn));
        self.ended.loops.extend(closed);
        self.turn = self.calls.saturating_add(1);
        self.ending = Ending::Open;
    }
}

/// An id for what a transcript names as it likes; none for nothing.
fn id(text: &str) -> Option<Id> {
    let fallback = || {
        let mut readable: String = text.chars().filter(|c| !c.is_control()).collect();
        readable.truncate(readable.floor_char_boundary(200));
        Id::new(&format!("{readable}#{:x}", fingerprint(text))).ok()
    };
    Id::new(text)
        .ok()
        .or_else(|| fallback().filter(|_| !text.is_empty()))
}

fn fingerprint(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
