//! The log: searched, shown, proved.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sprag::{Decision, Id, LogQuery, LogScope, Record, RuleId, Verification, record_json};
use utoipa::{IntoParams, ToSchema};

use super::sessions::SortOrder;
use crate::app::App;
use crate::caller::Reader;
use crate::limits;
use crate::param::{ApiQuery, PathSeq, bad, id, page};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// What kind of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecordType {
    Events,
    Notes,
}

/// What to look for; all of it must hold.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogSearchQuery {
    /// Records that this session took part in.
    #[param(min_length = 1, max_length = 256)]
    session: Option<String>,
    /// Records of this agent.
    #[param(min_length = 1, max_length = 256)]
    agent: Option<String>,
    /// Records of this flow.
    #[param(min_length = 1, max_length = 256)]
    flow: Option<String>,
    /// Verdicts that this rule decided, would have decided, or fired in.
    #[param(example = "flow.depth")]
    rule: Option<String>,
    /// One of these verdicts, with commas between them.
    #[param(example = "block,kill")]
    verdict: Option<String>,
    /// One of these types of events, with commas between them.
    #[serde(rename = "type")]
    #[param(example = "kill,reset")]
    types: Option<String>,
    /// Events or notes only.
    #[param(inline)]
    kind: Option<RecordType>,
    /// Not before this time, in milliseconds since 1970.
    from: Option<u64>,
    /// Before this time, in milliseconds since 1970.
    to: Option<u64>,
    /// Records that hold this text anywhere, in any case.
    q: Option<String>,
    /// Which way; newest first (`desc`) where nothing is said.
    #[param(inline)]
    order: Option<SortOrder>,
    /// The `next` of the page before.
    after: Option<u64>,
    /// How many.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

/// A part of what was found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchPage {
    /// The records.
    #[schema(value_type = Vec<wire::Record>)]
    items: Vec<Value>,
    /// The `after` of the next page; null at the end. There may be a next page though this one is not full: a
    /// search looks at so many records at a time.
    #[schema(required)]
    next: Option<u64>,
    /// How many records were looked at.
    scanned: usize,
}

/// How the log is doing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogStatus {
    /// What keeps it: `sqlite`, `memory`.
    store: &'static str,
    /// The first record that is left; 0 where there is none.
    first: u64,
    /// The last record.
    last: u64,
    /// The hash of the last record: it stands for all before it.
    hash: String,
    /// Records that are not on disk yet.
    pending: u64,
    /// What doesn't work, and what that means; null when all is well.
    #[schema(required)]
    degraded: Option<String>,
    /// Sessions remembered.
    sessions: u64,
    /// Other cells remembered.
    others: u64,
}

/// What a proof of the log found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogVerification {
    /// Whether nothing is wrong.
    sound: bool,
    /// The first record that is left.
    first: u64,
    /// The last record that was looked at.
    last: u64,
    /// Events whose verdict came out the same.
    recomputed: u64,
    /// Notes.
    notes: u64,
    /// Events that were judged under other rules: their chain was checked, their verdicts were not.
    not_recomputed: u64,
    /// The last checkpoint that the log reaches.
    #[schema(required)]
    checkpoint: Option<u64>,
    /// The first bad place, in words.
    #[schema(required)]
    bad: Option<String>,
}

/// LogSearchQuery the log
#[utoipa::path(
    get,
    path = "/v1/log",
    tag = "log",
    params(LogSearchQuery),
    responses((status = 200, description = "A page of what was found", body = SearchPage), wire::OperatorOnly),
)]
pub(crate) async fn search(
    State(app): State<App>,
    _: Reader,
    ApiQuery(search): ApiQuery<LogSearchQuery>,
) -> Result<axum::Json<SearchPage>, Problem> {
    let query = LogQuery {
        scope: scope(&search)?,
        newest_first: search.order.unwrap_or_default() == SortOrder::Desc,
        after: search.after,
        ..LogQuery::default()
    };
    let size = page(search.limit)?;
    // Most pages are full with the first records: no more are read than can be shown.
    let query = LogQuery {
        limit: size,
        ..query
    };
    let filter = RecordFilter::new(search)?;
    app.heavy(move |app| search_log(app, query, &filter, size))
        .await
}

/// The narrowest part of the log that holds everything.
fn scope(search: &LogSearchQuery) -> Result<LogScope, Problem> {
    Ok(match (&search.session, &search.flow, search.kind) {
        (Some(session), _, _) => LogScope::Session(id("session", session)?),
        (None, Some(flow), _) => LogScope::Flow(id("flow", flow)?),
        (None, None, Some(RecordType::Notes)) => LogScope::Notes,
        _ => LogScope::All,
    })
}

fn search_log(
    app: &App,
    mut query: LogQuery,
    filter: &RecordFilter,
    size: usize,
) -> Result<axum::Json<SearchPage>, Problem> {
    let mut found = SearchPage {
        items: Vec::new(),
        next: None,
        scanned: 0,
    };
    loop {
        let records = app.guard().records(&query)?;
        let mut left = records.items.len();
        for record in &records.items {
            left -= 1;
            found.scanned += 1;
            if let Some(json) = filter.keep(record) {
                found.items.push(json);
            }
            let full = found.items.len() == size || found.scanned == limits::SEARCH;
            if full && (left > 0 || records.next.is_some()) {
                found.next = Some(record.seq);
                return Ok(axum::Json(found));
            }
        }
        match records.next {
            Some(next) => {
                query.after = Some(next);
                query.limit = 0;
            }
            None => return Ok(axum::Json(found)),
        }
    }
}

/// The words of a list; none where there is no list.
fn listed(list: Option<&str>) -> impl Iterator<Item = &str> {
    let words = list.unwrap_or_default().split(',').map(str::trim);
    words.filter(|word| !word.is_empty())
}

