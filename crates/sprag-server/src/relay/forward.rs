//! Forward on: a message that was let through, and what is no message at all.

use std::sync::Arc;
use std::time::Duration;

use axum::body::HttpBody as _;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sprag::{Id, Verdict};

use super::dispatches::DispatchGuard;
use super::headers::{self, BAGGAGE, SESSION, TRACEPARENT};
use super::message::RelayRequest;
use super::message_body::MessageBody;
use super::upstream::RelayTarget;
use super::upstream_response::UpstreamResponse;
use super::verdict::warn;
use super::{Relay, SENDER, session, trace};
use crate::app::App;
use crate::param::bad;
use crate::problem::{Problem, ProblemKind};

/// A message that was let through, on its way.
pub(super) struct Forward {
    pub(super) app: App,
    pub(super) relay: Arc<Relay>,
    pub(super) request: RelayRequest,
    pub(super) to: Id,
    /// Whether it is the first word to a session that is to be made.
    pub(super) is_new: bool,
    pub(super) verdict: Verdict,
    pub(super) dispatch: Option<DispatchGuard>,
}

impl Forward {
    /// Passes it on and answers.
    pub(super) async fn respond(mut self) -> Result<Response, Problem> {
        let preference = self.request.head.headers.get_all("prefer");
        let mut preferences = preference.iter().filter_map(|value| value.to_str().ok());
        if preferences.any(|value| value.contains("respond-async")) {
            return self.in_background();
        }
        let mut response = self.send().await?;
        let is_agent = self.is_agent();
        if self.is_new {
            self.learn_session(&mut response).await?;
        }
        let dispatch = self.dispatch.take();
        let mut response = response.pass_on(is_agent, dispatch, || self.longest());
        self.label(response.headers_mut());
        Ok(response)
    }

    /// How long it may be worked on beyond the response: as long as a flow may live.
    fn longest(&self) -> Duration {
        let policy = self.app.guard().policy();
        let agent = self.request.fields.agent.as_ref().map(Id::as_str);
        let limits = policy.limits_for(agent, self.to.as_str());
        Duration::from_millis(limits.flow.max_duration.0)
    }

    fn is_agent(&self) -> bool {
        self.request.fields.from.is_some()
    }

    /// Answers at once, and passes the message on behind the caller's back.
    fn in_background(self) -> Result<Response, Problem> {
        let Ok(room) = Arc::clone(&self.relay.background).try_acquire_owned() else {
            let detail = "too many messages are being passed on in the background";
            return Err(Problem::new(ProblemKind::TooMany, detail));
        };
        let mut response = (
            StatusCode::ACCEPTED,
            [("preference-applied", "respond-async")],
            axum::Json(serde_json::json!({ "session": self.to, "accepted": true })),
        )
            .into_response();
        self.label(response.headers_mut());
        tokio::spawn(async move {
            let _room = room;
            let to = self.to.clone();
            if let Err(problem) = self.deliver().await {
                tracing::warn!("a message to session {to:?} was lost: {}", problem.detail());
            }
        });
        Ok(response)
    }

    async fn deliver(mut self) -> Result<(), Problem> {
        let mut response = self.send().await?;
        if self.is_new {
            self.learn_session(&mut response).await?;
        }
        let dispatch = self.dispatch.take();
        if response.status == StatusCode::ACCEPTED {
            if let Some(dispatch) = dispatch {
                dispatch.linger(self.longest());
            }
            return Ok(());
        }
        response.drain().await;
        if let Some(dispatch) = dispatch {
            dispatch.end().await;
        }
        Ok(())
    }

    async fn send(&self) -> Result<UpstreamResponse, Problem> {
        let (head, names) = (&self.request.head, &self.relay.names);
        let mut headers = headers::for_upstream(&head.headers);
        headers.remove("prefer");
        headers::drop_trace(&mut headers);
        let mut put: Vec<(&str, &str)> = Vec::new();
        if let Some(flow) = &self.verdict.flow {
            headers.insert(TRACEPARENT, trace::parent(flow)?);
            let held = head.headers.get_all(BAGGAGE);
            if let Ok(value) = HeaderValue::try_from(trace::baggage(held.iter(), flow)) {
                headers.insert(BAGGAGE, value);
            }
            put.push((&names.correlation, flow.as_str()));
        }
        if self.is_new {
            put.push((&names.session, self.to.as_str()));
        }
        let body = MessageBody::read(&self.request.body)?.with(&put);
        let target = RelayTarget::of(&head.extensions)?;
        let upstream = &self.relay.upstream;
        let sent = upstream.send(head.method.clone(), target, headers, body.into());
        Ok(UpstreamResponse::new(sent.await?))
    }

    /// A server may call a new session as it likes: then what runs there is what it says.
    async fn learn_session(&mut self, response: &mut UpstreamResponse) -> Result<(), Problem> {
        let Some(real) = session::named_in(response, &self.relay.names).await else {
            return Ok(());
        };
        if real == self.to {
            return Ok(());
        }
        if let Some(flow) = &self.verdict.flow {
            let (fields, parent) = (&self.request.fields, self.request.parent());
            if let Some(from) = &fields.from {
                let joins = session::join_event(from, &real, flow, fields.agent.as_ref());
                self.app.decide(SENDER, joins, parent).await?;
            }
            // The new one starts before the other ends, so that the flow always runs somewhere.
            let dispatches = &self.relay.dispatches;
            let start = dispatches.start(&self.app, &real, flow, parent).await?;
            if let Some(other) = self.dispatch.replace(start) {
                other.end().await;
            }
        }
        self.to = real;
        Ok(())
    }

    /// What the headers of the response tell.
    fn label(&self, headers: &mut HeaderMap) {
        warn(headers, &self.verdict);
        if self.is_new
            && let Ok(value) = HeaderValue::try_from(headers::percent_encoded(self.to.as_str()))
        {
            headers.insert(SESSION, value);
        }
    }
}

/// Passes a request to the place of messages through, unless it has a body: an agent server may read a message there,
/// whatever the method.
pub(super) async fn pass_without_body(
    relay: Arc<Relay>,
    request: Request,
) -> Result<Response, Problem> {
    if !request.body().is_end_stream() {
        return Err(bad("the body", "a message is sent with POST"));
    }
    pass(relay, request).await
}

/// Passes a request through as it is.
pub(super) async fn pass(relay: Arc<Relay>, request: Request) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let mut headers = headers::for_upstream(&head.headers);
    // Its length is known to be right: the body passes through as it is.
    if let Some(length) = head.headers.get(header::CONTENT_LENGTH) {
        headers.insert(header::CONTENT_LENGTH, length.clone());
    }
    let body = reqwest::Body::wrap_stream(body.into_data_stream());
    let target = RelayTarget::of(&head.extensions)?;
    let sent = relay.upstream.send(head.method, target, headers, body);
    Ok(UpstreamResponse::new(sent.await?).pass_on(false, None, Duration::default))
}
