//! Tool calls before they run, and the aliases under which two see one call.

use sprag_core::{
    Call, Code, Decision, Digest, Glob, Id, Identity, Limits, Millis, Observed, RuleId, Timestamp,
    Via,
};

use super::findings::Findings;
use super::judge::{Action, Model, ModelOutcome, Origin, killed};
use super::questions::Said;
use super::record::{EventFacts, Losses, PendingCall};
use super::sightings::{use_id, via};
use super::starts::{Kinship, starts_one};

/// After this, a call begins a row.
const LULL: Millis = Millis(30_000);

impl<'a> Model<'a> {
    /// What a call, step or usage says of itself; a known `use_id` says whose it is.
    pub(crate) fn origin(&self, at: Timestamp, what: &'a Observed) -> Origin<'a> {
        let (session, agent, flow, generation, identity) = match what {
            Observed::Call(e) => (&e.session, &e.agent, &e.flow, e.generation, e.identity),
            Observed::Step(e) => (&e.session, &e.agent, &e.flow, e.generation, e.identity),
            Observed::Usage(e) => (&e.session, &e.agent, &e.flow, e.generation, e.identity),
            Observed::Output(e) => (&e.session, &e.agent, &None, e.generation, e.identity),
            _ => unreachable!("only calls, steps and usage are deeds"),
        };
        let is_weak = identity == Identity::Shared || via(what) == Via::Mcp;
        let aliased =
            use_id(what)
                .filter(|_| is_weak)
                .and_then(|id| match self.seen(at, id).as_slice() {
                    [one] => Some(one.session),
                    _ => None,
                });
        Origin {
            session: aliased.unwrap_or(session),
            agent: agent.as_ref(),
            flow: flow.as_ref(),
            generation,
            identity,
        }
    }
}

impl<'a> Action<'_, 'a> {
    /// A call that may get a step, refused until it is not.
    pub(crate) fn refused(&self, call: &'a Call) -> Option<PendingCall<'a>> {
        let key = call.use_id.as_ref().or(call.id.as_ref())?;
        Some(PendingCall {
            key,
            refused: true,
            asked: false,
            dialog: call.dialog,
            approach: &call.approach,
            losses: Losses::default(),
        })
    }

    pub(crate) fn call(&self, call: &'a Call) -> ModelOutcome<'a> {
        let limits = &*self.actor.limits;
        let mut facts = EventFacts {
            pending: self.refused(call),
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
            self.effects(call, limits, &mut findings);
            self.start(call, &mut findings);
            facts.warned = self.amounts(None, &mut findings);
        }
        self.actor.judge_actions(false, &mut findings);
        if matches!(said, Said::No) {
            findings.decline();
        }
        if let Some(rule) = findings.refusal() {
            facts.defied = self.defiance(rule, &mut findings);
            // A hook whose client asks nobody refuses the call.
            let asked = findings.asks() && (call.via != Via::Hook || call.dialog);
            for pending in facts.pending.iter_mut().filter(|_| asked) {
                pending.asked = true;
                pending.losses = self.losses(call, limits);
            }
        } else {
            facts.accepted = true;
            self.count_start(call, &mut facts);
            match said {
                Said::Yes(code) if findings.lifted => {
                    let state = self.after_use(&code);
                    facts.resolves = Some((code, state));
                }
                _ => facts.lose(self.losses(call, limits)),
            }
            facts
                .pending
                .iter_mut()
                .for_each(|call| call.refused = false);
        }
        (findings, facts)
    }

    /// A call that starts a sub-agent.
    fn start(&self, call: &'a Call, findings: &mut Findings) {
        if !starts_one(call) {
            return;
        }
        let limits = &*self.actor.limits;
        if self.actor.starters + 2 > limits.flow.max_depth.get() {
            findings.add(limits, RuleId::FlowDepth, Decision::Deny);
        }
        if let Some(flow) = self.cells.family.or(self.cells.flow) {
            let mut starts = self.history.starts(flow, self.now);
            let when = (self.now, self.actor.generation);
            starts.note(self.what, self.cells, flow, when);
            let who = (self.actor.id, self.actor.is_sub_agent);
            starts.judge(who, self.now, limits, findings);
        }
    }

    fn count_start(&self, call: &Call, facts: &mut EventFacts<'a>) {
        let family = self.cells.family.or(self.cells.flow);
        if let Some(flow) = family.filter(|_| starts_one(call)) {
            facts.by_sub_agent = self.actor.is_sub_agent;
            facts.kinship = (!facts.by_sub_agent).then_some(Kinship::Counts {
                session: self.actor.id,
                flow,
            });
        }
    }

    fn losses(&self, call: &'a Call, limits: &Limits) -> Losses<'a> {
        Losses {
            destroys: self.destroys(call, limits),
            far: self.far(call, limits),
            near: self.near(call, limits),
        }
    }

    /// `access.denied`, `access.self` and `session.blocked`: the first that is enforced ends it.
    fn passes_gates(&self, call: &Call, findings: &mut Findings) -> bool {
        let limits = &*self.actor.limits;
        if is_denied(call, limits) {
            findings.add(limits, RuleId::AccessDenied, Decision::Deny);
        }
        if findings.refusal().is_none() && call.orders_guard {
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
        let max = limits.call.max_identical.get() as usize;
        if same >= max || !self.reports(call) && self.is_in_turn(call, limits, 2 * max) {
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
    pub(crate) fn allowed_calls(&self) -> impl Iterator<Item = (Timestamp, Digest)> {
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
