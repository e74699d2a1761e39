//! A loop while it goes on: from the first act that a rule counts to the last one that it complains about.

use std::collections::VecDeque;

use sprag_core::{Decision, RuleId, Timestamp};

use crate::brief;
use crate::fold::Finding;
use crate::found::{Beat, Ending, Loop, Reaction, Saved, Spent};
use crate::recent::{Meter, Recent, Recents};
use crate::source::Source;

/// Acts that no rule minds between two that one does: fewer belong to the loop, as the edits between failing tests do.
const GAP: usize = 8;
/// Calls after a loop from which on an agent has gone on with something else.
const WENT_ON: usize = 2;
/// How many calls of a loop are kept from its beginning, and from its end.
const MAX_FIRST: usize = 24;
const MAX_LAST: usize = 8;
/// How many points in time are kept for a picture.
const MAX_TICKS: usize = 2_000;

/// A loop while it goes on.
#[derive(Debug)]
pub(crate) struct Episode {
    rule: RuleId,
    verdict: Decision,
    first: usize,
    last: usize,
    began: Timestamp,
    ended: Timestamp,
    before: Meter,
    after: Meter,
    what: String,
    outcome: String,
    warned: Option<Reaction>,
    stopped: Option<(Reaction, Timestamp, Meter)>,
    beats: Vec<Recent>,
    tail: VecDeque<Recent>,
    ticks: Vec<u32>,
}

/// What is known of a session when one of its turns ends.
pub(crate) struct TurnEnd<'a> {
    pub(crate) source: Source,
    pub(crate) project: Option<&'a str>,
    pub(crate) session: &'a str,
    pub(crate) file: &'a str,
    pub(crate) last: usize,
    pub(crate) ending: Ending,
    pub(crate) has_times: bool,
    pub(crate) has_tokens: bool,
}

impl Episode {
    /// Begins with the act `number`, to which `finding` was the answer. `earliest` is the first act of the turn.
    pub(crate) fn begin(
        recents: &Recents,
        number: usize,
        finding: &Finding,
        earliest: usize,
    ) -> Option<Self> {
        let this = recents.get(number)?;
        let first = recents.start(number, finding.rule, finding.count, earliest);
        let start = recents.get(first).unwrap_or(this);
        let mut episode = Self {
            rule: finding.rule,
            verdict: finding.decision,
            first,
            last: first.saturating_sub(1),
            began: start.at,
            ended: start.at,
            before: start.before,
            after: start.after,
            what: String::new(),
            outcome: String::new(),
            warned: None,
            stopped: None,
            beats: Vec::new(),
            tail: VecDeque::new(),
            ticks: Vec::new(),
        };
        episode.extend(recents, number, finding);
        Some(episode)
    }

    /// Whether what a rule says of the act `number` is about this loop.
    pub(crate) fn goes_on(&self, recents: &Recents, number: usize, finding: &Finding) -> bool {
        let start = recents.start(number, finding.rule, finding.count, 1);
        start <= self.last.saturating_add(1).saturating_add(GAP)
    }

    /// Whether nothing has been said of it for so long that it is over.
    pub(crate) fn is_over(&self, number: usize) -> bool {
        number > self.last.saturating_add(4 * GAP)
    }

    /// Takes the acts up to `number` into it.
    pub(crate) fn extend(&mut self, recents: &Recents, number: usize, finding: &Finding) {
        let Some(this) = recents.get(number) else {
            return;
        };
        if finding.decision > self.verdict || self.what.is_empty() {
            self.what = brief::call(this);
            self.outcome = brief::outcome(this);
        }
        self.verdict = self.verdict.max(finding.decision);
        let reaction = || Reaction {
            call: number,
            verdict: finding.decision,
            rule: finding.rule,
            message: brief::text(&finding.message),
        };
        if finding.decision.refuses() {
            if self.stopped.is_none() {
                self.stopped = Some((reaction(), this.at, this.after));
            }
        } else if self.warned.is_none() && self.stopped.is_none() {
            self.warned = Some(reaction());
        }
        for act in recents.between(self.last.saturating_add(1), number) {
            self.take(act);
        }
        // A call is judged before its result is there, and again with it.
        if self.last == number {
            self.renew(this);
        }
        self.last = self.last.max(number);
        (self.ended, self.after) = (this.at.max(self.ended), this.after);
    }

