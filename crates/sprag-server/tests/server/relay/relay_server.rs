//! A running server with a clock that the test moves, and a client for it.

use std::sync::Arc;

use reqwest::{Client, Response};
use serde_json::Value;
use sprag::{Guard, LogQuery, Millis, RecordKind, TestClock, Timestamp};
use sprag_server::{RelayConfig, SharedClock};

use crate::test_server::TestServer;

/// A Sunday in November 2026.
const START: Timestamp = Timestamp(1_794_700_000_000);

pub(crate) struct RelayServer {
    pub(crate) test_server: TestServer,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) client: Client,
}

pub(crate) fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().build().unwrap()
}

impl RelayServer {
    pub(crate) fn open(relay: RelayConfig) -> Self {
        Self::with_policy(relay, "")
    }

    pub(crate) fn with_policy(relay: RelayConfig, policy: &str) -> Self {
        let clock = Arc::new(TestClock::at(START));
        let test_server = TestServer::with(|config| {
            std::fs::write(config.db.with_file_name("policy.toml"), policy).unwrap();
            config.relay = relay;
            config.clock = SharedClock(clock.clone());
        });
        Self {
            test_server,
            clock,
            client: client(),
        }
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.test_server.guard
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.test_server.address)
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> HttpAnswer {
        let request = self.client.post(self.url(path)).json(&body);
        HttpAnswer::of(request.send().await.unwrap()).await
    }

    /// A message to a session.
    pub(crate) async fn say(&self, to: &str, body: Value) -> HttpAnswer {
        self.post(&format!("/api/sessions/{to}/messages"), body)
            .await
    }

    /// The flows that run in a session.
    pub(crate) fn dispatches(&self, session: &str) -> Vec<String> {
        let state = self.guard().state(session).unwrap();
        let running = state.map(|state| state.dispatches).unwrap_or_default();
        running.iter().map(ToString::to_string).collect()
    }

    /// Waits until no flow runs in a session: its end follows the answer's, by a moment where the caller broke off.
    pub(crate) async fn rests(&self, session: &str) {
        let resting = async {
            while !self.dispatches(session).is_empty() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        let patience = std::time::Duration::from_secs(30);
        let rested = tokio::time::timeout(patience, resting).await;
        rested
            .unwrap_or_else(|_| panic!("{session} still works on {:?}", self.dispatches(session)));
    }

    /// The types of all events in the log, oldest first.
    pub(crate) fn logged(&self) -> Vec<String> {
        let page = self.guard().records(&LogQuery::default()).unwrap();
        let kind = |record: &sprag::Record| match &record.kind {
            RecordKind::Event { .. } => {
                let told = sprag::record_json(record);
                Some(told["event"]["type"].as_str().unwrap().to_owned())
            }
            RecordKind::Note(_) => None,
        };
        page.items.iter().filter_map(kind).collect()
    }

    pub(crate) fn later(&self, ms: u64) {
        self.clock.advance(Millis(ms));
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl HttpAnswer {
    pub(crate) async fn of(response: Response) -> Self {
        let headers = response.headers().iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (name.to_string(), value.into_owned())
        });
        Self {
            status: response.status().as_u16(),
            headers: headers.collect(),
            text: response.text().await.unwrap(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(held, _)| held == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The status, and what a problem says.
    pub(crate) fn told(&self) -> (u16, String) {
        let detail = match self.status {
            200..300 => String::new(),
            _ => self.json()["detail"].as_str().unwrap().to_owned(),
        };
        (self.status, detail)
    }
}
