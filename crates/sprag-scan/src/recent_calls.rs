//! The last calls of a session: where a loop began is known only when a rule has counted it.

use std::collections::VecDeque;

use sprag_core::{Decision, RuleId, Timestamp};

use crate::transcript_item::TokenCounts;

/// How many calls are remembered: as many as any rule looks back.
const MAX_RECENT: usize = 300;
/// How much of arguments and results is kept until somebody wants to read it.
const MAX_KEPT_BYTES: usize = 900;

/// An call of a session: a call with its result, or a message to another agent.
#[derive(Debug, Clone)]
pub(crate) struct RecentCall {
    /// Its number in the session, from 1.
    pub(crate) number: usize,
    pub(crate) at: Timestamp,
    pub(crate) tool: Box<str>,
    /// The arguments as JSON, cut off.
    pub(crate) args: Box<str>,
    /// The result, cut off.
    pub(crate) answer: Option<Truncated>,
    pub(crate) is_error: bool,
    pub(crate) call_key: u64,
    pub(crate) answer_key: u64,
    pub(crate) decision: Decision,
    /// What the session had spent before the model made this call, and when its result was there.
    pub(crate) before: Meter,
    pub(crate) after: Meter,
}

/// What a session has taken so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    pub(crate) tokens: TokenCounts,
    /// Bytes of calls and results, for an estimate where no tokens are told.
    pub(crate) bytes: u64,
}

/// The beginning of a text.
#[derive(Debug, Clone)]
pub(crate) struct Truncated {
    pub(crate) text: Box<str>,
    pub(crate) is_json: bool,
}

impl Truncated {
    pub(crate) fn of(text: &str, is_json: bool) -> Self {
        Self {
            text: beginning(text).into(),
            is_json,
        }
    }
}

/// As much of a text as is kept.
pub(crate) fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_KEPT_BYTES))
        .unwrap_or(text)
}

/// The last calls.
#[derive(Debug, Default)]
pub(crate) struct RecentCalls {
    calls: VecDeque<RecentCall>,
}

impl RecentCalls {
    pub(crate) fn push(&mut self, call: RecentCall) {
        if self.calls.len() >= MAX_RECENT {
            self.calls.pop_front();
        }
        self.calls.push_back(call);
    }

    /// Takes the last call back if it is the one with this number.
    pub(crate) fn take_back(&mut self, number: usize) -> bool {
        let is_last = self.calls.back().is_some_and(|last| last.number == number);
        if is_last {
            self.calls.pop_back();
        }
        is_last
    }

    pub(crate) fn get(&self, number: usize) -> Option<&RecentCall> {
        let first = self.calls.front()?.number;
        self.calls.get(number.checked_sub(first)?)
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut RecentCall> {
        let first = self.calls.front()?.number;
        self.calls.get_mut(number.checked_sub(first)?)
    }

    /// The calls from one number to another, both included, as far as they are remembered.
    pub(crate) fn between(&self, first: usize, last: usize) -> impl Iterator<Item = &RecentCall> {
        let known = self.calls.iter();
        known.filter(move |call| (first..=last).contains(&call.number))
    }

    /// The call with which what `rule` counts began, not before `earliest`.
    pub(crate) fn start(
        &self,
        number: usize,
        rule: RuleId,
        count: usize,
        earliest: usize,
    ) -> usize {
        let Some(this) = self.get(number) else {
            return number;
        };
        let back = number.saturating_sub(count).max(earliest);
        let same_call: fn(&RecentCall, &RecentCall) -> bool =
            |one, other| one.call_key == other.call_key;
        let (same, furthest) = match rule {
            RuleId::ProgressStuck => {
                let same: fn(&RecentCall, &RecentCall) -> bool =
                    |one, other| one.answer_key == other.answer_key;
                (same, number)
            }
            // Its repeats may be several calls in turn, or have work in between that it does not count.
            RuleId::ProgressStagnation => (same_call, back),
            RuleId::ProgressRecurrence
            | RuleId::ProgressChurn
            | RuleId::CallIdentical
            | RuleId::CallRepeat
            | RuleId::DestructiveTarget => (same_call, number),
            RuleId::DestructiveVolume | RuleId::ProgressProbe => {
                return back.saturating_add(1).min(number);
            }
            _ => return number,
        };
        let alike = self
            .between(earliest, number)
            .filter(|call| same(call, this));
        let alike: Vec<usize> = alike.map(|call| call.number).collect();
        let from_end = alike.len().saturating_sub(count.saturating_add(1));
        alike.get(from_end).copied().unwrap_or(number).min(furthest)
    }
}
