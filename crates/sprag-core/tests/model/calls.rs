//! Tool calls before they run, and the aliases under which two see one call.

use sprag_core::{
    Call, Code, Decision, Digest, Glob, Id, Limits, Millis, Observed, RuleId, Timestamp,
};

use super::findings::Findings;
use super::judge::{Action, Model, ModelOutcome, Origin, killed};
use super::questions::Said;
use super::record::{EventFacts, ModelVerdict, PendingCall, Record};

/// After this, a call begins a row.
const LULL: Millis = Millis(30_000);

impl<'a> Model<'a> {
    /// The answer that the first call or step of this `use_id` got, if this is not the first.
    pub(crate) fn first_sight(&self, at: Timestamp, what: &'a Observed) -> Option<ModelVerdict> {
        self.sightings(at, use_id(what)?)
            .filter(|record| !record.facts.repeats)
            .filter(|record| std::mem::discriminant(record.what) == std::mem::discriminant(what))
            .find(|record| !asks_again(record))
            .map(|record| record.verdict.clone())
    }

    /// What was seen of a `use_id` that is not forgotten.
    fn sightings<'h>(
        &'h self,
        at: Timestamp,
        id: &'h Id,
    ) -> impl Iterator<Item = &'h Record<'a>> + use<'h, 'a> {
        let mut found: Vec<&Record<'a>> = Vec::new();
        for record in &self.history.records {
            if use_id(record.what) == Some(id) {
                if forgotten(record.now, found.last().copied()) {
                    found.clear();
                }
                found.push(record);
            }
        }
        if forgotten(at, found.last().copied()) {
            found.clear();
        }
        found.into_iter()
    }

    /// What a call, step or usage says of itself; a known `use_id` says whose it is.
    pub(crate) fn origin(&self, at: Timestamp, what: &'a Observed) -> Origin<'a> {
        let (session, agent, flow, generation, identity) = match what {
            Observed::Call(e) => (&e.session, &e.agent, &e.flow, e.generation, e.identity),
            Observed::Step(e) => (&e.session, &e.agent, &e.flow, e.generation, e.identity),
            Observed::Usage(e) => (&e.session, &e.agent, &e.flow, e.generation, e.identity),
            _ => unreachable!("only calls, steps and usage are deeds"),
        };
        let aliased = use_id(what)
            .and_then(|id| self.sightings(at, id).next())
            .and_then(|record| record.cells.session);
        Origin {
            session: aliased.unwrap_or(session),
            agent: agent.as_ref(),
            flow: flow.as_ref(),
            generation,
            identity,
        }
    }
}

fn use_id(what: &Observed) -> Option<&Id> {
    match what {
        Observed::Call(call) => call.use_id.as_ref(),
        Observed::Step(step) => step.use_id.as_ref(),
        _ => None,
    }
}

/// A call that was asked about is judged again: somebody may have answered.
fn asks_again(record: &Record<'_>) -> bool {
    matches!(record.what, Observed::Call(_)) && record.verdict.decision == Decision::Ask
}

fn forgotten(now: Timestamp, last: Option<&Record<'_>>) -> bool {
    last.is_some_and(|last| now.since(last.now) >= Millis::DAY)
}

