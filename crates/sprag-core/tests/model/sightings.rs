//! Calls and steps that several adapters report: what was seen of a `use_id`, and by whom.

use sprag_core::{Decision, Digest, Id, Millis, Observed, Timestamp, Via};

use super::judge::Model;
use super::record::{ModelVerdict, Record};

impl<'a> Model<'a> {
    /// The answer that the same call or step got when it was reported before.
    pub(crate) fn first_sight(
        &self,
        now: Timestamp,
        session: &Id,
        what: &'a Observed,
    ) -> Option<FirstSight> {
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
        let asked = matches!(what, Observed::Call(_)) && verdict.decision == Decision::Ask;
        let passed_hook = is_other
            && report.what == reported(what)
            && report.by.contains(&Via::Hook)
            && matches!(via(what), Via::Mcp | Via::Api);
        Some(FirstSight {
            verdict,
            asked,
            passed_hook,
        })
    }

    /// What is known of a `use_id`, by session: of the eight that used it last.
    pub(crate) fn seen(&self, at: Timestamp, id: &Id) -> Vec<Seen<'a>> {
        let mut seen: Vec<Seen<'a>> = Vec::new();
        for record in self.sightings(at, id) {
            let Some(session) = record.cells.session else {
                continue;
            };
            let known = seen.iter().position(|one| one.session == session);
            if record.facts.repeats || record.facts.asked_before {
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
                if record.facts.asked_before {
                    report.verdict = record.verdict.clone();
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
}

/// What a call or step got when it was reported before.
pub(crate) struct FirstSight {
    pub(crate) verdict: ModelVerdict,
    /// It was asked about.
    pub(crate) asked: bool,
    /// A hook saw it, and this adapter, which stands behind the client, did not.
    pub(crate) passed_hook: bool,
}

/// What was seen of a tool use in one session.
pub(crate) struct Seen<'a> {
    pub(crate) session: &'a Id,
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

pub(crate) fn via(what: &Observed) -> Via {
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
