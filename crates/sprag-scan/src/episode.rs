//! A loop while it goes on: from the first call that a rule counts to the last one that it complains about.

use std::collections::VecDeque;

use sprag_core::{Decision, RuleId, Timestamp};
use sprag_hooks::Client;

use crate::excerpt::{self, Excerpts};
use crate::fold::ShadowFinding;
use crate::found_loop::{Ending, Loop, LoopStep, LoopTokens, Reaction, Saved};
use crate::recent_calls::{Meter, RecentCall, RecentCalls};
use crate::transcript_source::TranscriptSource;

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
    steps: Vec<RecentCall>,
    tail: VecDeque<RecentCall>,
    ticks: Vec<u32>,
}

/// What is known of a session when one of its turns ends.
pub(crate) struct TurnEnd<'a> {
    pub(crate) source: TranscriptSource,
    pub(crate) project: Option<&'a str>,
    pub(crate) session: &'a str,
    pub(crate) file: &'a str,
    pub(crate) last: usize,
    pub(crate) ending: Ending,
    pub(crate) has_times: bool,
    pub(crate) has_tokens: bool,
    /// Calls that Sprag refused in the session so far.
    pub(crate) refused: usize,
}

impl Episode {
    /// Begins with the call `number`, to which `finding` was the answer. `earliest` is the first call of the turn.
    pub(crate) fn begin(
        recents: &RecentCalls,
        number: usize,
        finding: &ShadowFinding,
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
            steps: Vec::new(),
            tail: VecDeque::new(),
            ticks: Vec::new(),
        };
        episode.extend(recents, number, finding);
        Some(episode)
    }

    /// Whether what a rule says of the call `number` is about this loop.
    pub(crate) fn goes_on(
        &self,
        recents: &RecentCalls,
        number: usize,
        finding: &ShadowFinding,
    ) -> bool {
        let start = recents.start(number, finding.rule, finding.count, 1);
        start <= self.last.saturating_add(1).saturating_add(GAP)
    }

    /// Whether nothing has been said of it for so long that it is over.
    pub(crate) fn is_over(&self, number: usize) -> bool {
        number > self.last.saturating_add(4 * GAP)
    }

    /// Takes the calls up to `number` into it.
    pub(crate) fn extend(&mut self, recents: &RecentCalls, number: usize, finding: &ShadowFinding) {
        let Some(this) = recents.get(number) else {
            return;
        };
        if finding.decision > self.verdict || self.what.is_empty() {
            self.what = excerpt::call(this);
            self.outcome = excerpt::outcome(this);
        }
        self.verdict = self.verdict.max(finding.decision);
        let reaction = || Reaction {
            call: number,
            verdict: finding.decision,
            rule: finding.rule,
            message: excerpt::text(&finding.message),
        };
        if finding.decision.refuses() {
            if self.stopped.is_none() {
                self.stopped = Some((reaction(), this.at, this.after));
            }
        } else if self.warned.is_none() && self.stopped.is_none() {
            self.warned = Some(reaction());
        }
        for call in recents.between(self.last.saturating_add(1), number) {
            self.take(call);
        }
        // A call is judged before its result is there, and again with it.
        if self.last == number {
            self.renew(this);
        }
        self.last = self.last.max(number);
        (self.ended, self.after) = (this.at.max(self.ended), this.after);
    }

    fn take(&mut self, call: &RecentCall) {
        if self.ticks.len() < MAX_TICKS {
            let after = call.at.since(self.began).0;
            self.ticks.push(u32::try_from(after).unwrap_or(u32::MAX));
        }
        if self.steps.len() < MAX_FIRST {
            self.steps.push(call.clone());
            return;
        }
        if self.tail.len() >= MAX_LAST {
            self.tail.pop_front();
        }
        self.tail.push_back(call.clone());
    }

    fn renew(&mut self, call: &RecentCall) {
        let kept = self.steps.iter_mut().chain(&mut self.tail);
        if let Some(kept) = kept.into_iter().find(|kept| kept.number == call.number) {
            kept.clone_from(call);
        }
    }

    /// What the results and verdicts of its calls turned out to be.
    pub(crate) fn refresh(&mut self, recents: &RecentCalls) {
        for kept in self.steps.iter_mut().chain(&mut self.tail) {
            if let Some(call) = recents.get(kept.number) {
                kept.clone_from(call);
            }
        }
        if let Some(call) = recents.get(self.last) {
            self.after = call.after;
            self.ended = self.ended.max(call.at);
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
                seconds: self.ended.since(*at).0 / 1_000 * u64::from(turn.has_times),
                tokens: spent(*meter, self.after, turn.has_tokens).total,
            },
            _ => Saved::default(),
        };
        let shown = self.steps.len().saturating_add(self.tail.len());
        let began = self.began;
        let steps = self.steps.iter().chain(&self.tail);
        let mut excerpts = Excerpts::default();
        let steps = steps.map(|call| step(call, began, &mut excerpts));
        let steps: Vec<LoopStep> = steps.collect();
        // A call that is refused before it runs is judged without its result.
        let outcome = steps.iter().find(|step| step.what == self.what);
        let outcome = outcome.map(|step| step.outcome.clone());
        let kept = self.steps.iter().chain(&self.tail);
        let unseen = kept.filter(|call| is_unseen(turn.source, call)).count();
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
            guarded: turn.refused > 0,
            unseen,
            ending: turn.ending,
            calls_after,
            perhaps_wrong,
            steps,
            left_out: calls.saturating_sub(shown),
            ticks: self.ticks,
        }
    }
}

/// Whether the hooks of the client don't report what came of the call: Codex sends nothing after a patch or
/// an MCP call that failed.
fn is_unseen(source: TranscriptSource, call: &RecentCall) -> bool {
    let is_codex = source == TranscriptSource::Client(Client::Codex);
    is_codex && call.is_error && (&*call.tool == "apply_patch" || call.tool.contains('/'))
}

/// Whether a rule speaks when a call has run, so that it stops only the next one.
fn is_after_the_fact(rule: RuleId) -> bool {
    rule.as_str().starts_with("progress.")
}

fn spent(before: Meter, after: Meter, has_tokens: bool) -> LoopTokens {
    let tokens = after.tokens.since(before.tokens);
    if has_tokens {
        return LoopTokens {
            input: tokens.input,
            cached: tokens.cached,
            output: tokens.output,
            total: tokens.total(),
            estimated: false,
        };
    }
    let guess = after.bytes.saturating_sub(before.bytes) / 4;
    LoopTokens {
        total: guess,
        estimated: true,
        ..LoopTokens::default()
    }
}

fn step<'c>(call: &'c RecentCall, began: Timestamp, excerpts: &mut Excerpts<'c>) -> LoopStep {
    LoopStep {
        call: call.number,
        after_ms: call.at.since(began).0,
        what: excerpts.call(call),
        outcome: excerpts.outcome(call),
        failed: call.is_error,
        verdict: call.decision,
    }
}
