//! Asking a history how often each rule would have fired, setting by setting.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};
use sprag_core::{Decision, Policy, RuleId};

use super::history::History;
use super::knob::{KNOBS, Knob};
use crate::eval::{EvalError, each, merge};
use sprag::Judge;

/// How many runs or sessions a row names.
const NAMED: usize = 5;

/// What a history shows about one limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// The rule.
    pub rule: RuleId,
    /// The key of the limit.
    pub key: &'static str,
    /// What is in force.
    pub current: u32,
    /// What came of each setting, the tightest first.
    pub rows: Vec<SettingRow>,
    /// What fits.
    pub advice: Advice,
    /// The line for a policy, if it differs from what is in force.
    pub line: Option<String>,
}

/// What one setting would have done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SettingRow {
    /// The setting.
    pub setting: u32,
    /// Runs or sessions that would have been refused something.
    pub stopped: usize,
    /// Those of them that finished.
    pub stopped_finished: usize,
    /// Those that would have been warned.
    pub warned: usize,
    /// Those of them that finished.
    pub warned_finished: usize,
    /// The first few that it fires on, finished ones first.
    pub on: Vec<String>,
}

/// What to do about a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "what", content = "setting", rename_all = "snake_case")]
pub enum Advice {
    /// Nothing in the history comes near it, or nothing finished that it could have harmed.
    NoEvidence,
    /// The tightest setting that leaves everything alone that finished.
    Set(u32),
    /// Every setting stops something that finished: put it into shadow.
    Shadow,
}

