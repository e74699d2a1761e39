//! What another policy would have done: to one session, or to the last hours.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use serde::{Deserialize, Serialize};
use sprag::replay::{LogRecording, RecordedEvent, RecordedItem, Replay, ReplayOutcome};
use sprag::{Decision, Id, Millis, Policy, RuleId, Timestamp, Verdict};
use utoipa::ToSchema;

use super::replay::read_policy;
use super::sessions::none;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::Reader;
use crate::limits;
use crate::param::{bad, id};
use crate::problem::Problem;
use crate::wire;

/// Which policy, and on what.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct TryPolicyRequest {
    /// The policy, as TOML text.
    text: String,
    /// Only the events of this session; or `hours`.
    session: Option<String>,
    /// What happened in the last so many hours; 24 where neither is said.
    #[schema(minimum = 1, maximum = 720)]
    hours: Option<u32>,
}

/// What it would have done.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TryPolicyResponse {
    /// What was answered.
    was: VerdictTotals,
    /// What would have been answered.
    would: VerdictTotals,
    /// Events that would not have happened: their session would have been stopped before.
    saved: u64,
    /// The first stop of the session asked for that is new under this policy.
    #[schema(required)]
    stop: Option<FirstStop>,
    /// Calls and messages that were refused and would be allowed: what came of them is unknown.
    unknown: u64,
    /// Events that would get another verdict, or not have happened; the first of them.
    changes: Vec<ChangedVerdict>,
    /// How many there are in all.
    changed: u64,
    /// How many records were folded.
    folded: usize,
    /// The log is longer than one try folds: it began in the middle, with nothing remembered.
    approximate: bool,
}

/// The first event at which a session would be blocked or killed, and was not, or by another rule.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FirstStop {
    /// The number of its record.
    seq: u64,
    /// Events of the session after it, up to `until`, that would not have happened.
    saved: u64,
    /// The record of the reset, or of the user's word, that lets the session go again.
    #[schema(required)]
    until: Option<u64>,
}

/// Verdicts in numbers.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct VerdictTotals {
    /// Events.
    events: u64,
    /// Verdicts, by what to do.
    #[schema(value_type = BTreeMap<String, u64>)]
    verdicts: BTreeMap<&'static str, u64>,
    /// Verdicts above `allow`, by rule.
    rules: BTreeMap<String, u64>,
    /// Sessions that were blocked or killed; the first of them.
    #[schema(value_type = Vec<String>)]
    stopped: BTreeSet<Id>,
}

/// One event that would go another way.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangedVerdict {
    /// The number of its record.
    seq: u64,
    /// When it happened.
    at: u64,
    /// The session that acts.
    #[schema(value_type = String)]
    session: Id,
    /// What it was: `call`, `message`…
    #[serde(rename = "type")]
    kind: &'static str,
    /// The tool, or the receiver.
    #[schema(value_type = Option<String>, required)]
    object: Option<Id>,
    /// What was answered.
    #[schema(value_type = Option<wire::Decision>, required)]
    was: Option<Decision>,
    /// The rule that decided then.
    #[schema(required)]
    was_rule: Option<String>,
    /// What would have been answered; null where it would not have happened.
    #[schema(value_type = Option<wire::Decision>, required)]
    would: Option<Decision>,
    /// The rule that would have decided.
    #[schema(required)]
    would_rule: Option<String>,
    /// What it would have said.
    #[schema(required)]
    message: Option<String>,
}

