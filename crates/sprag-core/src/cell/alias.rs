//! What was seen of a tool use under the id that the client gave it.
//!
//! A hook and a proxy may see the same call, and it must count once. But ids are not always unique: some
//! model servers count `call_0`, `call_1` in every answer, and some send one constant. So a call is taken
//! for one that was seen before only if it comes for the same session: from another kind of adapter
//! within ten minutes, or, as when a client sends a hook twice, from the same kind with the same tool and
//! arguments within seconds and before its step. Everything else is a new call.

use crate::id::Id;
use crate::observation::{Call, Step, Via};
use crate::time::{Millis, Timestamp};
use crate::verdict::Verdict;

/// Sessions that are told apart under one id.
pub(crate) const MAX_SIGHTINGS: usize = 8;
/// How long another kind of adapter may take to see the same tool use.
const TWICE: Millis = Millis(10 * Millis::MINUTE.0);
/// How long the same kind may take to report the same again.
const AGAIN: Millis = Millis(2 * Millis::SECOND.0);
/// How often the same kind may report the same again: a client may have the same hook in several settings.
const MAX_AGAIN: u8 = 3;

/// What was seen of a tool use, by session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AliasCell {
    pub(crate) touched: Timestamp,
    /// The latest last.
    pub(crate) seen: Vec<Sighting>,
}

/// A tool use of one session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sighting {
    pub(crate) session: Id,
    pub(crate) call: Option<Box<Seen>>,
    pub(crate) step: Option<Box<Seen>>,
}

/// A call or step that was judged, and who saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) at: Timestamp,
    /// Of a call its approach, of a step its outcome.
    pub(crate) what: u64,
    /// One bit for each kind of adapter.
    pub(crate) by: u8,
    pub(crate) again: u8,
    pub(crate) verdict: Verdict,
}

impl Seen {
    fn new(what: u64, via: Via, verdict: &Verdict, now: Timestamp) -> Option<Box<Self>> {
        Some(Box::new(Self {
            at: now,
            what,
            by: bit(via),
            again: 0,
            verdict: verdict.clone(),
        }))
    }

    /// The verdict, if this is another report of the same.
    fn repeated(&mut self, what: u64, via: Via, is_over: bool, now: Timestamp) -> Option<Verdict> {
        let age = now.since(self.at);
        let is_other = self.by & bit(via) == 0;
        if is_other && age < TWICE {
            self.by |= bit(via);
            return Some(self.verdict.clone());
        }
        let is_same = !is_other && !is_over && what == self.what;
        if is_same && age < AGAIN && self.again < MAX_AGAIN {
            self.again += 1;
            return Some(self.verdict.clone());
        }
        None
    }
}

const fn bit(via: Via) -> u8 {
    match via {
        Via::Api => 1,
        Via::Hook => 2,
        Via::Mcp => 4,
        Via::Gateway => 8,
    }
}

impl AliasCell {
    /// The session that a tool use belongs to, if it was seen in one only and not too long ago.
    #[must_use]
    pub fn session(&self, at: Timestamp) -> Option<&Id> {
        match self.seen.as_slice() {
            [one] if !self.is_expired(at) => Some(&one.session),
            _ => None,
        }
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        now.since(self.touched) >= Millis::DAY
    }

    pub(crate) fn expire(&mut self, now: Timestamp) {
        if self.is_expired(now) {
            *self = Self::default();
        }
    }

    fn sighting(&mut self, session: &Id) -> Option<&mut Sighting> {
        self.seen.iter_mut().find(|one| one.session == *session)
    }

    /// Whether a hook saw this very call and this kind of adapter, which stands behind the client, did not:
    /// if the client asked its person, they let it run. Another call under the same id is not it.
    pub(crate) fn passed_hook(&mut self, call: &Call) -> bool {
        let behind = matches!(call.via, Via::Mcp | Via::Api);
        let what = call.approach.exact.prefix();
        let seen = self
            .sighting(&call.session)
            .and_then(|one| one.call.as_ref());
        let passed = |seen: &Seen| {
            seen.what == what && seen.by & bit(Via::Hook) != 0 && seen.by & bit(call.via) == 0
        };
        behind && seen.is_some_and(|seen| passed(seen))
    }

    /// The verdict on a call that was seen before.
    pub(crate) fn repeated_call(&mut self, call: &Call, now: Timestamp) -> Option<Verdict> {
        let sighting = self.sighting(&call.session)?;
        let is_over = sighting.step.is_some();
        let what = call.approach.exact.prefix();
        let seen = sighting.call.as_mut()?;
        seen.repeated(what, call.via, is_over, now)
    }

    /// The verdict on a step that was seen before.
    pub(crate) fn repeated_step(&mut self, step: &Step, now: Timestamp) -> Option<Verdict> {
        let seen = self.sighting(&step.session)?.step.as_mut()?;
        seen.repeated(step.outcome.exact.prefix(), step.via, false, now)
    }

    /// A call that is not a repeated one.
    pub(crate) fn saw_call(&mut self, call: &Call, verdict: &Verdict, now: Timestamp) {
        let what = call.approach.exact.prefix();
        let sighting = Sighting {
            session: call.session.clone(),
            call: Seen::new(what, call.via, verdict, now),
            step: None,
        };
        self.put(sighting);
    }

    /// A call that was seen before and got another verdict now. Who saw it before did see it.
    pub(crate) fn saw_again(&mut self, call: &Call, verdict: &Verdict) {
        let seen = self
            .sighting(&call.session)
            .and_then(|one| one.call.as_mut());
        if let Some(seen) = seen {
            seen.verdict = verdict.clone();
        }
    }

    /// A step that is not a repeated one.
    pub(crate) fn saw_step(&mut self, step: &Step, verdict: &Verdict, now: Timestamp) {
        let what = step.outcome.exact.prefix();
        let call = self.sighting(&step.session).and_then(|one| one.call.take());
        let sighting = Sighting {
            session: step.session.clone(),
            call,
            step: Seen::new(what, step.via, verdict, now),
        };
        self.put(sighting);
    }

    fn put(&mut self, sighting: Sighting) {
        self.seen.retain(|one| one.session != sighting.session);
        if self.seen.len() >= MAX_SIGHTINGS {
            self.seen.remove(0);
        }
        self.seen.push(sighting);
    }
}
