//! Scripted agents: an agent server whose agents do what they are told, each through tools of its own.
//!
//! A message is a plan, its words are done one after the other:
//!
//! | word | what the agent does |
//! |---|---|
//! | `2` | gives the rest of the plan to session 2 and waits |
//! | `2+3` | asks both at once |
//! | `x6:2` | sends six different messages to session 2 |
//! | `nowait:2` | sends one and does not wait |
//! | `new:coder` | starts a session of a coder |
//! | `work` | reports a step |
//! | `wait:500` | lets 500 ms pass on the server's clock |
//! | `note:…` | nothing: only words |
//! | `user` | has a user write to this session meanwhile |

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};
use sprag::{Id, Millis, Role, TestClock};
use sprag_agents::{AgentTools, AgentToolsConfig, RelayAddress};
use sprag_server::{FieldNames, RelayConfig, RelayTrust, Url};

use crate::relay::relay_server::{HttpAnswer, RelayServer, client};

pub(crate) type Tools = Arc<RunningService<RoleClient, ()>>;

/// What all agents share.
#[derive(Default)]
struct SharedState {
    relay: OnceLock<Url>,
    /// With which the agents' server reports their work: the relay opened their sessions.
    token: OnceLock<String>,
    clock: OnceLock<Arc<TestClock>>,
    tools: tokio::sync::Mutex<HashMap<String, Tools>>,
    /// Everything that any agent was given to read: its messages, and what its tools said.
    given: Mutex<Vec<String>>,
    troubles: Mutex<Vec<(String, String)>>,
    /// Each message that arrived: the session and the flow.
    arrivals: Mutex<Vec<(String, String)>>,
    said: Mutex<u32>,
}

pub(crate) struct ScriptedAgents {
    pub(crate) server: RelayServer,
    shared: Arc<SharedState>,
}

impl ScriptedAgents {
    pub(crate) async fn open() -> Self {
        let shared = Arc::new(SharedState::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let routes = Router::new()
            .route("/api/sessions", post(create))
            .route("/api/sessions/{id}/messages", post(message))
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        let server = RelayServer::open(RelayConfig {
            upstream: Some(Url::parse(&url).unwrap()),
            trust: RelayTrust::Loopback,
            ..RelayConfig::default()
        });
        let relay = Url::parse(&server.url("")).unwrap();
        shared.relay.set(relay).unwrap();
        let token = server.test_server.token(Role::Relay);
        shared.token.set(token).unwrap();
        assert!(shared.clock.set(Arc::clone(&server.clock)).is_ok());
        Self { server, shared }
    }

    /// A user gives a plan to a session.
    pub(crate) async fn user(&self, to: &str, plan: &str) -> HttpAnswer {
        self.server.say(to, json!({ "prompt": plan })).await
    }

    /// An agent acts by itself.
    pub(crate) async fn act(&self, session: &str, plan: &str) {
        act(&self.shared, session, plan).await;
    }

    pub(crate) async fn tools_of(&self, session: &str) -> Tools {
        self.shared.tools_of(session).await
    }

    pub(crate) fn troubles(&self) -> Vec<(String, String)> {
        self.shared.troubles.lock().unwrap().clone()
    }

    /// The flows of the messages that arrived at a session.
    pub(crate) fn arrivals(&self, session: &str) -> Vec<String> {
        let arrivals = self.shared.arrivals.lock().unwrap();
        let own = arrivals.iter().filter(|(to, _)| to == session);
        own.map(|(_, flow)| flow.clone()).collect()
    }

    /// Looks for every flow in everything that agents were given.
    pub(crate) fn nobody_was_told_a_flow(&self) {
        let given = self.shared.given.lock().unwrap();
        assert!(!given.is_empty());
        for (_, flow) in self.shared.arrivals.lock().unwrap().iter() {
            assert!(!flow.is_empty());
            for text in given.iter() {
                assert!(!text.contains(flow), "an agent was told {flow}: {text}");
            }
        }
    }

    /// Nothing is left running in any session.
    pub(crate) fn everyone_rests(&self) {
        for (session, _) in self.shared.arrivals.lock().unwrap().iter() {
            if session != "2" {
                assert_eq!(self.server.dispatches(session), [""; 0], "{session}");
            }
        }
    }
}

impl SharedState {
    /// The tools of a session: started once, spoken to over MCP.
    async fn tools_of(&self, session: &str) -> Tools {
        let mut held = self.tools.lock().await;
        if let Some(tools) = held.get(session) {
            return Arc::clone(tools);
        }
        let tools = AgentTools::new(AgentToolsConfig {
            session: Id::new(session).unwrap(),
            relay: RelayAddress::Url(self.relay.get().unwrap().clone()),
            path: "/api/sessions".to_owned(),
            fields: FieldNames::default(),
            token: None,
        });
        let (here, there) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
            let serving = tools.unwrap().serve(there).await.unwrap();
            serving.waiting().await.unwrap();
        });
        let tools: Tools = Arc::new(().serve(here).await.unwrap());
        held.insert(session.to_owned(), Arc::clone(&tools));
        tools
    }

    async fn call(&self, session: &str, tool: &'static str, arguments: Value) -> String {
        let tools = self.tools_of(session).await;
        let call =
            CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
        let result = tools.call_tool(call).await.unwrap();
        let result = serde_json::to_value(result).unwrap();
        self.given.lock().unwrap().push(result.to_string());
        let texts = result["content"].as_array().unwrap().iter();
        let texts: Vec<_> = texts.map(|item| item["text"].as_str().unwrap()).collect();
        let failed = result["isError"] == true;
        for text in &texts {
            if failed || text.starts_with("Warning") {
                let trouble = (session.to_owned(), (*text).to_owned());
                self.troubles.lock().unwrap().push(trouble);
            }
        }
        texts.join("\n")
    }

    async fn send(&self, session: &str, to: &str, message: &str, wait: bool) -> String {
        let mut arguments = json!({ "to": to, "message": message });
        if !wait {
            arguments["wait"] = false.into();
        }
        self.call(session, "send_agent_message", arguments).await
    }

    fn words(&self) -> String {
        let mut said = self.said.lock().unwrap();
        *said += 1;
        format!("note:{said}")
    }

    fn got(&self, session: &str, headers: &HeaderMap, body: &Value) -> String {
        let flow = body["correlationId"].as_str().unwrap().to_owned();
        let parent = headers["traceparent"].to_str().unwrap();
        assert!(parent.contains(&flow), "{parent}");
        self.arrivals
            .lock()
            .unwrap()
            .push((session.to_owned(), flow));
        let prompt = body["prompt"].as_str().unwrap().to_owned();
        self.given.lock().unwrap().push(prompt.clone());
        prompt
    }
}