fn decision(word: &str) -> Result<Decision, Problem> {
    word.parse()
        .map_err(|_| bad("verdict", format!("there is no verdict `{word}`")))
}

/// What a record must hold.
struct RecordFilter {
    agent: Option<Id>,
    flow: Option<Id>,
    rule: Option<RuleId>,
    verdicts: Vec<Decision>,
    types: Vec<String>,
    kind: Option<RecordType>,
    from: u64,
    to: u64,
    text: Option<String>,
}

impl RecordFilter {
    fn new(search: LogSearchQuery) -> Result<Self, Problem> {
        let rule = search.rule.map(|rule| rule.parse());
        Ok(Self {
            agent: search.agent.map(|agent| id("agent", &agent)).transpose()?,
            flow: search.flow.map(|flow| id("flow", &flow)).transpose()?,
            rule: rule.transpose().map_err(|error| bad("rule", error))?,
            verdicts: listed(search.verdict.as_deref())
                .map(decision)
                .collect::<Result<_, _>>()?,
            types: listed(search.types.as_deref()).map(str::to_owned).collect(),
            kind: search.kind,
            from: search.from.unwrap_or(0),
            to: search.to.unwrap_or(u64::MAX),
            text: search.q.map(|text| text.to_lowercase()),
        })
    }

    fn is_of_type(&self, record: &Record) -> bool {
        let named = |observation: &sprag_core::Observation| observation.what.kind();
        let is = record.observation().map(named);
        is.is_some_and(|is| self.types.iter().any(|wanted| wanted == is))
    }

    /// The record as JSON, where it holds all that it must.
    fn keep(&self, record: &Record) -> Option<Value> {
        let verdict = &record.verdict;
        let is_event = record.observation().is_some();
        let kind = self
            .kind
            .is_none_or(|kind| (kind == RecordType::Events) == is_event);
        let time = (self.from..self.to).contains(&record.at.0);
        let decision =
            self.verdicts.is_empty() || is_event && self.verdicts.contains(&verdict.decision);
        let kind = kind && (self.types.is_empty() || self.is_of_type(record));
        let fired = |rule: &RuleId| {
            let would = verdict.would.as_ref().map(|would| would.rule);
            verdict.rule == Some(*rule) || verdict.also.contains(rule) || would == Some(*rule)
        };
        let flow = self.flow.is_none() || self.flow.as_ref() == verdict.flow.as_ref() || {
            let event = record.observation().and_then(|seen| seen.what.flow());
            event.is_some() && event == self.flow.as_ref()
        };
        let agent = self.agent.is_none() || {
            let named = record.observation().and_then(|seen| seen.what.agent());
            named == self.agent.as_ref()
        };
        if !(kind && time && decision && flow && agent && self.rule.as_ref().is_none_or(fired)) {
            return None;
        }
        let json = record_json(record);
        match &self.text {
            Some(text) => json
                .to_string()
                .to_lowercase()
                .contains(text)
                .then_some(json),
            None => Some(json),
        }
    }
}

/// Show one record
#[utoipa::path(
    get,
    path = "/v1/log/{seq}",
    tag = "log",
    params(("seq" = u64, Path, description = "Its number")),
    responses((status = 200, description = "The record", body = wire::Record), wire::Missing, wire::OperatorOnly),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _: Reader,
    PathSeq(seq): PathSeq,
) -> Result<axum::Json<Value>, Problem> {
    app.blocking(move |app| {
        let query = LogQuery {
            after: Some(seq.saturating_sub(1)),
            limit: 1,
            ..LogQuery::default()
        };
        let found = app.guard().records(&query)?.items.pop();
        match found.filter(|record| record.seq == seq) {
            Some(record) => Ok(axum::Json(record_json(&record))),
            None => Err(Problem::new(
                ProblemKind::NotFound,
                format!("the log holds no record {seq}"),
            )),
        }
    })
    .await
}

/// How the log is doing
#[utoipa::path(
    get,
    path = "/v1/log/status",
    tag = "log",
    responses((status = 200, description = "Its ends, and what is not on disk yet", body = LogStatus), wire::OperatorOnly),
)]
pub(crate) async fn status(
    State(app): State<App>,
    _: Reader,
) -> Result<axum::Json<LogStatus>, Problem> {
    app.blocking(|app| {
        let status = app.guard().status();
        let oldest = LogQuery {
            limit: 1,
            ..LogQuery::default()
        };
        let first = app.guard().records(&oldest)?.items.pop();
        Ok(axum::Json(LogStatus {
            store: status.kind,
            first: first.map_or(0, |record| record.seq),
            last: status.last_seq,
            hash: status.last_hash.to_string(),
            pending: status.pending,
            degraded: status.degraded,
            sessions: status.sessions,
            others: status.others,
        }))
    })
    .await
}

/// Prove the log
///
/// Every hash is checked and every verdict computed again under its own policy. It takes a while.
#[utoipa::path(
    post,
    path = "/v1/log/verify",
    tag = "log",
    responses((status = 200, description = "What was found", body = LogVerification), wire::OperatorOnly),
)]
pub(crate) async fn verify(
    State(app): State<App>,
    _: Reader,
) -> Result<axum::Json<LogVerification>, Problem> {
    app.heavy(|app| Ok(axum::Json(app.guard().verify()?.into())))
        .await
}

impl From<Verification> for LogVerification {
    fn from(found: Verification) -> Self {
        Self {
            sound: found.is_sound(),
            first: found.first,
            last: found.last,
            recomputed: found.recomputed,
            notes: found.notes,
            not_recomputed: found.not_recomputed.values().sum(),
            checkpoint: found.checkpoint,
            bad: found.bad.map(|bad| bad.to_string()),
        }
    }
}
