//! Questions to a person: which are open, and what people said.

use std::collections::BTreeSet;

use sprag_core::{
    Answer, ApprovalScope, Call, Code, Decision, Id, Limits, Millis, Observed, ObservedEffect,
    Reach, RuleId, Scope, Timestamp, approval_code,
};

use super::effects::reach;
use super::judge::{Action, Actor, Model};
use super::record::{
    AskedCall, Deed, EventFacts, Losses, ModelError, ModelVerdict, PendingCall, QuestionState,
    Record,
};

/// How long a declined call is refused.
const DECLINED_FOR: Millis = Millis(600_000);

/// So many may be open in a session.
const MAX_OPEN: usize = 16;

/// A question and where it stands.
pub(crate) struct Question<'a> {
    asked: AskedCall<'a>,
    pub(crate) state: QuestionState,
}

impl Question<'_> {
    fn is_live(&self, now: Timestamp) -> bool {
        match self.state {
            QuestionState::Open => now < self.asked.until,
            QuestionState::Approved(until) | QuestionState::Declined(until) => now < until,
            QuestionState::Granted => true,
            QuestionState::Used => false,
        }
    }
}

/// What people said about a call.
pub(crate) enum Said {
    Yes(Id),
    No,
    Nothing,
}

impl<'a> Actor<'_, 'a> {
    /// Every question of the session that still means something.
    fn questions(&self, now: Timestamp) -> Vec<Question<'a>> {
        let mut all = self.all_questions(self.life.len());
        all.retain(|one| one.is_live(now));
        all
    }

    /// Every question of its first `count` records, with what was said.
    fn all_questions(&self, count: usize) -> Vec<Question<'a>> {
        let mut all: Vec<Question<'a>> = Vec::new();
        for record in &self.life[..count] {
            if record.facts.user_word && record.cells.receiver == Some(self.id) {
                all.retain(|one| !matches!(one.state, QuestionState::Declined(_)));
            }
            if record.cells.session != Some(self.id) {
                continue;
            }
            if let Some(asked) = &record.facts.asks {
                all.push(Question {
                    asked: asked.clone(),
                    state: QuestionState::Open,
                });
            }
            if let Some((code, state)) = &record.facts.resolves {
                let resolved = all.iter_mut().filter(|one| one.asked.code == *code);
                resolved.for_each(|one| one.state = *state);
            }
        }
        all
    }

    /// Whether a user takes part in the session.
    pub(crate) fn is_attended(&self) -> bool {
        let heard = |record: &Record<'_>| {
            record.facts.attends.is_some() && record.cells.receiver == Some(self.id)
        };
        self.life.iter().any(heard)
    }

    /// The first record of its life that no user saw: after the last user's word that found nothing declined of late.
    pub(crate) fn seen_by_user(&self) -> usize {
        let mut seen = 0;
        for (at, record) in self.life.iter().enumerate() {
            if record.facts.user_word && record.cells.receiver == Some(self.id) {
                let declined = |one: &Question<'_>| {
                    matches!(one.state, QuestionState::Declined(_)) && one.is_live(record.now)
                };
                if !self.all_questions(at).iter().any(declined) {
                    seen = at;
                }
            }
        }
        seen
    }

    /// How many questions were asked since the session read as new.
    fn asked(&self) -> u32 {
        let own = |record: &&Record<'_>| record.cells.session == Some(self.id);
        let asked = self.life.iter().filter(own);
        let count = asked.filter(|record| record.facts.asks.is_some()).count();
        u32::try_from(count).expect("histories are short")
    }
}

