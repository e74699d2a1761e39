//! What happens, as it happens: server-sent events.
//!
//! Each record's event has the record's number as its id. A client that comes back with `Last-Event-ID` gets what it
//! missed from the log first. One that is too slow is told how many it missed, and goes on.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use sprag::{FeedItem, Id, LogQuery, Record, record_json};
use sprag_core::Observed;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Interval;
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::Reader;
use crate::limits;
use crate::metrics::StreamClient;
use crate::param::{ApiQuery, bad, id};
use crate::problem::{Problem, ProblemKind};
use crate::wire;

/// How many records are fetched at once for one who comes back.
const FETCH: usize = 200;

/// What to hear.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// Only what concerns this session.
    #[param(min_length = 1, max_length = 256)]
    session: Option<String>,
    /// Leave out what was simply allowed.
    fired: Option<bool>,
    /// Start after this record, where no `Last-Event-ID` is sent.
    after: Option<u64>,
}

/// Hear what happens
///
/// Events are `record` (a record of the log, its number as id) and `missed` (how many records were left out because
/// the client was too slow; the log has them). A comment every 15 seconds says that the stream lives.
#[utoipa::path(
    get,
    path = "/v1/stream",
    tag = "log",
    params(StreamQuery, ("Last-Event-ID" = Option<u64>, Header, description = "The last record that was heard")),
    responses(
        (status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream"),
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn stream(
    State(app): State<App>,
    reader: Reader,
    headers: HeaderMap,
    ApiQuery(which): ApiQuery<StreamQuery>,
) -> Result<Response, Problem> {
    let heard = match headers.get("last-event-id") {
        Some(value) => Some(number(value.to_str().unwrap_or_default())?),
        None => which.after,
    };
    let session = which.session.as_deref().map(|text| id("session", text));
    let room = app.streams().clone().try_acquire_owned();
    let room = room.map_err(|_| {
        let detail = format!("at most {} clients may listen at once", limits::STREAMS);
        Problem::new(ProblemKind::TooMany, detail)
    })?;
    // Subscribed before the end of the log is read, so that no record is lost between the two.
    let items = app.hub().listen();
    let status = app.with_store(|app| Ok(app.guard().status())).await?;
    let listener = RecordStream {
        items,
        live_after: status.last_seq,
        behind: heard,
        ready: VecDeque::new(),
        session: session.transpose()?,
        fired: which.fired.unwrap_or(false),
        ending: app.ending(),
        reader,
        recheck: tokio::time::interval(limits::STREAM_RECHECK),
        _counted: app.metrics().stream_client(),
        _room: room,
        app,
    };
    let events = stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok::<_, Infallible>(event), listener))
    });
    let alive = KeepAlive::new().interval(limits::STREAM_ALIVE);
    Ok(Sse::new(events).keep_alive(alive).into_response())
}

fn number(text: &str) -> Result<u64, Problem> {
    text.parse()
        .map_err(|_| bad("Last-Event-ID", "it is the number of a record"))
}

struct RecordStream {
    app: App,
    items: Receiver<FeedItem>,
    /// Records up to this one are in the log already and are not heard live.
    live_after: u64,
    /// The last record that was heard, while there are older ones to fetch.
    behind: Option<u64>,
    ready: VecDeque<Event>,
    session: Option<Id>,
    fired: bool,
    ending: watch::Receiver<bool>,
    reader: Reader,
    recheck: Interval,
    _counted: StreamClient,
    _room: OwnedSemaphorePermit,
}

impl RecordStream {
    /// The next event; none when the server ends, or the token that the stream was opened with.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if let Some(heard) = self.behind {
                self.fetch(heard).await;
                continue;
            }
            let item = tokio::select! {
                item = self.items.recv() => item,
                _ = self.ending.wait_for(|ends| *ends) => return None,
                _ = self.recheck.tick() => {
                    if self.reader.may_still_look(&self.app) {
                        continue;
                    }
                    return None;
                }
            };
            match item {
                Ok(FeedItem::Record(record)) if record.seq > self.live_after => {
                    if let Some(event) = self.event(&record) {
                        return Some(event);
                    }
                }
                Ok(FeedItem::Record(_)) => {}
                Ok(FeedItem::Missed(missed)) | Err(RecvError::Lagged(missed)) => {
                    return Some(missed_event(missed));
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Fetches what lies between what was heard and what is heard live. More than a slow client may fall
    /// behind is left out.
    async fn fetch(&mut self, heard: u64) {
        let most = u64::try_from(limits::STREAM_BEHIND).unwrap_or(u64::MAX);
        let from = self.live_after.saturating_sub(most);
        if heard < from {
            self.ready.push_back(missed_event(from - heard));
        }
        let from = heard.max(from);
        if from >= self.live_after {
            self.behind = None;
            return;
        }
        let query = LogQuery {
            after: Some(from),
            limit: FETCH,
            ..LogQuery::default()
        };
        let page = self
            .app
            .blocking(move |app| Ok(app.guard().records(&query)?));
        let records = page.await.map(|page| page.items).unwrap_or_default();
        let last = records.last().map(|record| record.seq);
        for record in &records {
            if record.seq <= self.live_after
                && let Some(event) = self.event(record)
            {
                self.ready.push_back(event);
            }
        }
        self.behind = last.filter(|last| *last < self.live_after);
    }

    fn event(&self, record: &Record) -> Option<Event> {
        let wanted = self
            .session
            .as_ref()
            .is_none_or(|session| concerns(record, session));
        let answers = |what: &Observed| matches!(what, Observed::Approve(_) | Observed::Decline(_));
        let fired = !self.fired
            || record.note().is_some()
            || record.verdict.rule.is_some()
            || record.observation().is_some_and(|seen| answers(&seen.what));
        if !(wanted && fired) {
            return None;
        }
        let event = Event::default().event("record").id(record.seq.to_string());
        Some(event.data(record_json(record).to_string()))
    }
}

fn missed_event(missed: u64) -> Event {
    let data = json!({ "missed": missed }).to_string();
    Event::default().event("missed").data(data)
}

fn concerns(record: &Record, session: &Id) -> bool {
    let Some(observation) = record.observation() else {
        return false;
    };
    let receives = match &observation.what {
        Observed::Message(message) => message.to == *session,
        _ => false,
    };
    receives || observation.what.session() == session
}
