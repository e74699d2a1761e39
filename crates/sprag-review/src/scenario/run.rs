//! Running a scenario: fold its events, compare what came with what was expected.

use serde::Serialize;
use serde_json::{Value, json};
use sprag_core::{Decision, Millis, Timestamp, Verdict};

use super::excerpt::excerpt;
use super::expectation::{Mismatch, mismatches};
use super::format::{Scenario, ScenarioEvent};
use super::overall::OverallFailure;
use sprag::{Judge, JudgeError};

/// When a scenario starts whose first event does not say.
const START: Timestamp = Timestamp(1_760_000_000_000);

/// What came of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioOutcome {
    /// The scenario's name.
    pub name: String,
    /// Whether everything was as expected.
    pub passed: bool,
    /// How many events it has.
    pub events: usize,
    /// The events that got something else.
    pub failures: Vec<EventFailure>,
    /// The demands on the whole that were not met.
    pub overall: Vec<UnmetDemand>,
}

/// A demand on the whole that was not met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnmetDemand {
    /// The demand.
    #[serde(flatten)]
    pub demand: OverallFailure,
    /// What the event got that shows it, where one does.
    pub came: Option<EventResult>,
}

/// An event that got something else than it was to get.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventFailure {
    /// Its number, counted from 1.
    pub number: usize,
    /// The beginning of the event.
    pub event: String,
    /// What differs.
    pub mismatches: Vec<Mismatch>,
    /// What it got.
    pub came: EventResult,
}

/// What an event got.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventResult {
    /// A verdict.
    Verdict(Box<Verdict>),
    /// No verdict, but an error.
    Error(String),
}

/// Runs a scenario from nothing.
#[must_use]
pub fn run(scenario: &Scenario) -> ScenarioOutcome {
    let mut judge = Judge::new(scenario.policy.clone());
    run_with(scenario, |event, at| judge.judge(&event.event, at))
}

fn run_with(
    scenario: &Scenario,
    mut judge: impl FnMut(&ScenarioEvent, Timestamp) -> Result<Verdict, JudgeError>,
) -> ScenarioOutcome {
    let mut next = START;
    let mut all = Vec::with_capacity(scenario.events.len());
    let mut failures = Vec::new();
    for (index, event) in scenario.events.iter().enumerate() {
        let at = event.event.at().unwrap_or(next);
        next = at.plus(Millis::SECOND);
        let came = match judge(event, at) {
            Ok(verdict) => EventResult::Verdict(Box::new(verdict)),
            Err(error) => EventResult::Error(error.to_string()),
        };
        let mismatches = came.mismatches(&event.expect);
        if !mismatches.is_empty() {
            failures.push(EventFailure {
                number: index + 1,
                event: excerpt(&event.text, 200),
                mismatches,
                came: came.clone(),
            });
        }
        all.push(came);
    }
    let overall = unmet(scenario, &all);
    ScenarioOutcome {
        name: scenario.name.clone(),
        passed: failures.is_empty() && overall.is_empty(),
        events: scenario.events.len(),
        failures,
        overall,
    }
}

fn unmet(scenario: &Scenario, all: &[EventResult]) -> Vec<UnmetDemand> {
    let decisions: Vec<Decision> = all.iter().map(EventResult::decision).collect();
    let with_what_came = |demand: OverallFailure| UnmetDemand {
        came: demand
            .event()
            .and_then(|number| all.get(number.checked_sub(1)?))
            .cloned(),
        demand,
    };
    let demands = scenario.overall.check(&decisions);
    demands.into_iter().map(with_what_came).collect()
}

impl EventResult {
    fn decision(&self) -> Decision {
        match self {
            Self::Verdict(verdict) => verdict.decision,
            Self::Error(_) => Decision::Allow,
        }
    }

    /// An error is what was expected only where the expectation names one: `{"error": "…"}`.
    fn mismatches(&self, expect: &Value) -> Vec<Mismatch> {
        match self {
            Self::Verdict(verdict) => {
                let got = serde_json::to_value(verdict).unwrap_or_default();
                mismatches(expect, &got)
            }
            Self::Error(message) if expect.get("error").is_some() => {
                mismatches(expect, &json!({ "error": message }))
            }
            Self::Error(message) => vec![Mismatch {
                path: "error".to_owned(),
                expected: Value::Null,
                got: Some(Value::String(message.clone())),
            }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::parse;
    use super::*;

    fn scenario(text: &str) -> Scenario {
        parse(text.as_bytes()).unwrap().remove(0)
    }

    fn call(more: &str) -> String {
        format!(r#"{{"event": {{"type": "call", "session": "s1", "tool": "read"{more}}}}}"#)
    }

    fn deny() -> Verdict {
        Verdict::new(Decision::Deny)
            .with_rule(sprag_core::RuleId::FlowDepth)
            .with_message("too deep")
    }

    #[test]
    fn an_event_without_a_time_comes_a_second_after_the_one_before() {
        let text = format!(
            r#"[{{"name": "times", "events": [{}, {}, {}, {}]}}]"#,
            call(""),
            call(""),
            call(r#", "at": 5000"#),
            call("")
        );
        let mut times = Vec::new();
        let outcome = run_with(&scenario(&text), |_, at| {
            times.push(at.0);
            Ok(Verdict::default())
        });
        assert!(outcome.passed);
        assert_eq!(times, [1_760_000_000_000, 1_760_000_001_000, 5000, 6000]);
    }

    #[test]
    fn what_differs_is_told_with_the_event_and_what_came() {
        let scenario = scenario(
            r#"[{"name": "differs", "events": [
                {"event": {"type": "call", "session": "s1", "tool": "read"}, "expect": {"verdict": "deny"}},
                {"event": {"type": "call", "session": "s1", "tool": "read"}, "expect": {"verdict": "kill", "rule": "flow.depth"}}],
               "overall": {"no_stop": true}}]"#,
        );
        let outcome = run_with(&scenario, |_, _| Ok(deny()));
        assert!(!outcome.passed);
        assert_eq!(outcome.failures.len(), 1);
        assert_eq!(outcome.failures[0].number, 2);
        assert_eq!(outcome.failures[0].mismatches[0].path, "verdict");
        assert_eq!(
            outcome.failures[0].came,
            EventResult::Verdict(Box::new(deny()))
        );
        assert_eq!(
            outcome.overall,
            [UnmetDemand {
                demand: OverallFailure::NoStop {
                    event: 1,
                    verdict: Decision::Deny
                },
                came: Some(EventResult::Verdict(Box::new(deny()))),
            }]
        );
    }

    #[test]
    fn an_error_fails_unless_it_was_expected() {
        let text = format!(
            r#"[{{"name": "error", "events": [{}]}}]"#,
            call(r#", "generation": 7"#)
        );
        assert!(!run(&scenario(&text)).passed);
        let expect = r#"}, "expect": {"error": "session s1 is at generation 1; generation 7 is not there yet"}}]"#;
        assert!(run(&scenario(&text.replace("}}]", expect))).passed);
    }
}