impl<'a> Action<'_, 'a> {
    pub(crate) fn call(&self, call: &'a Call) -> ModelOutcome<'a> {
        let limits = &*self.actor.limits;
        let mut facts = EventFacts {
            pending: call
                .use_id
                .as_ref()
                .or(call.id.as_ref())
                .map(|key| PendingCall {
                    key,
                    refused: true,
                    asked: false,
                    approach: &call.approach,
                }),
            ..EventFacts::default()
        };
        if self.actor.is_killed {
            return (killed(Decision::Kill), facts);
        }
        facts.action = true;
        let said = self.said(call, limits);
        let mut findings = Findings::lifting(matches!(said, Said::Yes(_)));
        if self.passes_gates(call, &mut findings) {
            self.identical(call, limits, &mut findings);
            self.repeat(call, limits, &mut findings);
            self.destructive(call, limits, &mut findings);
            facts.warned = self.amounts(None, &mut findings);
        }
        self.actor.judge_actions(false, &mut findings);
        if matches!(said, Said::No) {
            findings.decline();
        }
        if let Some(rule) = findings.refusal() {
            facts.defied = self.defiance(rule, &mut findings);
            let asked = findings.asks();
            facts.pending.iter_mut().for_each(|call| call.asked = asked);
        } else {
            facts.accepted = true;
            match said {
                Said::Yes(code) if findings.lifted => {
                    let state = self.after_use(&code);
                    facts.settles = Some((code, state));
                }
                _ => facts.destroys = self.destroys(call, limits),
            }
            facts
                .pending
                .iter_mut()
                .for_each(|call| call.refused = false);
        }
        (findings, facts)
    }

    /// `access.denied`, `access.self` and `session.blocked`: the first that is enforced ends it.
    fn passes_gates(&self, call: &Call, findings: &mut Findings) -> bool {
        let limits = &*self.actor.limits;
        if is_denied(call, limits) {
            findings.add(limits, RuleId::AccessDenied, Decision::Deny);
        }
        if findings.refusal().is_none() && call.approach.touches_guard {
            findings.add(limits, RuleId::AccessSelf, Decision::Deny);
        }
        if findings.refusal().is_some() {
            return false;
        }
        if self.actor.is_blocked {
            let code = Some(Code::SessionBlockedLoopGuard);
            findings.add_coded(limits, RuleId::SessionBlocked, Decision::Deny, code);
        }
        findings.refusal().is_none()
    }

    fn identical(&self, call: &Call, limits: &Limits, findings: &mut Findings) {
        let same = self
            .allowed_calls()
            .filter(|(at, earlier)| {
                self.now.since(*at) < limits.call.window && *earlier == call.approach.exact
            })
            .count();
        if same >= limits.call.max_identical.get() as usize {
            findings.add(limits, RuleId::CallIdentical, Decision::Deny);
        }
    }

    fn repeat(&self, call: &Call, limits: &Limits, findings: &mut Findings) {
        let calls: Vec<_> = self.allowed_calls().collect();
        let mut next = self.now;
        let in_a_row = calls
            .iter()
            .rev()
            .take_while(|(at, earlier)| {
                let soon = next.since(*at) < LULL;
                next = *at;
                soon && *earlier == call.approach.exact
            })
            .count();
        let limit = limits.call.repeat.get() as usize;
        let repeats = in_a_row + 1 >= limit || self.ends_round(&calls, call, limit);
        if !self.reports(call) && repeats {
            findings.add(limits, RuleId::CallRepeat, Decision::Warn);
        }
    }

    /// Whether two to four calls, not all the same, were now made in turn exactly `limit` times.
    fn ends_round(&self, calls: &[(Timestamp, Digest)], call: &Call, limit: usize) -> bool {
        let remembered = &calls[calls.len().saturating_sub(256)..];
        let mut row = remembered.to_vec();
        row.push((self.now, call.approach.exact));
        let begins = (1..row.len())
            .rev()
            .find(|at| row[*at].0.since(row[at - 1].0) >= LULL)
            .unwrap_or(0);
        let row: Vec<_> = row[begins..].iter().map(|(_, key)| *key).collect();
        // The shortest round that ends here decides.
        for period in 2..=4 {
            let Some(last) = row.len().checked_sub(period).map(|from| &row[from..]) else {
                break;
            };
            let same = (period..row.len())
                .rev()
                .take_while(|at| row[*at] == row[at - period])
                .count();
            let varies = last.iter().any(|key| *key != last[period - 1]);
            if same > 0 && (same + period).is_multiple_of(period) && varies {
                return (same + period) / period == limit;
            }
        }
        false
    }

    /// Whether a result of this tool, or of one that is not known, was reported since the session last
    /// read as new.
    fn reports(&self, call: &Call) -> bool {
        let tool = call.approach.tool.as_ref().map(Id::as_str);
        self.actor
            .life
            .iter()
            .filter(|record| record.facts.step && record.cells.session == Some(self.actor.id))
            .any(|record| match record.facts.reported {
                None => true,
                Some(approach) => approach.tool.as_ref().map(Id::as_str) == tool,
            })
    }

    /// The calls that ran, as far as anybody knows.
    fn allowed_calls(&self) -> impl Iterator<Item = (Timestamp, Digest)> {
        self.actor
            .life
            .iter()
            .filter(|record| record.facts.accepted && record.cells.session == Some(self.actor.id))
            .filter_map(|record| match (record.what, record.facts.ran) {
                (Observed::Call(call), _) => Some((record.now, call.approach.exact)),
                (_, Some(approach)) => Some((record.now, approach.exact)),
                _ => None,
            })
    }
}

/// Denied by name, or not among what is allowed.
fn is_denied(call: &Call, limits: &Limits) -> bool {
    let Some(tool) = &call.approach.tool else {
        return false;
    };
    let server = call.approach.server.as_ref().map(Id::as_str);
    let matches = |glob: &Glob| glob.matches_tool(server, tool.as_str());
    let access = &limits.access;
    access.deny.iter().any(matches)
        || (!access.allow.is_empty() && !access.allow.iter().any(matches))
}
