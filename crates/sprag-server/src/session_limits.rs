//! How many sessions one caller may open.
//!
//! A session costs memory, and one that was stopped is kept for long. So one caller may open a bounded
//! number of sessions an hour, and cause a bounded number of stops: past that its new sessions are
//! refused, and everyone else's are not. A caller is the holder of a token; all who show none are one caller.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sprag::{Decision, Event, Id, Millis, Role, RuleId, Sender, Timestamp, Verdict};

/// Callers that are told apart. There are as many tokens as an operator made; the rest is one caller.
const MAX_CALLERS: usize = 4_096;

/// What one caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionQuota {
    /// Sessions that one caller may open in an hour.
    pub opened_per_hour: u32,
    /// Sessions of one caller that may be killed or blocked while this server runs.
    pub stopped: u32,
}

impl Default for SessionQuota {
    fn default() -> Self {
        Self {
            opened_per_hour: 10_000,
            stopped: 25_000,
        }
    }
}

type CallerKey = (Role, Option<Id>);

/// What the callers did so far.
#[derive(Debug, Default)]
pub(crate) struct OpenSessionCounts {
    limits: SessionQuota,
    seen: Mutex<HashMap<CallerKey, CallerCounts>>,
}

#[derive(Debug, Default, Clone, Copy)]
struct CallerCounts {
    hour: u64,
    opened: u32,
    stopped: u32,
    /// The hour in which a refusal was logged.
    told: Option<u64>,
}

/// Why a caller may not open a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TooMany {
    pub(crate) why: String,
    /// Whether this is the first time in an hour, so that the log says it once.
    pub(crate) is_first: bool,
}

impl OpenSessionCounts {
    pub(crate) fn new(limits: SessionQuota) -> Self {
        Self {
            limits,
            seen: Mutex::default(),
        }
    }

    fn with<T>(&self, sender: &Sender, work: impl FnOnce(&mut CallerCounts) -> T) -> T {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (sender.role, sender.name.clone());
        if seen.contains_key(&key) || seen.len() < MAX_CALLERS {
            return work(seen.entry(key).or_default());
        }
        work(seen.entry((sender.role, None)).or_default())
    }

    /// Counts a session that `sender` is about to open, or says why it may not.
    pub(crate) fn open(&self, sender: &Sender, now: Timestamp) -> Result<(), TooMany> {
        if sender.role == Role::Operator {
            return Ok(());
        }
        let hour = now.0 / Millis::HOUR.0;
        let limits = self.limits;
        self.with(sender, |counts| {
            if counts.hour != hour {
                (counts.hour, counts.opened) = (hour, 0);
            }
            let why = if counts.stopped >= limits.stopped {
                format!(
                    "{} sessions of {sender} were killed or blocked since the server started",
                    counts.stopped
                )
            } else if counts.opened >= limits.opened_per_hour {
                format!("{sender} opened {} sessions in this hour", counts.opened)
            } else {
                counts.opened += 1;
                return Ok(());
            };
            let is_first = counts.told.replace(hour) != Some(hour);
            Err(TooMany { why, is_first })
        })
    }

    /// Counts a session that was stopped by what `sender` sent.
    pub(crate) fn judged(&self, sender: &Sender, verdict: &Verdict) {
        let repeats = matches!(
            verdict.rule,
            None | Some(RuleId::SessionKilled | RuleId::SessionPanic | RuleId::SessionBlocked)
        );
        if verdict.decision >= Decision::Block && !repeats {
            self.with(sender, |counts| {
                counts.stopped = counts.stopped.saturating_add(1);
            });
        }
    }
}

/// The sessions that an event would open.
pub(crate) fn sessions(event: &Event) -> impl Iterator<Item = &Id> {
    let (first, second) = match event {
        Event::Message(message) => (message.from.as_ref(), Some(&message.to)),
        Event::Kill(_) | Event::Reset(_) => (None, None),
        other => (Some(other.session()), None),
    };
    first.into_iter().chain(second)
}