async fn create(
    State(shared): State<Arc<SharedState>>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Json<Value> {
    let session = body["sessionId"].as_str().unwrap().to_owned();
    let plan = shared.got(&session, &headers, &body);
    Box::pin(act(&shared, &session, &plan)).await;
    Json(json!({ "id": session, "reply": "made", "correlationId": body["correlationId"] }))
}

async fn message(
    State(shared): State<Arc<SharedState>>,
    Path(session): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Json<Value> {
    let plan = shared.got(&session, &headers, &body);
    Box::pin(act(&shared, &session, &plan)).await;
    // A server that shows the id where it should not.
    Json(json!({ "reply": "done", "correlationId": body["correlationId"] }))
}

async fn act(shared: &SharedState, session: &str, plan: &str) {
    let mut rest = plan.trim();
    while !rest.is_empty() {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after.trim();
        match word.split_once(':') {
            Some(("wait", ms)) => {
                let clock = shared.clock.get().unwrap();
                clock.advance(Millis(ms.parse().unwrap()));
            }
            Some(("new", agent)) => {
                let arguments = json!({ "agent": agent, "message": shared.words() });
                let told = shared
                    .call(session, "create_agent_session", arguments)
                    .await;
                assert!(told.starts_with(&format!("Session: {agent}-")), "{told}");
            }
            Some(("nowait", to)) => {
                let told = shared.send(session, to, &shared.words(), false).await;
                assert_eq!(
                    told,
                    "The message is on its way; it is worked on without you."
                );
            }
            Some(("note", _)) => {}
            Some((times, to)) => {
                let times: u32 = times.trim_start_matches('x').parse().unwrap();
                for _ in 0..times {
                    shared.send(session, to, &shared.words(), true).await;
                }
            }
            None if word == "work" => step(shared, session).await,
            None if word == "user" => {
                let place = format!("{}api/sessions/{session}/messages", relay(shared));
                let sent = client()
                    .post(place)
                    .json(&json!({ "prompt": "" }))
                    .send()
                    .await;
                assert_eq!(sent.unwrap().status(), 200);
            }
            None if word.contains('+') => {
                let asked = word.split('+').map(|to| async move {
                    let words = shared.words();
                    shared.send(session, to, &words, true).await
                });
                futures_util::future::join_all(asked).await;
            }
            None => {
                shared.send(session, word, rest, true).await;
                return;
            }
        }
    }
}

fn relay(shared: &SharedState) -> &Url {
    shared.relay.get().unwrap()
}

/// Work of an agent, as it reports it.
async fn step(shared: &SharedState, session: &str) {
    let words = shared.words();
    let event = json!({"type": "step", "session": session, "approach": words, "outcome": words});
    let place = format!("{}v1/check", relay(shared));
    let request = client()
        .post(place)
        .bearer_auth(shared.token.get().unwrap());
    let sent = request.json(&event).send().await;
    assert_eq!(sent.unwrap().status(), 200);
}
