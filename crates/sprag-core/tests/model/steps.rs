//! Steps after they ran: the plain matrix of approaches and outcomes.

use sprag_core::{Classifier, Code, Decision, Digest, Id, Mode, RuleId, Step};

use super::findings::Findings;
use super::judge::{Action, ModelOutcome, killed};
use super::record::{EventFacts, FarLosses, Losses, PendingCall, QuestionState, Record};

/// How many calls of a session may wait for their step.
const MAX_PENDING: usize = 64;
/// How many things that a session did are known.
const MAX_DID: usize = 8;

/// The two streaks of the matrix.
#[derive(Debug, Default, Clone, Copy)]
struct Streaks {
    stagnation: u32,
    stuck: u32,
}

impl<'a> Action<'_, 'a> {
    pub(crate) fn step(&self, step: &'a Step) -> ModelOutcome<'a> {
        if self.actor.is_killed {
            return (killed(Decision::Kill), EventFacts::default());
        }
        let key = step.use_id.as_ref().or(step.id.as_ref());
        let pending = key.and_then(|key| self.pending(key));
        let mut facts = EventFacts {
            completes: pending.as_ref().map(|call| call.key),
            ..EventFacts::default()
        };
        let mut findings = Findings::default();
        if pending
            .as_ref()
            .is_some_and(|call| call.refused && !call.asked)
        {
            return (findings, facts);
        }
        let ran = pending.as_ref().filter(|call| call.asked);
        facts.ran = ran.map(|call| call.approach);
        let dialog = ran.filter(|call| call.dialog);
        let let_run = dialog.and_then(|call| self.let_run(call.approach.exact));
        if let (Some(call), None) = (ran, &let_run) {
            self.count(call.losses.clone(), &mut facts);
        }
        facts.resolves = let_run.map(|code| (code, QuestionState::Granted));
        facts.accepted = true;
        facts.step = true;
        // What was called is what was done, whatever the step says of it.
        let called = pending.as_ref().map(|call| call.approach);
        let approach = called.or(step.approach.as_ref());
        facts.reported = approach;
        let did = approach.map(|approach| (approach.normal, step.outcome.normal));
        facts.works = did.is_none_or(|did| !self.did_lately(did));
        facts.did = did.filter(|_| facts.works);
        facts.action = pending.is_none();
        if facts.action {
            self.actor.judge_actions(true, &mut findings);
        }
        if self.is_blocked_for_steps(&mut findings) {
            return (findings, facts);
        }
        facts.warned = self.amounts(None, &mut findings);
        if let Some(approach) = approach {
            let judged = (approach.exact, step.outcome.exact);
            facts.judged = Some(judged);
            self.progress(judged, &mut findings);
        }
        (findings, facts)
    }

    /// Counts what a call destroyed that nobody approved, where this step counts.
    fn count(&self, losses: Losses<'a>, facts: &mut EventFacts<'a>) {
        let scope = self.scope();
        facts.destroys = losses.destroys.map(|(_, targets)| (scope, targets));
        facts.far = losses.far.map(|far| FarLosses { scope, ..far });
        facts.near = losses.near;
    }

    /// Blocked sessions' steps are recorded, not judged.
    fn is_blocked_for_steps(&self, findings: &mut Findings) -> bool {
        let limits = &*self.actor.limits;
        if !self.actor.is_blocked {
            return false;
        }
        let code = Some(Code::SessionBlockedLoopGuard);
        findings.add_coded(limits, RuleId::SessionBlocked, Decision::Warn, code);
        limits.modes.get(RuleId::SessionBlocked) >= Mode::Ask
    }

    /// Whether the session did this lately, with the same outcome.
    fn did_lately(&self, did: (Digest, Digest)) -> bool {
        let own = |record: &&Record<'_>| record.cells.session == Some(self.actor.id);
        let records = self.actor.life.iter().rev().filter(own);
        let mut lately = records.filter_map(|record| record.facts.did).take(MAX_DID);
        lately.any(|earlier| earlier == did)
    }

    /// The call that waits under this key.
    pub(crate) fn pending(&self, key: &Id) -> Option<PendingCall<'a>> {
        let mut waiting: Vec<PendingCall<'a>> = Vec::new();
        for record in self.actor.life {
            if record.cells.session != Some(self.actor.id) {
                continue;
            }
            if let Some(call) = record.facts.pending.clone() {
                waiting.retain(|other| other.key != call.key);
                waiting.push(call);
                if waiting.len() > MAX_PENDING {
                    waiting.remove(0);
                }
            }
            waiting.retain(|call| Some(call.key) != record.facts.completes);
        }
        waiting.into_iter().find(|call| call.key == key)
    }

    fn progress(&self, step: (Digest, Digest), findings: &mut Findings) {
        let limits = &*self.actor.limits;
        if limits.progress.classifier != Classifier::Plain {
            return;
        }
        let streaks = self.streaks(step);
        for (rule, streak, at) in [
            (
                RuleId::ProgressStagnation,
                streaks.stagnation,
                limits.progress.stagnation,
            ),
            (RuleId::ProgressStuck, streaks.stuck, limits.progress.stuck),
        ] {
            if streak >= at.block.get() {
                findings.add(limits, rule, Decision::Block);
            } else if streak >= at.warn.get() {
                findings.add(limits, rule, Decision::Warn);
            }
        }
    }

    /// The streaks after `step`: the matrix applied to every judged step in turn.
    fn streaks(&self, step: (Digest, Digest)) -> Streaks {
        let mut seen: Vec<(Digest, Digest)> = Vec::new();
        let mut streaks = Streaks::default();
        let mut judge = |streaks: &mut Streaks, (approach, outcome)| {
            let approach_seen = seen.iter().any(|(earlier, _)| *earlier == approach);
            let outcome_seen = seen.iter().any(|(_, earlier)| *earlier == outcome);
            *streaks = match (approach_seen, outcome_seen) {
                (_, false) => Streaks::default(),
                (false, true) => Streaks {
                    stagnation: 0,
                    stuck: streaks.stuck + 1,
                },
                (true, true) => Streaks {
                    stagnation: streaks.stagnation + 1,
                    stuck: 0,
                },
            };
            seen.push((approach, outcome));
        };
        for record in self.actor.life {
            let is_own = record.cells.session == Some(self.actor.id);
            if let Some(earlier) = record.facts.judged.filter(|_| is_own) {
                judge(&mut streaks, earlier);
            }
            let starts_again = record.facts.user_word || record.facts.starts_run;
            if starts_again && record.cells.receiver == Some(self.actor.id) {
                streaks = Streaks::default();
            }
        }
        judge(&mut streaks, step);
        streaks
    }
}
