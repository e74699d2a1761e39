//! How the demo's people and agents reach the server: over HTTP, like everyone else.

use std::net::SocketAddr;

use serde_json::{Value, json};
use sprag::{Decision, Verdict};
use sprag_http::outbound;

/// A client of the demo's server.
#[derive(Clone)]
pub(super) struct DemoClient {
    base: String,
    operator: String,
    /// What people show the relay, so that no agent can write in their name.
    people: String,
    http: reqwest::Client,
}

/// What came of a message.
pub(super) enum SendResult {
    /// What the other one answered.
    Reply(String),
    /// The guard's reason why it was not passed on.
    Refused(String),
}

impl DemoClient {
    pub(super) fn new(
        address: SocketAddr,
        operator: &str,
        people: &str,
    ) -> Result<Self, reqwest::Error> {
        Ok(Self {
            base: format!("http://{address}"),
            operator: operator.to_owned(),
            people: people.to_owned(),
            http: outbound::client().no_proxy().build()?,
        })
    }

    /// A user writes to a session.
    pub(super) async fn ask(&self, to: &str, text: &str) -> SendResult {
        let body = json!({ "prompt": text, "agent": agent(to) });
        self.message(to, body, true).await
    }

    /// A timer writes to a session, and does not wait.
    pub(super) async fn tick(&self, to: &str, text: &str) -> SendResult {
        let body = json!({ "prompt": text, "agent": agent(to), "source": "scheduler" });
        self.message(to, body, false).await
    }

    /// One agent writes to another.
    pub(super) async fn tell(&self, from: &str, to: &str, text: &str, wait: bool) -> SendResult {
        let body = json!({
            "prompt": text,
            "agent": agent(to),
            "fromSession": from,
            "fromAgent": agent(from),
        });
        self.message(to, body, wait).await
    }

    async fn message(&self, to: &str, body: Value, wait: bool) -> SendResult {
        let place = format!("{}/api/sessions/{to}/messages", self.base);
        let mut request = self.http.post(place).json(&body);
        if body.get("fromSession").is_none() {
            request = request.bearer_auth(&self.people);
        }
        if !wait {
            request = request.header("prefer", "respond-async");
        }
        let Ok(response) = request.send().await else {
            return SendResult::Refused("the server does not answer".to_owned());
        };
        let passed = response.status().is_success();
        let body: Value = response.json().await.unwrap_or_default();
        let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
        if passed {
            SendResult::Reply(text("reply").unwrap_or_default())
        } else {
            SendResult::Refused(text("detail").unwrap_or_default())
        }
    }

    /// Asks the guard about an event. Where nobody answers, an agent had better stop.
    pub(super) async fn check(&self, event: Value) -> Verdict {
        let place = format!("{}/v1/check", self.base);
        // The agents' server reports for them, in sessions that the relay opened.
        let request = self.http.post(place).bearer_auth(&self.operator);
        let sent = request.json(&event).send().await;
        let verdict = match sent {
            Ok(response) => response.json().await.ok(),
            Err(_) => None,
        };
        verdict.unwrap_or_else(|| Verdict::new(Decision::Deny))
    }

    /// The operator resets a session.
    pub(super) async fn reset(&self, session: &str, why: &str) {
        let place = format!("{}/v1/sessions/{session}/reset", self.base);
        let body = json!({ "why": why, "by": "demo operator" });
        let request = self.http.post(place).bearer_auth(&self.operator);
        // It may end at any moment; then there is nothing to reset.
        let _ = request.json(&body).send().await;
    }
}

/// The kind of agent in a session: `coder` in `coder-3`, `researcher` in `researcher-prices-1`.
pub(super) fn agent(session: &str) -> &str {
    session.split_once('-').map_or(session, |(agent, _)| agent)
}
