//! One request and its answer.

use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use sprag_core::Id;
use sprag_http::outbound::reason;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::block_in_place;

use crate::answer::StreamedAnswer;
use crate::body::AnswerBody;
use crate::conversations::Credential;
use crate::dialect::Dialect;
use crate::gateway::{Gateway, plain};
use crate::identity::{Identity, credential};
use crate::judge::{Judge, JudgeParts, Plan};
use crate::limits::HELD_BYTES;
use crate::options::{StopMode, WarnMode};
use crate::pump::{self, Pieces, Rest};
use crate::request::ModelRequest;
use crate::route::Route;
use crate::upstream::{for_upstream, is_plain};

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
        let Some(request) = dialect.read(&body, &route.target) else {
            self.log(format_args!("a request can't be read and passes unjudged"));
            return self.pass(route, head, body).await;
        };
        self.gateway.tally.add_requests(1);
        let credential = credential(&head.headers, head.uri.query(), &self.gateway.key);
        let own = self.gateway.options.session.as_deref();
        let identity = Identity::of(&head.headers, &request, &credential, own);
        let Some(judge) = self.judge(&credential, &request, &identity, body.len()) else {
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

    /// Who speaks with the guard; none if the session has a name that the guard can't take.
    fn judge(
        &self,
        credential: &Credential,
        request: &ModelRequest,
        identity: &Identity,
        bytes: usize,
    ) -> Option<Judge> {
        let gateway = &self.gateway;
        let name = match &identity.agent {
            Some(agent) => format!("{}/{agent}", identity.session),
            None => identity.session.clone(),
        };
        let (name, conversation) = gateway.conversations.of(&name, credential);
        let agent = identity.client.and_then(|client| Id::new(client).ok());
        let model = request.model.as_deref();
        let parts = JudgeParts {
            guard: Arc::clone(&gateway.guard),
            tally: Arc::clone(&gateway.tally),
            estimates: Arc::clone(&gateway.estimates),
            session: Id::new(&name).ok()?,
            agent: agent.filter(|_| identity.agent.is_none()),
            client: identity.client,
            conversation,
            model: model.and_then(|model| Id::new(model).ok()),
            reservation: gateway.reservation()?,
            is_agent: request.has_tools,
        };
        Some(Judge::new(parts, request, bytes))
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
                block_in_place(|| drop(asked));
                return response;
            }
        };
        let (response, headers) = started(&answer);
        let media = headers.get(header::CONTENT_TYPE);
        let media = media
            .and_then(|media| media.to_str().ok())
            .unwrap_or_default();
        let is_plain = is_plain(&headers);
        if !is_plain {
            self.log(format_args!("an answer is compressed and passes unjudged"));
        }
        if !is_plain || !answer.status().is_success() {
            return self.unjudged(asked, response, Vec::new(), Rest::Answer(answer));
        }
        if media.starts_with("text/event-stream") {
            let stream = asked.dialect.stream(&asked.request);
            let stream = StreamedAnswer::new(asked.judge, stream);
            return self.stream(response, answer, stream);
        }
        self.whole(asked, response, answer).await
    }

    /// What asks no model passes untouched.
    async fn pass(self, route: Route, head: Parts, body: Bytes) -> Response<AnswerBody> {
        match self.send(route, head, body).await {
            Ok(answer) => {
                let (response, _) = started(&answer);
                self.forward(response, Vec::new(), Rest::Answer(answer))
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
            self.log(format_args!("{host} gave no answer: {why}"));
            *plain(
                StatusCode::BAD_GATEWAY,
                &format!("{host} gave no answer: {why}"),
            )
        })
    }

    /// An answer of which `first` was read already passes as it comes.
    fn forward(self, response: Response<()>, first: Vec<u8>, rest: Rest) -> Response<AnswerBody> {
        self.carry(response, |sender| pump::untouched(first, rest, sender))
    }

    /// A streamed answer, judged as it comes.
    fn stream(
        self,
        mut response: Response<()>,
        answer: reqwest::Response,
        stream: StreamedAnswer,
    ) -> Response<AnswerBody> {
        // A verdict may change how long it is.
        response.headers_mut().remove(header::CONTENT_LENGTH);
        self.carry(response, |sender| pump::through(answer, sender, stream))
    }

    /// An answer whose body is filled by `pump`, which has this exchange's turn until it is done.
    fn carry<P>(
        self,
        response: Response<()>,
        pump: impl FnOnce(Pieces) -> P,
    ) -> Response<AnswerBody>
    where
        P: Future<Output = ()> + Send + 'static,
    {
        let (sender, body) = AnswerBody::pieces();
        let pump = pump(sender);
        tokio::spawn(async move {
            pump.await;
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
                    self.log(format_args!("an answer broke off: {}", reason(error)));
                    return self.unjudged(asked, response, held, Rest::Broken);
                }
            }
            if held.len() > HELD_BYTES {
                self.log(format_args!(
                    "an answer is too long to be judged and passes"
                ));
                return self.unjudged(asked, response, held, Rest::Answer(answer));
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

    /// Nothing of this answer is judged: what was reserved for it is given back at once.
    fn unjudged(
        self,
        asked: Asked,
        response: Response<()>,
        first: Vec<u8>,
        rest: Rest,
    ) -> Response<AnswerBody> {
        block_in_place(|| drop(asked));
        self.forward(response, first, rest)
    }

    fn log(&self, what: std::fmt::Arguments<'_>) {
        self.gateway.guard.log(what);
    }
}

/// Judges an answer in one piece; returns it as it must be, if it must change.
fn settle(asked: &Asked, body: &[u8]) -> Option<Vec<u8>> {
    let judge = &asked.judge;
    let whole = asked.dialect.whole(body, &asked.request)?;
    let fates = judge.calls(&whole.calls, &whole.id);
    if fates.stopped.is_some() {
        judge.tally().add_stops(1);
    }
    judge.finish(whole.tokens);
    judge.hear_all(&whole.said);
    judge.keep(&whole.id, fates.removed);
    let is_changed = fates.texts.iter().any(Option::is_some);
    is_changed
        .then(|| asked.dialect.settle(body, &fates.texts))
        .flatten()
}

/// Status and headers of an answer, as the client gets them.
fn started(answer: &reqwest::Response) -> (Response<()>, HeaderMap) {
    let mut response = Response::new(());
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer.headers().clone();
    sprag_http::headers::for_client(response.headers_mut());
    (response, answer.headers().clone())
}
