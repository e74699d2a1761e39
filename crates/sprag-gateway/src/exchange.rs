//! One request and its answer.

use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use sprag_core::Id;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::block_in_place;

use crate::answer::StreamedAnswer;
use crate::body::{AnswerBody, Cut};
use crate::dialect::Dialect;
use crate::gateway::{Gateway, plain};
use crate::identity::{Identity, credential};
use crate::judge::{CallFate, Judge, Plan};
use crate::limits::HELD_BYTES;
use crate::options::{StopMode, WarnMode};
use crate::request::{ModelRequest, Tokens};
use crate::route::Route;
use crate::upstream::{for_upstream, is_plain, reason};

/// One request on its way.
pub(crate) struct Exchange {
    pub(crate) gateway: Arc<Gateway>,
    /// Room for one more exchange, until the answer is over.
    pub(crate) turn: OwnedSemaphorePermit,
}

/// A request that a model is asked with, and who asks.
struct Asked {
    dialect: Dialect,
    request: ModelRequest,
    judge: Judge,
    is_codex: bool,
}

impl Exchange {
    pub(crate) async fn run(self, route: Route, head: Parts, body: Bytes) -> Response<AnswerBody> {
        let Some(dialect) = route.dialect else {
            return self.pass(route, head, body).await;
        };
        if !is_plain(&head.headers) {
            let why =
                "a request body that is compressed can't be judged; switch request compression off";
            return *plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
        }
        let Some(request) = dialect.read(&body) else {
            self.gateway
                .guard
                .log(format_args!("a request can't be read and passes unjudged"));
            return self.pass(route, head, body).await;
        };
        self.gateway.tally.add_requests(1);
        let identity = self.identity(&head.headers, &request);
        let Some(judge) = self.judge(&head.headers, &request, &identity) else {
            return self.pass(route, head, body).await;
        };
        let is_codex = identity.client == Some("codex");
        let asked = Asked {
            dialect,
            request,
            judge,
            is_codex,
        };
        match block_in_place(|| asked.judge.begin(&asked.request, &identity)) {
            Plan::Stop(text) => self.stopped(&asked, &text),
            Plan::Forward(mut changes) => {
                if self.gateway.options.warn == WarnMode::Log {
                    changes.warnings.clear();
                }
                let body = dialect.change(&body, &changes).map_or(body, Bytes::from);
                self.ask(asked, route, head, body).await
            }
        }
    }

    fn identity(&self, headers: &HeaderMap, request: &ModelRequest) -> Identity {
        let credential = credential(headers, &self.gateway.key);
        let own = self.gateway.options.session.as_deref();
        Identity::of(headers, request, &credential, own)
    }

    fn judge(
        &self,
        headers: &HeaderMap,
        request: &ModelRequest,
        identity: &Identity,
    ) -> Option<Judge> {
        let credential = credential(headers, &self.gateway.key);
        let name = match &identity.agent {
            Some(agent) => format!("{}/{agent}", identity.session),
            None => identity.session.clone(),
        };
        let (name, conversation) = self.gateway.conversations.of(&name, &credential);
        let session = Id::new(&name).ok()?;
        let agent = identity.client.and_then(|client| Id::new(client).ok());
        Some(Judge {
            guard: Arc::clone(&self.gateway.guard),
            tally: Arc::clone(&self.gateway.tally),
            session,
            agent: agent.filter(|_| identity.agent.is_none()),
            conversation,
            model: request
                .model
                .as_deref()
                .and_then(|model| Id::new(model).ok()),
            reservation: self.gateway.reservation()?,
        })
    }

