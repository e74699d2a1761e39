//! Tool calls before they run, and the aliases under which two see one call.

use sprag_core::{
    Call, Code, Decision, Digest, Glob, Id, Identity, Limits, Millis, Observed, RuleId, Timestamp,
    Via,
};

use super::findings::Findings;
use super::judge::{Action, Model, ModelOutcome, Origin, killed};
use super::questions::Said;
use super::record::{EventFacts, ModelVerdict, PendingCall, Record};
use super::starts::{Kinship, starts_one};

/// After this, a call begins a row.
const LULL: Millis = Millis(30_000);

impl<'a> Model<'a> {
    /// The answer that the same call or step got when it was reported before.
    pub(crate) fn first_sight(
        &self,
        now: Timestamp,
        session: &Id,
        what: &'a Observed,
    ) -> Option<ModelVerdict> {
        let seen = self.seen(now, use_id(what)?);
        let seen = seen.iter().find(|one| one.session == session)?;
        let (report, is_over) = match what {
            Observed::Call(_) => (seen.call.as_ref()?, seen.step.is_some()),
            _ => (seen.step.as_ref()?, false),
        };
        let age = now.since(report.at);
        let is_other = !report.by.contains(&via(what));
        let again = !is_other
            && !is_over
            && report.what == reported(what)
            && age < Millis(2_000)
            && report.again < 3;
        let repeats = (is_other && age < Millis(600_000)) || again;
        let verdict = repeats.then(|| report.verdict.clone())?;
        // A question may have been answered since: the call is judged again.
        let asks_again = matches!(what, Observed::Call(_)) && verdict.decision == Decision::Ask;
        (!asks_again).then_some(verdict)
    }

    /// What is known of a `use_id`, by session: of the eight that used it last.
    fn seen(&self, at: Timestamp, id: &Id) -> Vec<Seen<'a>> {
        let mut seen: Vec<Seen<'a>> = Vec::new();
        for record in self.sightings(at, id) {
            let Some(session) = record.cells.session else {
                continue;
            };
            let known = seen.iter().position(|one| one.session == session);
            if record.facts.repeats {
                let one = &mut seen[known.expect("it was seen before")];
                let report = match record.what {
                    Observed::Call(_) => one.call.as_mut(),
                    _ => one.step.as_mut(),
                };
                let report = report.expect("it was reported before");
                if report.by.contains(&via(record.what)) {
                    report.again += 1;
                } else {
                    report.by.push(via(record.what));
                }
                continue;
            }
            let mut one = Seen {
                session,
                call: None,
                step: None,
            };
            let before = known.map(|at| seen.remove(at));
            let report = Report {
                at: record.now,
                what: reported(record.what),
                by: vec![via(record.what)],
                again: 0,
                verdict: record.verdict.clone(),
            };
            match record.what {
                Observed::Call(_) => one.call = Some(report),
                _ => {
                    one.call = before.and_then(|before| before.call);
                    one.step = Some(report);
                }
            }
            if seen.len() == 8 {
                seen.remove(0);
            }
            seen.push(one);
        }
        seen
    }

    /// What was seen of a `use_id` that is not forgotten.
    fn sightings(&self, at: Timestamp, id: &Id) -> impl Iterator<Item = &Record<'a>> + use<'_, 'a> {
        let mut found: Vec<&Record<'a>> = Vec::new();
        let mut touched = None;
        for record in &self.history.records {
            if use_id(record.what) == Some(id) {
                if forgotten(record.now, touched) {
                    found.clear();
                }
                touched = Some(record);
                // What a panic refused was not looked at.
                if !record.facts.panic {
                    found.push(record);
                }
            }
        }
        if forgotten(at, touched) {
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

/// What was seen of a tool use in one session.
struct Seen<'a> {
    session: &'a Id,
    call: Option<Report>,
    step: Option<Report>,
}

/// A call or step that was judged, and the adapters that reported it.
struct Report {
    at: Timestamp,
    what: Option<Digest>,
    by: Vec<Via>,
    again: u32,
    verdict: ModelVerdict,
}

fn reported(what: &Observed) -> Option<Digest> {
    match what {
        Observed::Call(call) => Some(call.approach.exact),
        Observed::Step(step) => Some(step.outcome.exact),
        _ => None,
    }
}

fn via(what: &Observed) -> Via {
    match what {
        Observed::Call(call) => call.via,
        Observed::Step(step) => step.via,
        _ => Via::default(),
    }
}

pub(crate) fn use_id(what: &Observed) -> Option<&Id> {
    match what {
        Observed::Call(call) => call.use_id.as_ref(),
        Observed::Step(step) => step.use_id.as_ref(),
        _ => None,
    }
}

fn forgotten(now: Timestamp, last: Option<&Record<'_>>) -> bool {
    last.is_some_and(|last| now.since(last.now) >= Millis::DAY)
}

impl<'a> Action<'_, 'a> {
    /// A call that may get a step, refused until it is not.
    pub(crate) fn refused(&self, call: &'a Call) -> Option<PendingCall<'a>> {
        let key = call.use_id.as_ref().or(call.id.as_ref())?;
        Some(PendingCall {
            key,
            refused: true,
            asked: false,
            approach: &call.approach,
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
            let asked = findings.asks();
            facts.pending.iter_mut().for_each(|call| call.asked = asked);
        } else {
            facts.accepted = true;
            self.count_start(call, &mut facts);
            match said {
                Said::Yes(code) if findings.lifted => {
                    let state = self.after_use(&code);
                    facts.resolves = Some((code, state));
                }
                _ => {
                    facts.destroys = self.destroys(call, limits);
                    facts.far = self.far(call, limits);
                    facts.near = self.near(call, limits);
                }
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