impl<'a> Action<'_, 'a> {
    pub(crate) fn said(&self, call: &'a Call, limits: &Limits) -> Said {
        let (exact, deed) = (call.approach.exact, self.deed(call, limits));
        let live = self.actor.questions(self.now);
        let granted = live
            .iter()
            .find(|one| one.state == QuestionState::Granted && one.asked.deed == deed);
        let approved = live.iter().find(|one| {
            matches!(one.state, QuestionState::Approved(_)) && one.asked.exact == exact
        });
        let declined = |one: &Question<'_>| {
            matches!(one.state, QuestionState::Declined(_)) && one.asked.exact == exact
        };
        match granted.or(approved) {
            Some(one) => Said::Yes(one.asked.code.clone()),
            None if live.iter().any(declined) => Said::No,
            None => Said::Nothing,
        }
    }

    /// What becomes of an approval when its call is made.
    pub(crate) fn after_use(&self, code: &Id) -> QuestionState {
        let live = self.actor.questions(self.now);
        let granted = live
            .iter()
            .any(|one| one.asked.code == *code && one.state == QuestionState::Granted);
        if granted {
            QuestionState::Granted
        } else {
            QuestionState::Used
        }
    }

    /// Writes into the verdict which question it asks, or which one it resolves.
    pub(crate) fn name_question(
        &self,
        what: &'a Observed,
        verdict: &mut ModelVerdict,
        facts: &mut EventFacts<'a>,
    ) {
        if let (Decision::Ask, Observed::Call(call)) = (verdict.decision, what) {
            let limits = &*self.actor.limits;
            let is_series = verdict.rule == Some(RuleId::DestructiveVolume)
                && self.actor.is_attended()
                && limits.destructive.scope == Scope::Session
                && self.destroys(call, limits).is_some()
                && !matches!(self.deed(call, limits), Deed::By(..));
            verdict.approval = self.ask((call, is_series), limits, facts);
            if verdict.approval.is_some() {
                verdict.code = Some(Code::ApprovalRequired);
            } else {
                verdict.decision = Decision::Deny;
                facts.pending.iter_mut().for_each(|call| call.asked = false);
            }
        } else if let Some((code, _)) = &facts.resolves {
            verdict.approval = Some(code.clone());
        }
    }

    /// The code under which a call is asked about; a new question is kept in `facts`. None if too many are
    /// open.
    fn ask(
        &self,
        (call, is_series): (&'a Call, bool),
        limits: &Limits,
        facts: &mut EventFacts<'a>,
    ) -> Option<Id> {
        let exact = call.approach.exact;
        let live = self.actor.questions(self.now);
        let same =
            |one: &&Question<'_>| one.state == QuestionState::Open && one.asked.exact == exact;
        if let Some(open) = live.iter().find(same) {
            return Some(open.asked.code.clone());
        }
        let open = live.iter().filter(|one| one.state == QuestionState::Open);
        if open.count() >= MAX_OPEN {
            return None;
        }
        let count = self.actor.asked() + 1;
        let generation = self.actor.generation;
        let code = approval_code(exact.prefix(), self.actor.id, generation, count);
        let code = code.expect("a code is an id");
        facts.asks = Some(AskedCall {
            code: code.clone(),
            exact,
            deed: match is_series {
                true => Deed::Series(&call.approach.server, &call.approach.tool),
                false => self.deed(call, limits),
            },
            until: self.now.plus(limits.ask.expires),
        });
        Some(code)
    }

    /// A second adapter sees a call that a hook's client was told to ask about: it was let run there, if the
    /// question is still open.
    pub(crate) fn let_run_by_client(&self, call: &'a Call, code: &Id) -> Option<EventFacts<'a>> {
        let live = self.actor.questions(self.now);
        let open = live
            .iter()
            .find(|one| one.state == QuestionState::Open && one.asked.code == *code)?;
        let key = call.use_id.as_ref().or(call.id.as_ref())?;
        let waiting = self.pending(key);
        let waiting = waiting.filter(|waiting| waiting.asked && waiting.dialog)?;
        let approach = waiting.approach;
        Some(EventFacts {
            repeats: true,
            asked_before: true,
            accepted: true,
            resolves: Some((open.asked.code.clone(), QuestionState::Granted)),
            ran: Some(approach),
            pending: Some(PendingCall {
                key,
                refused: false,
                asked: false,
                dialog: waiting.dialog,
                approach,
                losses: Losses::default(),
            }),
            ..EventFacts::default()
        })
    }

    /// The open question about a call that ran.
    pub(crate) fn let_run(&self, exact: sprag_core::Digest) -> Option<Id> {
        let live = self.actor.questions(self.now);
        let open = live
            .iter()
            .find(|one| one.state == QuestionState::Open && one.asked.exact == exact)?;
        Some(open.asked.code.clone())
    }

    /// Whether a person let the tool go on with other things.
    pub(crate) fn goes_on(&self, call: &'a Call) -> bool {
        let series = Deed::Series(&call.approach.server, &call.approach.tool);
        let granted =
            |one: &Question<'_>| one.state == QuestionState::Granted && one.asked.deed == series;
        self.actor.questions(self.now).iter().any(granted)
    }

    fn deed(&self, call: &'a Call, limits: &Limits) -> Deed<'a> {
        let asked = |effect: &&ObservedEffect| {
            matches!(
                reach(effect, limits),
                Reach::Outside | Reach::Shared | Reach::Sweeping
            )
        };
        let by: BTreeSet<_> = call
            .effects
            .iter()
            .filter(asked)
            .map(|effect| (&*effect.by, effect.verb, effect.target))
            .collect();
        if !by.is_empty() {
            return Deed::By(&call.approach.server, &call.approach.tool, by);
        }
        let targets = self.destroys(call, limits).map(|(_, targets)| targets);
        match targets.filter(|targets| !targets.is_empty()) {
            Some(mut targets) => {
                targets.sort();
                targets.dedup();
                Deed::On(&call.approach.server, &call.approach.tool, targets)
            }
            None => Deed::Same(call.approach.normal),
        }
    }
}

impl<'a> Model<'a> {
    pub(crate) fn answer(
        &self,
        at: Timestamp,
        what: &'a Observed,
        answer: &'a Answer,
    ) -> Result<Record<'a>, ModelError> {
        let mut record = self.unjudged(at, what, &answer.session);
        let agent = self.agent_of(&answer.session, None);
        let limits = self.limits_of(&answer.session, agent);
        let expires = limits.ask.expires;
        let actor = self.actor(&answer.session, agent, limits, record.now);
        let live = actor.questions(record.now);
        let open = live
            .iter()
            .find(|one| one.asked.code == answer.approval && one.state == QuestionState::Open);
        if open.is_none() || actor.is_killed {
            return Err(ModelError::NotOpen);
        }
        let state = match (what, answer.scope) {
            (Observed::Decline(_), _) => QuestionState::Declined(record.now.plus(DECLINED_FOR)),
            (_, ApprovalScope::Once) => QuestionState::Approved(record.now.plus(expires)),
            _ => QuestionState::Granted,
        };
        record.facts.resolves = Some((answer.approval.clone(), state));
        record.verdict.approval = Some(answer.approval.clone());
        Ok(record)
    }
}