    /// The gateway answers itself.
    fn stopped(&self, asked: &Asked, text: &str) -> Response<AnswerBody> {
        self.gateway.tally.add_stops(1);
        let (status, media, body) = match self.gateway.options.stop {
            StopMode::Speak => {
                let (media, body) = asked.dialect.spoken(&asked.request, text);
                (StatusCode::OK, media, body)
            }
            StopMode::Error => {
                // Codex repeats a 402 and takes a 400 for final; the others do the reverse.
                let status = if asked.is_codex {
                    StatusCode::BAD_REQUEST
                } else {
                    StatusCode::PAYMENT_REQUIRED
                };
                (status, "application/json", asked.dialect.error(text))
            }
        };
        let mut response = Response::new(AnswerBody::whole(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        headers.insert("x-should-retry", HeaderValue::from_static("false"));
        response
    }

    /// Asks the model and judges its answer.
    async fn ask(
        self,
        asked: Asked,
        route: Route,
        head: Parts,
        body: Bytes,
    ) -> Response<AnswerBody> {
        let answer = match self.send(route, head, body).await {
            Ok(answer) => answer,
            Err(response) => {
                block_in_place(|| asked.judge.finish(Tokens::default()));
                return response;
            }
        };
        let (response, headers) = started(&answer);
        let media = headers.get(header::CONTENT_TYPE);
        let media = media
            .and_then(|media| media.to_str().ok())
            .unwrap_or_default();
        let is_judged = answer.status().is_success() && is_plain(&headers);
        if !is_judged {
            block_in_place(|| asked.judge.finish(Tokens::default()));
            if !is_plain(&headers) {
                self.gateway
                    .guard
                    .log(format_args!("an answer is compressed and passes unjudged"));
            }
            return self.forward(response, answer);
        }
        if media.starts_with("text/event-stream") {
            let stream = StreamedAnswer::new(asked.judge, asked.dialect.stream());
            return self.stream(response, answer, stream);
        }
        self.whole(asked, response, answer).await
    }

    /// What asks no model passes untouched.
    async fn pass(self, route: Route, head: Parts, body: Bytes) -> Response<AnswerBody> {
        match self.send(route, head, body).await {
            Ok(answer) => {
                let (response, _) = started(&answer);
                self.forward(response, answer)
            }
            Err(response) => response,
        }
    }

    async fn send(
        &self,
        route: Route,
        mut head: Parts,
        body: Bytes,
    ) -> Result<reqwest::Response, Response<AnswerBody>> {
        for_upstream(&mut head.headers);
        let host = route.target.host_str().unwrap_or_default().to_owned();
        let sent = self
            .gateway
            .upstream
            .send(head.method, route.target, head.headers, body);
        sent.await.map_err(|why| {
            self.gateway
                .guard
                .log(format_args!("{host} gave no answer: {why}"));
            *plain(
                StatusCode::BAD_GATEWAY,
                &format!("{host} gave no answer: {why}"),
            )
        })
    }

    /// An answer that passes as it comes.
    fn forward(self, response: Response<()>, answer: reqwest::Response) -> Response<AnswerBody> {
        let (sender, body) = AnswerBody::pieces();
        tokio::spawn(async move {
            pump(answer, sender, |piece| (piece, false)).await;
            drop(self.turn);
        });
        response.map(|()| body)
    }

    /// A streamed answer, judged as it comes.
    fn stream(
        self,
        mut response: Response<()>,
        answer: reqwest::Response,
        mut stream: StreamedAnswer,
    ) -> Response<AnswerBody> {
        // A verdict may change how long it is.
        response.headers_mut().remove(header::CONTENT_LENGTH);
        let (sender, body) = AnswerBody::pieces();
        tokio::spawn(async move {
            let rest = sender.clone();
            let whole = pump(answer, sender, |piece| {
                let out = block_in_place(|| stream.push(&piece));
                (Bytes::from(out), stream.is_over())
            })
            .await;
            let held = block_in_place(|| stream.finish());
            if whole && !held.is_empty() {
                let _ = rest.send(Ok(held.into())).await;
            }
            drop(self.turn);
        });
        response.map(|()| body)
    }

    /// An answer in one piece: it is held until it is whole, unless it is too long for that.
    async fn whole(
        self,
        asked: Asked,
        response: Response<()>,
        mut answer: reqwest::Response,
    ) -> Response<AnswerBody> {
        let mut held = Vec::new();
        loop {
            match answer.chunk().await {
                Ok(Some(piece)) => held.extend_from_slice(&piece),
                Ok(None) => break,
                Err(error) => {
                    block_in_place(|| asked.judge.finish(Tokens::default()));
                    return self.broken(response, held, &reason(error));
                }
            }
            if held.len() > HELD_BYTES {
                self.gateway.guard.log(format_args!(
                    "an answer is too long to be judged and passes"
                ));
                return self.long(response, held, answer);
            }
        }
        let settled = block_in_place(|| settle(&asked, &held));
        let changed = settled.is_some();
        let body = settled.unwrap_or(held);
        let mut response = response.map(|()| AnswerBody::whole(body));
        if changed {
            response.headers_mut().remove(header::CONTENT_LENGTH);
        }
        response
    }

    fn long(
        self,
        response: Response<()>,
        held: Vec<u8>,
        answer: reqwest::Response,
    ) -> Response<AnswerBody> {
        let (sender, body) = AnswerBody::pieces();
        tokio::spawn(async move {
            if sender.send(Ok(held.into())).await.is_ok() {
                pump(answer, sender, |piece| (piece, false)).await;
            }
            drop(self.turn);
        });
        response.map(|()| body)
    }

    /// The upstream broke off: the client gets what came, and is cut off as well.
    fn broken(self, response: Response<()>, held: Vec<u8>, why: &str) -> Response<AnswerBody> {
        self.gateway
            .guard
            .log(format_args!("an answer broke off: {why}"));
        let (sender, body) = AnswerBody::pieces();
        tokio::spawn(async move {
            if sender.send(Ok(held.into())).await.is_ok() {
                let _ = sender.send(Err(Cut)).await;
            }
        });
        response.map(|()| body)
    }
}

/// Judges an answer in one piece; returns it as it must be, if it must change.
fn settle(asked: &Asked, body: &[u8]) -> Option<Vec<u8>> {
    let judge = &asked.judge;
    let Some(whole) = asked.dialect.whole(body) else {
        judge.finish(Tokens::default());
        return None;
    };
    let mut texts = Vec::new();
    let mut removed = Vec::new();
    let mut stopped = None;
    for call in &whole.calls {
        match judge.call(call, &whole.id) {
            CallFate::Runs => texts.push(None),
            CallFate::Refused(text) => {
                removed.push(call.removed(&text));
                texts.push(Some(text));
            }
            CallFate::Stopped(text) => {
                removed.push(call.removed(&text));
                texts.push(Some(text.clone()));
                stopped = Some(text);
            }
        }
    }
    // After a kill nothing of the answer runs.
    if let Some(stop) = stopped {
        judge.tally.add_stops(1);
        texts.iter_mut().for_each(|text| *text = Some(stop.clone()));
    }
    judge.finish(whole.tokens);
    judge.keep(&whole.id, removed);
    let is_changed = texts.iter().any(Option::is_some);
    is_changed
        .then(|| asked.dialect.settle(body, &texts))
        .flatten()
}

/// Passes an answer on until it is over, or `change` says so, or the client is gone; dropping the
/// answer then closes the upstream's connection, so that no more tokens are paid. Returns whether the
/// upstream came to its end.
async fn pump(
    mut answer: reqwest::Response,
    sender: mpsc::Sender<Result<Bytes, Cut>>,
    mut change: impl FnMut(Bytes) -> (Bytes, bool),
) -> bool {
    loop {
        let piece = tokio::select! {
            piece = answer.chunk() => piece,
            () = sender.closed() => return false,
        };
        match piece {
            Ok(Some(piece)) => {
                let (out, is_over) = change(piece);
                if !out.is_empty() && sender.send(Ok(out)).await.is_err() {
                    return false;
                }
                if is_over {
                    return false;
                }
            }
            Ok(None) => return true,
            Err(_) => {
                let _ = sender.send(Err(Cut)).await;
                return false;
            }
        }
    }
}

/// Status and headers of an answer, as the client gets them.
fn started(answer: &reqwest::Response) -> (Response<()>, HeaderMap) {
    let mut response = Response::new(());
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer.headers().clone();
    sprag_mcp::http::headers::for_client(response.headers_mut());
    (response, answer.headers().clone())
}