/// Try a policy on what happened
///
/// A session that it would have blocked or killed would not have gone on: its later events are counted as saved.
/// Where a refused call would now be allowed, nobody knows its result. Nothing is changed.
#[utoipa::path(
    post,
    path = "/v1/policy/try",
    tag = "policy",
    request_body = TryPolicyRequest,
    responses(
        (status = 200, description = "What it would have done", body = TryPolicyResponse),
        wire::Missing, wire::Bodied, wire::PolicyWrong, wire::OperatorOnly,
    ),
)]
pub(crate) async fn try_policy(
    State(app): State<App>,
    _: Reader,
    JsonBody(trial): JsonBody<TryPolicyRequest>,
) -> Result<axum::Json<TryPolicyResponse>, Problem> {
    let policy = read_policy(&trial.text)?;
    let session = trial.session.as_deref().map(|text| id("session", text));
    let session = session.transpose()?;
    let hours = trial.hours.unwrap_or(24);
    if !(1..=720).contains(&hours) {
        return Err(bad("hours", format!("1 to 720, not {hours}")));
    }
    app.heavy(move |app| run(app, policy, session, hours)).await
}

fn run(
    app: &App,
    policy: Policy,
    session: Option<Id>,
    hours: u32,
) -> Result<axum::Json<TryPolicyResponse>, Problem> {
    let guard = app.guard();
    let store = guard.store();
    let is_alone = stands_alone(&guard.policy(), &policy);
    let mut replay = Replay::what_if(policy);
    let (mut since, mut approximate) = (Timestamp(0), false);
    let recording = match &session {
        Some(session) => {
            if guard.session(session.as_str())?.is_none() {
                return Err(none(session));
            }
            replay = replay.starting_at(store)?;
            if is_alone {
                LogRecording::own(store, session.clone())
            } else {
                LogRecording::session(store, session.clone())
            }
        }
        None => {
            let span = u64::from(hours) * Millis::HOUR.0;
            since = Timestamp(guard.now().0.saturating_sub(span));
            let most = u64::try_from(limits::TRY_RECORDS).unwrap_or(u64::MAX);
            let start = guard.status().last_seq.saturating_sub(most);
            let base = store.base()?.after;
            approximate = start > base;
            if approximate {
                LogRecording::after(store, start)
            } else {
                replay = replay.starting_at(store)?;
                LogRecording::all(store)
            }
        }
    };
    let mut answer = TryPolicyResponse::new(approximate);
    for past in recording.take(limits::TRY_RECORDS) {
        let past = past?;
        let seen = replay.fold(&past)?;
        answer.folded += 1;
        if let RecordedItem::Event(event) = past
            && event.at >= since
            && session
                .as_ref()
                .is_none_or(|asked| event.session() == asked)
        {
            let is_kept = session.is_some() && is_alone && is_shared(event.recorded.as_ref());
            let seen = match is_kept {
                true => ReplayOutcome::Skipped,
                false => seen,
            };
            let asked = session.as_ref();
            answer.note(*event, seen, asked.map(|asked| replay.has_stopped(asked)));
        }
    }
    Ok(axum::Json(answer))
}

/// The families of rules that count what other sessions do.
const SHARED: [&str; 2] = ["flow", "budget"];

/// Whether the difference between two policies concerns no rule that counts what other sessions do.
/// Then a session's own events are all that a try has to fold.
fn stands_alone(in_force: &Policy, tried: &Policy) -> bool {
    let is_shared = |name: &str| SHARED.iter().any(|family| name.starts_with(family));
    let keys = Policy::keys().iter().map(|key| key.name().to_owned());
    let modes = RuleId::ALL.iter().map(|rule| format!("rules.{rule}"));
    let mut shared = keys
        .chain(modes)
        .filter(|key| is_shared(key.trim_start_matches("rules.")));
    let has_overrides = |policy: &Policy| policy.to_toml().contains("[[override]]");
    !in_force.counts_agents()
        && !tried.counts_agents()
        && shared.all(|key| in_force.get(&key) == tried.get(&key))
        && !has_overrides(in_force)
        && !has_overrides(tried)
}

/// Whether a rule that counts what other sessions do decided: it decides the same again.
fn is_shared(recorded: Option<&Verdict>) -> bool {
    let rule = recorded.and_then(|verdict| verdict.rule);
    rule.is_some_and(|rule| {
        SHARED
            .iter()
            .any(|family| rule.as_str().starts_with(family))
    })
}

