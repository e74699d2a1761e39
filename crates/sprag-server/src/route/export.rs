//! The log for other programs: CloudEvents, one JSON line each.

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde::Deserialize;
use sprag::{CSV_HEADER, LogQuery, LogScope, cloud_event, csv_row};
use tokio::sync::mpsc;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::caller::Reader;
use crate::param::{ApiQuery, id};
use crate::problem::Problem;
use crate::wire;

/// How many pages may wait for a slow reader.
const AHEAD: usize = 2;

/// ExportQuery records.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportQuery {
    /// Only those that this session took part in.
    #[param(min_length = 1, max_length = 256)]
    session: Option<String>,
    /// Only those after this one.
    after: Option<u64>,
    /// As what; CloudEvents if nothing is said.
    #[param(inline)]
    format: Option<ExportFormat>,
}

/// What an export is written as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExportFormat {
    /// CloudEvents 1.0, one JSON line each.
    #[default]
    CloudEvents,
    /// One row for each record, for spreadsheets; payloads and evidence are left out.
    Csv,
}

/// Export the log as CloudEvents or CSV
#[utoipa::path(
    get,
    path = "/v1/log/export",
    tag = "log",
    params(ExportQuery),
    responses(
        (status = 200, description = "CloudEvents 1.0, one JSON line each, or CSV, oldest first", content((String = "application/x-ndjson"), (String = "text/csv"))),
        wire::OperatorOnly,
    ),
)]
pub(crate) async fn export(
    State(app): State<App>,
    _: Reader,
    ApiQuery(which): ApiQuery<ExportQuery>,
) -> Result<Response, Problem> {
    let session = which.session.as_deref().map(|text| id("session", text));
    let query = LogQuery {
        scope: session
            .transpose()?
            .map_or(LogScope::All, LogScope::Session),
        after: which.after,
        ..LogQuery::default()
    };
    let format = which.format.unwrap_or_default();
    let (pages, reader) = mpsc::channel(AHEAD);
    let work = app.clone();
    // It goes on by itself; how it ends is told in the stream.
    tokio::spawn(async move {
        let written = work.heavy(move |app| {
            write(app, query, format, &pages);
            Ok(())
        });
        let _ = written.await;
    });
    let lines = stream::unfold(reader, |mut reader| async move {
        Some((reader.recv().await?, reader))
    });
    let body = Body::from_stream(lines);
    let media = match format {
        ExportFormat::CloudEvents => "application/x-ndjson",
        ExportFormat::Csv => "text/csv; charset=utf-8",
    };
    Ok(([(header::CONTENT_TYPE, media)], body).into_response())
}

/// Writes page after page, as fast as they are read. An error cuts the stream off, so that nobody
/// takes a part for the whole.
fn write(
    app: &App,
    mut query: LogQuery,
    format: ExportFormat,
    pages: &mpsc::Sender<std::io::Result<Bytes>>,
) {
    let source = app.log_source();
    let mut head = match format {
        ExportFormat::CloudEvents => String::new(),
        ExportFormat::Csv => format!("{CSV_HEADER}\n"),
    };
    // What comes in while it is written is not part of it.
    let last = app.guard().status().last_seq;
    loop {
        let page = match app.guard().records(&query) {
            Ok(page) => page,
            Err(error) => {
                let _ = pages.blocking_send(Err(std::io::Error::other(error.to_string())));
                return;
            }
        };
        let mut text = std::mem::take(&mut head);
        for record in page.items.iter().filter(|record| record.seq <= last) {
            match format {
                ExportFormat::CloudEvents => text += &cloud_event(record, &source).to_string(),
                ExportFormat::Csv => text += &csv_row(record),
            }
            text.push('\n');
        }
        let goes_on = text.is_empty() || pages.blocking_send(Ok(text.into())).is_ok();
        match page.next.filter(|next| goes_on && *next < last) {
            Some(next) => query.after = Some(next),
            None => return,
        }
    }
}
