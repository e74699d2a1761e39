//! Many events on one connection: a JSON line in, a JSON line out, as they come.

use std::collections::VecDeque;

use axum::body::{Body, BodyDataStream};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use serde_json::json;

use super::check::decide;
use crate::app::App;
use crate::body;
use crate::caller::Caller;
use crate::limits;
use crate::problem::{Problem, ProblemKind};
use crate::wire;

const LINES: &str = "application/x-ndjson";

/// Ask about many events
///
/// One event a line; one line of answer each, in order, sent as soon as it is known. A line without a verdict
/// is answered with `{"error":{…}}` and the rest goes on; empty lines are skipped. The answer is read while
/// the request is still being written.
#[utoipa::path(
    post,
    path = "/v1/check/batch",
    tag = "decisions",
    request_body(content = String, content_type = "application/x-ndjson", description = "Events, one JSON line each"),
    security((), ("token" = [])),
    responses(
        (status = 200, description = "A verdict or an error a line", body = wire::BatchLine, content_type = "application/x-ndjson"),
        wire::Bodied,
        wire::AnyRole,
    ),
)]
pub(crate) async fn batch(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    body::expect_type(&headers, &[LINES, "application/jsonl", "application/json"])?;
    let batch = Batch {
        app,
        caller,
        lines: BodyLines::new(body.into_data_stream()),
        number: 0,
    };
    let answers = stream::unfold(Some(batch), |batch| async move {
        let mut batch = batch?;
        let answer = batch.next().await?;
        let goes_on = answer.goes_on;
        Some((
            Ok::<_, std::convert::Infallible>(answer.text),
            goes_on.then_some(batch),
        ))
    });
    let body = Body::from_stream(answers);
    Ok(([(header::CONTENT_TYPE, LINES)], body).into_response())
}

struct Batch {
    app: App,
    caller: Caller,
    lines: BodyLines,
    number: u64,
}

struct BatchReply {
    text: Bytes,
    goes_on: bool,
}

impl Batch {
    /// The answer to the next line; none at the end.
    async fn next(&mut self) -> Option<BatchReply> {
        let line = loop {
            match self.lines.next(self.app.body_bytes()).await {
                Ok(Some(line)) => {
                    self.number += 1;
                    if !line.trim_ascii().is_empty() {
                        break line;
                    }
                }
                Ok(None) => return None,
                Err(problem) => {
                    self.number += 1;
                    return Some(self.failed(&problem, false));
                }
            }
        };
        if self.number > limits::BATCH_LINES {
            let detail = format!(
                "a batch has at most {} lines; start another",
                limits::BATCH_LINES
            );
            return Some(self.failed(&Problem::new(ProblemKind::TooLarge, detail), false));
        }
        Some(
            match decide(&self.app, &self.caller, line.trim_ascii(), None).await {
                Ok(mut text) => {
                    text.push(b'\n');
                    BatchReply {
                        text: text.into(),
                        goes_on: true,
                    }
                }
                Err(problem) => self.failed(&problem, true),
            },
        )
    }

    fn failed(&self, problem: &Problem, goes_on: bool) -> BatchReply {
        let (line, status) = (self.number, problem.status());
        let error = json!({"line": line, "status": status, "message": problem.detail()});
        BatchReply {
            text: format!("{}\n", json!({ "error": error })).into(),
            goes_on,
        }
    }
}

/// A body, line by line.
struct BodyLines {
    body: BodyDataStream,
    rest: BytesMut,
    ready: VecDeque<Bytes>,
    ended: bool,
}

impl BodyLines {
    fn new(body: BodyDataStream) -> Self {
        Self {
            body,
            rest: BytesMut::new(),
            ready: VecDeque::new(),
            ended: false,
        }
    }

    /// The next line; none at the end. A line longer than `most` ends it.
    async fn next(&mut self, most: usize) -> Result<Option<Bytes>, Problem> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            if self.ended {
                let last = std::mem::take(&mut self.rest).freeze();
                return Ok(Some(last).filter(|last| !last.is_empty()));
            }
            if self.rest.len() > most {
                self.ended = true;
                self.rest.clear();
                let detail = format!("a line has at most {most} bytes here");
                return Err(Problem::new(ProblemKind::TooLarge, detail));
            }
            self.fetch().await?;
        }
    }

    async fn fetch(&mut self) -> Result<(), Problem> {
        match self.body.next().await {
            Some(Ok(bytes)) => {
                let from = self.rest.len();
                self.rest.extend_from_slice(&bytes);
                self.split(from);
                Ok(())
            }
            Some(Err(error)) => {
                self.ended = true;
                self.rest.clear();
                Err(Problem::new(
                    ProblemKind::BadRequest,
                    format!("the body: {error}"),
                ))
            }
            None => {
                self.ended = true;
                Ok(())
            }
        }
    }

    /// Cuts off whole lines; `from` is where to look for their ends.
    fn split(&mut self, mut from: usize) {
        while let Some(at) = self
            .rest
            .get(from..)
            .and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
        {
            let line = self.rest.split_to(from + at + 1).freeze();
            self.ready.push_back(line);
            from = 0;
        }
    }
}