impl TryPolicyResponse {
    fn new(approximate: bool) -> Self {
        Self {
            was: VerdictTotals::default(),
            would: VerdictTotals::default(),
            saved: 0,
            stop: None,
            unknown: 0,
            changes: Vec::new(),
            changed: 0,
            folded: 0,
            approximate,
        }
    }

    /// Counts an event, and whether the session asked for is stopped after it.
    fn note(&mut self, event: RecordedEvent, seen: ReplayOutcome, is_stopped: Option<bool>) {
        if let Some(is_stopped) = is_stopped {
            self.follow(&event, &seen, is_stopped);
        }
        self.count(event, seen);
    }

    /// Notes the first new stop of the session asked for, what it saves, and what ends it.
    fn follow(&mut self, event: &RecordedEvent, seen: &ReplayOutcome, is_stopped: bool) {
        match (&mut self.stop, seen) {
            (None, ReplayOutcome::Judged { verdict, .. }) => {
                let stops = is_stopped && verdict.decision >= Decision::Block;
                self.stop = (stops && is_new(Some(verdict), event)).then_some(FirstStop {
                    seq: event.number,
                    saved: 0,
                    until: None,
                });
            }
            (Some(stop), _) if stop.until.is_some() => {}
            (Some(stop), ReplayOutcome::Saved) => stop.saved += 1,
            (Some(stop), _) if !is_stopped => stop.until = Some(event.number),
            _ => {}
        }
    }

    fn count(&mut self, event: RecordedEvent, seen: ReplayOutcome) {
        let session = event.session().clone();
        if let Some(was) = &event.recorded {
            self.was.count(&session, was);
        }
        let verdict = match seen {
            ReplayOutcome::Judged {
                verdict, unknown, ..
            } => {
                self.would.count(&session, &verdict);
                self.unknown += u64::from(unknown);
                Some(*verdict)
            }
            ReplayOutcome::Saved => {
                self.saved += 1;
                None
            }
            ReplayOutcome::Unknown => {
                self.unknown += 1;
                return;
            }
            // Stopped either way: it goes as it went.
            ReplayOutcome::Skipped => {
                if let Some(was) = &event.recorded {
                    self.would.count(&session, was);
                }
                return;
            }
            ReplayOutcome::Noted | ReplayOutcome::Error(_) => return,
        };
        if !is_new(verdict.as_ref(), &event) {
            return;
        }
        self.changed += 1;
        if self.changes.len() < limits::TRY_CHANGES {
            self.changes
                .push(ChangedVerdict::new(&event, session, verdict));
        }
    }
}

/// Whether a verdict decides otherwise than the recorded one, or by another rule.
fn is_new(would: Option<&Verdict>, event: &RecordedEvent) -> bool {
    let told = |verdict: &Verdict| (verdict.decision, verdict.rule);
    would.map(told) != event.recorded.as_ref().map(told)
}

impl VerdictTotals {
    fn count(&mut self, session: &Id, verdict: &Verdict) {
        self.events += 1;
        *self.verdicts.entry(verdict.decision.as_str()).or_default() += 1;
        if let (Some(rule), true) = (verdict.rule, verdict.decision > Decision::Allow) {
            *self.rules.entry(rule.to_string()).or_default() += 1;
        }
        if verdict.decision >= Decision::Block && self.stopped.len() < limits::TRY_CHANGES {
            self.stopped.insert(session.clone());
        }
    }
}

impl ChangedVerdict {
    fn new(event: &RecordedEvent, session: Id, would: Option<Verdict>) -> Self {
        let was = event.recorded.as_ref();
        let rule = |verdict: &Verdict| verdict.rule.map(|rule| rule.to_string());
        Self {
            seq: event.number,
            at: event.at.0,
            session,
            kind: event.kind(),
            object: event.object().cloned(),
            was: was.map(|was| was.decision),
            was_rule: was.and_then(rule),
            would: would.as_ref().map(|would| would.decision),
            would_rule: would.as_ref().and_then(rule),
            message: would.and_then(|would| would.message),
        }
    }
}
