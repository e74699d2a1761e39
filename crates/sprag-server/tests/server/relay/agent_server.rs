//! A small agent server: sessions that answer, each in the way the test wants to see.
//!
//! What a message says decides what becomes of it: `slow` answers after a while, `later` is answered 202, `stream`
//! comes in pieces, `cut` breaks off in the middle, `fail` is answered 500, `hold` waits until the test lets go.
//! Everything that arrives is kept.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream;
use serde_json::{Value, json};
use sprag_server::{RelayConfig, RelayTrust, Url};
use tokio::sync::Semaphore;

/// Something that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    pub(crate) session: String,
    pub(crate) headers: HeaderMap,
    pub(crate) raw: String,
}

impl Arrival {
    pub(crate) fn body(&self) -> Value {
        serde_json::from_str(&self.raw).unwrap()
    }

    pub(crate) fn flow(&self) -> String {
        self.body()["correlationId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

#[derive(Clone)]
pub(crate) struct AgentServer {
    pub(crate) url: Url,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
    /// Lets `hold` go on.
    pub(crate) gate: Arc<Semaphore>,
}

impl AgentServer {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self {
            url: Url::parse(&url).unwrap(),
            arrivals: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
        };
        let routes = Router::new()
            .route("/api/sessions", post(create).get(list))
            .route("/api/sessions/{id}/messages", post(message))
            .route("/api/sessions/{id}", get(show))
            .with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        server
    }

    /// A relay before it that takes a user's word from anyone on this machine, so that tests need no token.
    pub(crate) fn relay(&self) -> RelayConfig {
        RelayConfig {
            trust: RelayTrust::Loopback,
            ..self.strict_relay()
        }
    }

    /// A relay before it, as usual.
    pub(crate) fn strict_relay(&self) -> RelayConfig {
        RelayConfig {
            upstream: Some(self.url.clone()),
            ..RelayConfig::default()
        }
    }

    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        self.arrivals.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Arrival {
        self.arrivals().pop().unwrap()
    }

    /// Waits until `count` messages arrived.
    pub(crate) async fn arrived(&self, count: usize) {
        let arriving = async {
            while self.arrivals().len() < count {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let patience = Duration::from_secs(30);
        tokio::time::timeout(patience, arriving).await.unwrap();
    }

    fn note(&self, session: &str, headers: &HeaderMap, body: &Bytes) {
        let arrival = Arrival {
            session: session.to_owned(),
            headers: headers.clone(),
            raw: String::from_utf8(body.to_vec()).unwrap(),
        };
        self.arrivals.lock().unwrap().push(arrival);
    }
}

async fn list() -> impl IntoResponse {
    ([("x-list", "yes")], axum::Json(json!(["1", "2"])))
}

async fn show(Path(id): Path<String>) -> impl IntoResponse {
    axum::Json(json!({ "id": id }))
}

async fn create(State(server): State<AgentServer>, headers: HeaderMap, body: Bytes) -> Response {
    let said: Value = serde_json::from_slice(&body).unwrap();
    let session = match said["callIt"].as_str() {
        Some(own) => own.to_owned(),
        None => said["sessionId"].as_str().unwrap().to_owned(),
    };
    server.note(&session, &headers, &body);
    if said["byLocation"] == true {
        let place = format!("/api/sessions/{session}");
        return (StatusCode::CREATED, [("location", place)]).into_response();
    }
    let status = if said["message"] == "later" {
        StatusCode::ACCEPTED
    } else {
        StatusCode::CREATED
    };
    (status, axum::Json(json!({ "id": session }))).into_response()
}

async fn message(
    State(server): State<AgentServer>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    server.note(&id, &headers, &body);
    let said: Value = serde_json::from_slice(&body).unwrap();
    let flow = said["correlationId"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let text = said["prompt"].as_str().or(said["message"].as_str());
    match text.unwrap_or_default() {
        "later" => (StatusCode::ACCEPTED, "on it").into_response(),
        "fail" => (StatusCode::INTERNAL_SERVER_ERROR, "it broke").into_response(),
        "slow" => {
            tokio::time::sleep(Duration::from_millis(300)).await;
            "at last".into_response()
        }
        "hold" => {
            server.gate.acquire().await.unwrap().forget();
            "let go".into_response()
        }
        "stream" => pieces(server, &["one ", "two ", "three"], false),
        "cut" => pieces(server, &["one ", "two "], true),
        _ => (
            [("x-correlation-id", flow.as_str()), ("x-agent", &id)],
            axum::Json(json!({ "reply": format!("{id} heard {}", text.unwrap_or("nothing")) })),
        )
            .into_response(),
    }
}

/// An answer in pieces, each after the test lets it go; broken off at its end, or not.
fn pieces(server: AgentServer, pieces: &'static [&'static str], cut: bool) -> Response {
    let end = cut.then(|| Err(std::io::Error::other("cut")));
    let all = pieces.iter().map(|piece| Ok(*piece)).chain(end);
    let body = stream::unfold((all, server), |(mut all, server)| async move {
        let piece = all.next()?;
        server.gate.acquire().await.ok()?.forget();
        Some((piece, (all, server)))
    });
    let body = Body::from_stream(body);
    ([("content-type", "text/event-stream")], body).into_response()
}