/// Asks `history` about every limit. `document` is the policy in force, as JSON; `done` is called after
/// each setting.
///
/// # Errors
/// Returns an error if the policy is wrong.
pub fn tune(
    history: &History,
    document: &Value,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Tuned>, EvalError> {
    let policy = Policy::from_value(document)?;
    let questions: Vec<(&Knob, u32)> = KNOBS
        .iter()
        .flat_map(|knob| {
            knob.settings(policy.base())
                .into_iter()
                .map(move |setting| (knob, setting))
        })
        .collect();
    let rows = each(&questions, |(knob, setting)| {
        let row = ask(history, document, knob, *setting);
        done();
        row
    });
    let rows: Vec<SettingRow> = rows.into_iter().collect::<Result<_, _>>()?;
    let mut rows = rows.into_iter();
    Ok(KNOBS
        .iter()
        .map(|knob| {
            let current = knob.current(policy.base());
            let own = rows
                .by_ref()
                .take(knob.settings(policy.base()).len())
                .collect();
            let known = history
                .groups
                .iter()
                .any(|group| group.concerns(knob) && history.has_finished(group));
            Tuned::new(knob, current, own, known)
        })
        .collect())
}

impl Tuned {
    fn new(knob: &Knob, current: u32, rows: Vec<SettingRow>, known: bool) -> Self {
        let advice = if known {
            advise(&rows)
        } else {
            Advice::NoEvidence
        };
        let line = match advice {
            Advice::Set(setting) if setting != current => Some(knob.line(setting)),
            Advice::Shadow => Some(format!("rules.\"{}\" = \"shadow\"", knob.rule)),
            _ => None,
        };
        Self {
            rule: knob.rule,
            key: knob.key,
            current,
            rows,
            advice,
            line,
        }
    }

    /// Whether any setting fires on anything.
    #[must_use]
    pub fn fired(&self) -> bool {
        self.rows.iter().any(SettingRow::fired)
    }
}

impl SettingRow {
    fn fired(&self) -> bool {
        self.stopped + self.warned > 0
    }
}

/// A rule that only warns here, at whatever setting, is judged by its warnings.
fn advise(rows: &[SettingRow]) -> Advice {
    let stops = rows.iter().any(|row| row.stopped > 0);
    let harm = |row: &SettingRow| {
        if stops {
            row.stopped_finished
        } else {
            row.warned_finished
        }
    };
    if !rows.first().is_some_and(SettingRow::fired) {
        return Advice::NoEvidence;
    }
    let fits = rows.iter().find(|row| harm(row) == 0);
    fits.map_or(Advice::Shadow, |row| Advice::Set(row.setting))
}

/// The policy with one setting changed and only its rule left on.
fn alone(document: &Value, knob: &Knob, setting: u32) -> Result<Policy, EvalError> {
    let mut document = if document.is_null() {
        json!({})
    } else {
        document.clone()
    };
    let only = json!({ "*": "off", knob.rule.as_str(): "enforce" });
    if let Some(fields) = document.as_object_mut() {
        fields.insert("rules".to_owned(), only);
    }
    if let Some(Value::Array(overrides)) = document.get_mut("override") {
        for one in overrides.iter_mut().filter_map(Value::as_object_mut) {
            one.remove("rules");
        }
    }
    let (table, key) = knob.key.split_once('.').unwrap_or((knob.key, ""));
    merge(
        &mut document,
        &json!({ table: { key: knob.value(setting) } }),
    );
    Ok(Policy::from_value(&document)?)
}

fn ask(
    history: &History,
    document: &Value,
    knob: &Knob,
    setting: u32,
) -> Result<SettingRow, EvalError> {
    let policy = alone(document, knob, setting)?;
    let mut stopped = BTreeSet::new();
    let mut warned = BTreeSet::new();
    for recorded in history.groups.iter().filter(|group| group.concerns(knob)) {
        let mut judge = Judge::new(policy.clone());
        for (unit, observation) in &recorded.events {
            if stopped.contains(unit) {
                continue;
            }
            let Ok(verdict) = judge.fold(observation.clone()) else {
                continue;
            };
            if verdict.rule != Some(knob.rule) {
                continue;
            }
            match verdict.decision {
                Decision::Allow => {}
                Decision::Warn => _ = warned.insert(*unit),
                _ => _ = stopped.insert(*unit),
            }
        }
    }
    Ok(row(history, setting, &stopped, &warned))
}

fn row(
    history: &History,
    setting: u32,
    stopped: &BTreeSet<usize>,
    warned: &BTreeSet<usize>,
) -> SettingRow {
    let units = |places: &BTreeSet<usize>| {
        let found = places.iter().filter_map(|place| history.units.get(*place));
        found.cloned().collect::<Vec<_>>()
    };
    let finished = |places| units(places).iter().filter(|unit| unit.finished).count();
    let mut on = units(if stopped.is_empty() { warned } else { stopped });
    on.sort_by_key(|unit| !unit.finished);
    SettingRow {
        setting,
        stopped: stopped.len(),
        stopped_finished: finished(stopped),
        warned: warned.len(),
        warned_finished: finished(warned),
        on: on.into_iter().take(NAMED).map(|unit| unit.name).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(setting: u32, stopped: usize, stopped_finished: usize) -> SettingRow {
        SettingRow {
            setting,
            stopped,
            stopped_finished,
            ..SettingRow::default()
        }
    }

    #[test]
    fn the_tightest_setting_that_leaves_finished_sessions_alone_fits() {
        let rows = [row(2, 9, 3), row(3, 4, 0), row(5, 1, 0)];
        assert_eq!(advise(&rows), Advice::Set(3));
    }

    #[test]
    fn without_evidence_there_is_no_advice() {
        assert_eq!(advise(&[row(2, 0, 0), row(3, 0, 0)]), Advice::NoEvidence);
        assert_eq!(advise(&[]), Advice::NoEvidence);
    }

    #[test]
    fn a_rule_that_always_hits_finished_sessions_should_only_tell() {
        assert_eq!(advise(&[row(2, 9, 3), row(3, 9, 1)]), Advice::Shadow);
    }

    #[test]
    fn a_rule_that_only_warns_is_judged_by_its_warnings() {
        let warned = |setting, warned_finished| SettingRow {
            setting,
            warned: 3,
            warned_finished,
            ..SettingRow::default()
        };
        assert_eq!(advise(&[warned(4, 1), warned(6, 0)]), Advice::Set(6));
        let stops = SettingRow {
            stopped: 1,
            ..warned(4, 1)
        };
        assert_eq!(advise(&[stops, warned(6, 0)]), Advice::Set(4));
    }
}