    fn take(&mut self, act: &Recent) {
        if self.ticks.len() < MAX_TICKS {
            let after = act.at.since(self.began).0;
            self.ticks.push(u32::try_from(after).unwrap_or(u32::MAX));
        }
        if self.beats.len() < MAX_FIRST {
            self.beats.push(act.clone());
            return;
        }
        if self.tail.len() >= MAX_LAST {
            self.tail.pop_front();
        }
        self.tail.push_back(act.clone());
    }

    fn renew(&mut self, act: &Recent) {
        let kept = self.beats.iter_mut().chain(&mut self.tail);
        if let Some(kept) = kept.into_iter().find(|kept| kept.number == act.number) {
            kept.clone_from(act);
        }
    }

    /// What the results and verdicts of its acts turned out to be.
    pub(crate) fn refresh(&mut self, recents: &Recents) {
        for kept in self.beats.iter_mut().chain(&mut self.tail) {
            if let Some(act) = recents.get(kept.number) {
                kept.clone_from(act);
            }
        }
        if let Some(act) = recents.get(self.last) {
            self.after = act.after;
            self.ended = self.ended.max(act.at);
        }
    }

    /// The loop, now that the turn is over.
    pub(crate) fn close(self, turn: &TurnEnd<'_>) -> Loop {
        let calls = self.last.saturating_sub(self.first).saturating_add(1);
        let calls_after = turn.last.saturating_sub(self.last);
        let perhaps_wrong =
            self.stopped.is_some() && calls_after >= WENT_ON && turn.ending == Ending::Finished;
        let saved = match &self.stopped {
            Some((stop, at, meter)) if !perhaps_wrong => Saved {
                calls: self.last.saturating_sub(stop.call)
                    + usize::from(!is_after_the_fact(stop.rule)),
                seconds: if turn.has_times {
                    self.ended.since(*at).0 / 1_000
                } else {
                    0
                },
                tokens: spent(*meter, self.after, turn.has_tokens).total,
            },
            _ => Saved::default(),
        };
        let shown = self.beats.len().saturating_add(self.tail.len());
        let began = self.began;
        let beats = self.beats.iter().chain(&self.tail);
        let beats: Vec<Beat> = beats.map(|act| beat(act, began)).collect();
        // A call that is refused before it runs is judged without its result.
        let outcome = beats.iter().find(|beat| beat.what == self.what);
        let outcome = outcome.map(|beat| beat.outcome.clone());
        Loop {
            client: turn.source,
            project: turn.project.map(str::to_owned),
            session: turn.session.to_owned(),
            file: turn.file.to_owned(),
            began: turn.has_times.then_some(self.began),
            rule: self
                .stopped
                .as_ref()
                .map_or(self.rule, |(stop, ..)| stop.rule),
            verdict: self.verdict,
            first_call: self.first,
            last_call: self.last,
            calls,
            seconds: turn.has_times.then(|| self.ended.since(began).0 / 1_000),
            tokens: spent(self.before, self.after, turn.has_tokens),
            what: self.what,
            outcome: Some(self.outcome)
                .filter(|outcome| !outcome.is_empty())
                .or(outcome)
                .unwrap_or_default(),
            warned: self.warned,
            stopped: self.stopped.map(|(stop, ..)| stop),
            saved,
            ending: turn.ending,
            calls_after,
            perhaps_wrong,
            beats,
            left_out: calls.saturating_sub(shown),
            ticks: self.ticks,
        }
    }
}

/// Whether a rule speaks when a call has run, so that it stops only the next one.
fn is_after_the_fact(rule: RuleId) -> bool {
    rule.as_str().starts_with("progress.")
}

fn spent(before: Meter, after: Meter, has_tokens: bool) -> Spent {
    let tokens = after.tokens.since(before.tokens);
    if has_tokens {
        return Spent {
            input: tokens.input,
            cached: tokens.cached,
            output: tokens.output,
            total: tokens.total(),
            estimated: false,
        };
    }
    let guess = after.bytes.saturating_sub(before.bytes) / 4;
    Spent {
        total: guess,
        estimated: true,
        ..Spent::default()
    }
}

fn beat(act: &Recent, began: Timestamp) -> Beat {
    Beat {
        call: act.number,
        after_ms: act.at.since(began).0,
        what: brief::call(act),
        outcome: brief::outcome(act),
        failed: act.is_error,
        verdict: act.decision,
    }
}
