//! One row for each session in each hour: what it did and what it spent.
//!
//! Every question about spending and agents is a sum over these rows. The oldest hours go when there are too many.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use sprag::{Decision, Id, Record};
use utoipa::ToSchema;

use super::{Ledger, Span, Spend};

/// The most rows.
const MAX: usize = 200_000;
/// The most models that a row keeps apart.
const MODELS: usize = 8;
const HOUR_MS: u64 = 3_600_000;

/// The number of the hour that a time is in.
pub(super) const fn hour(at: u64) -> u64 {
    at / HOUR_MS
}

#[derive(Debug, Clone, Default)]
pub(super) struct HourRow {
    pub(super) agent: Option<Id>,
    pub(super) events: u64,
    pub(super) warned: u64,
    pub(super) refused: u64,
    /// The time of the last event.
    pub(super) last: u64,
    pub(super) spend: Spend,
    models: Vec<(Option<Id>, Spend)>,
}

impl HourRow {
    fn spend_on(&mut self, model: Option<&Id>, spend: &Spend) {
        self.spend.add(spend);
        let known = self.models.len() < MODELS
            || self.models.iter().any(|(held, _)| held.as_ref() == model);
        let model = model.filter(|_| known);
        match self
            .models
            .iter_mut()
            .find(|(held, _)| held.as_ref() == model)
        {
            Some((_, held)) => held.add(spend),
            None => self.models.push((model.cloned(), *spend)),
        }
    }

    fn join(&mut self, later: Self) {
        self.agent = self.agent.take().or(later.agent);
        self.events += later.events;
        self.warned += later.warned;
        self.refused += later.refused;
        self.last = self.last.max(later.last);
        for (model, spend) in later.models {
            self.spend_on(model.as_ref(), &spend);
        }
    }
}

/// The rows, by hour and session.
#[derive(Debug, Default)]
pub(crate) struct Hours(BTreeMap<(u64, Id), HourRow>);

impl Hours {
    pub(super) fn count(&mut self, record: &Record, spend: Option<&(Option<Id>, Spend)>) {
        let Some(observation) = record.observation() else {
            return;
        };
        let what = &observation.what;
        let key = (hour(record.at.0), what.session().clone());
        let row = self.0.entry(key).or_default();
        if row.agent.is_none() {
            row.agent = what.agent().cloned();
        }
        row.events += 1;
        row.last = row.last.max(record.at.0);
        match record.verdict.decision {
            Decision::Allow => {}
            Decision::Warn => row.warned += 1,
            _ => row.refused += 1,
        }
        if let Some((model, spend)) = spend {
            row.spend_on(model.as_ref(), spend);
        }
    }

    /// The first hour that is kept.
    pub(super) fn oldest(&self) -> u64 {
        self.0.keys().next().map_or(0, |(hour, _)| *hour)
    }

    /// Lets go of the oldest hour if there are too many rows, and answers when it ended.
    pub(super) fn shed(&mut self) -> Option<u64> {
        if self.0.len() <= MAX {
            return None;
        }
        let oldest = self.oldest();
        self.0.retain(|(hour, _), _| *hour > oldest);
        Some((oldest + 1) * HOUR_MS - 1)
    }

    pub(super) fn join(&mut self, later: Self) {
        for (key, row) in later.0 {
            self.0.entry(key).or_default().join(row);
        }
    }

    /// The rows of whole hours that a span touches.
    pub(super) fn within(&self, span: Span) -> impl Iterator<Item = (u64, &Id, &HourRow)> {
        let from = span.from.map_or(0, hour);
        let to = span.to.map_or(u64::MAX, |to| hour(to.saturating_sub(1)));
        let rows = self.0.iter();
        rows.skip_while(move |((hour, _), _)| *hour < from)
            .take_while(move |((hour, _), _)| *hour <= to)
            .map(|((hour, session), row)| (*hour, session, row))
    }
}

/// What spending is added up by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SpendBy {
    /// The agents.
    #[default]
    Agent,
    /// The sessions.
    Session,
    /// The flows, which are not cut by the span.
    Flow,
    /// The models.
    Model,
    /// The days, in UTC.
    Day,
    /// The hours.
    Hour,
}

/// What was spent by one of them.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct SpendRow {
    /// Its name; null for what names none. Of a day or an hour, its start in milliseconds since 1970.
    #[schema(required)]
    pub(crate) name: Option<String>,
    /// What was spent.
    pub(crate) spend: Spend,
    /// By how many sessions.
    pub(crate) sessions: u64,
}

#[derive(Default)]
struct Sum<'a> {
    spend: Spend,
    sessions: HashSet<&'a Id>,
}

impl Ledger {
    /// What was spent in a span, added up, the most expensive first; times in their order.
    pub(crate) fn spend(&self, by: SpendBy, span: Span, agent: Option<&Id>) -> Vec<SpendRow> {
        if by == SpendBy::Flow {
            return self.flows.spend(span, agent);
        }
        let mut sums: HashMap<Option<String>, Sum<'_>> = HashMap::new();
        let rows = self.hours.within(span);
        for (hour, session, row) in rows.filter(|(.., row)| fits(row, agent)) {
            let mut add = |name: Option<String>, spend: &Spend| {
                let sum = sums.entry(name).or_default();
                sum.spend.add(spend);
                sum.sessions.insert(session);
            };
            let text = |id: &Id| id.to_string();
            match by {
                SpendBy::Agent => add(row.agent.as_ref().map(text), &row.spend),
                SpendBy::Day => add(Some((hour / 24 * 24 * HOUR_MS).to_string()), &row.spend),
                SpendBy::Hour => add(Some((hour * HOUR_MS).to_string()), &row.spend),
                SpendBy::Model => {
                    for (model, spend) in &row.models {
                        add(model.as_ref().map(text), spend);
                    }
                }
                SpendBy::Session | SpendBy::Flow => add(Some(text(session)), &row.spend),
            }
        }
        let rows = sums.into_iter().map(|(name, sum)| SpendRow {
            name,
            spend: sum.spend,
            sessions: u64::try_from(sum.sessions.len()).unwrap_or(u64::MAX),
        });
        let mut rows: Vec<SpendRow> = rows.filter(|row| row.spend.requests > 0).collect();
        match by {
            SpendBy::Day | SpendBy::Hour => rows.sort_by(|a, b| a.name.cmp(&b.name)),
            _ => sort(&mut rows),
        }
        rows
    }

    /// What was spent in a span by all.
    pub(crate) fn spent(&self, span: Span, agent: Option<&Id>) -> Spend {
        let rows = self.hours.within(span).filter(|(.., row)| fits(row, agent));
        rows.fold(Spend::default(), |mut all, (.., row)| {
            all.add(&row.spend);
            all
        })
    }
}

/// The most expensive first; among equally expensive ones, those with more tokens.
pub(super) fn sort(rows: &mut [SpendRow]) {
    rows.sort_by(|a, b| {
        let value = |row: &SpendRow| (row.spend.cost_micros, row.spend.tokens);
        value(b).cmp(&value(a)).then_with(|| a.name.cmp(&b.name))
    });
}

fn fits(row: &HourRow, agent: Option<&Id>) -> bool {
    agent.is_none() || agent == row.agent.as_ref()
}
