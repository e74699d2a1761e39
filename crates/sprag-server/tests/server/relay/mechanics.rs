//! What passes through, what is added, and when a dispatch starts and ends.

use serde_json::json;
use sprag_server::RelayConfig;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::agent_server::AgentServer;
use super::relay_server::{HttpAnswer, RelayServer};

#[tokio::test(flavor = "multi_thread")]
async fn a_users_message_gets_a_flow_that_the_upstream_is_told_three_times() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let answer = server.say("1", json!({"prompt": "hi", "x": 1})).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.text, r#"{"reply":"1 heard hi"}"#);
    let arrival = agents.last();
    let flow = arrival.flow();
    assert_eq!(flow.len(), 32);
    let parent = arrival.header("traceparent");
    assert!(parent.starts_with(&format!("00-{flow}-")), "{parent}");
    assert_eq!(arrival.header("baggage"), format!("sprag.flow={flow}"));
    assert_eq!(
        server.logged(),
        ["message", "dispatch_start", "dispatch_end"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_fields_pass_through_byte_for_byte() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let body = r#"{ "prompt":"hi","kind":"spawn", "big":123456789012345678901234567890, "f":1.50e+3,"correlationId":"abc"}"#;
    let request = server.client.post(server.url("/api/sessions/1/messages"));
    let request = request.header("content-type", "application/json");
    let answer = request.header("x-own", "kept").body(body).send().await;
    assert_eq!(answer.unwrap().status(), 200);
    let arrival = agents.last();
    assert_eq!(arrival.raw, body);
    assert_eq!(arrival.header("x-own"), "kept");
    assert_eq!(arrival.header("baggage"), "sprag.flow=abc");
    // `kind` was only passed through: this was a message like any other.
    assert_eq!(
        server.logged(),
        ["message", "dispatch_start", "dispatch_end"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_message_inherits_the_flow_of_the_running_dispatch() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let user = tokio::spawn({
        let request = server.client.post(server.url("/api/sessions/1/messages"));
        let request = request.json(&json!({"prompt": "hold"}));
        async move { HttpAnswer::of(request.send().await.unwrap()).await }
    });
    agents.arrived(1).await;
    let flow = agents.last().flow();
    assert_eq!(server.dispatches("1"), std::slice::from_ref(&flow));

    let answer = server
        .say("2", json!({"message": "help", "fromSession": "1"}))
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(agents.last().flow(), flow);
    // The upstream shows the id in a header, and an agent asked.
    assert_eq!(answer.header("x-correlation-id"), None);
    assert_eq!(answer.header("x-agent"), Some("2"));

    agents.gate.add_permits(1);
    let answer = user.await.unwrap();
    assert_eq!(answer.text, "let go");
    assert_eq!(server.dispatches("1"), [""; 0]);
    let answer = server
        .say("2", json!({"message": "help", "fromSession": "1"}))
        .await;
    assert_eq!(
        answer.told(),
        (
            400,
            "Agent call rejected: correlation ID required for agent-initiated calls".into()
        )
    );
    assert_eq!(agents.arrivals().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_works_on_keeps_its_dispatch_until_it_is_idle() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let answer = server.say("1", json!({"prompt": "later"})).await;
    assert_eq!((answer.status, answer.text.as_str()), (202, "on it"));
    let flow = agents.last().flow();
    assert_eq!(server.dispatches("1"), std::slice::from_ref(&flow));
    let from_1 = json!({"message": "help", "fromSession": "1"});
    assert_eq!(server.say("2", from_1.clone()).await.status, 200);

    let other = json!({"correlationId": "another"});
    assert_eq!(server.post("/api/sessions/1/idle", other).await.status, 204);
    assert_eq!(server.dispatches("1"), [flow]);
    let idle = server.client.post(server.url("/api/sessions/1/idle"));
    assert_eq!(idle.send().await.unwrap().status(), 204);
    assert_eq!(server.dispatches("1"), [""; 0]);
    assert_eq!(server.say("2", from_1).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_is_never_said_to_be_over_ends_with_the_flows_time() {
    let agents = AgentServer::start().await;
    let server = RelayServer::with_policy(agents.relay(), "[flow]\nmax_duration = \"1s\"\n");
    assert_eq!(
        server.say("1", json!({"prompt": "later"})).await.status,
        202
    );
    server.rests("1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_messages_of_one_flow_in_one_session_are_one_dispatch_that_ends_with_the_last() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let send = |text: &'static str| {
        let request = server.client.post(server.url("/api/sessions/1/messages"));
        let request = request.json(&json!({"prompt": text, "correlationId": "f"}));
        tokio::spawn(async move { request.send().await.unwrap().status() })
    };
    let held = send("hold");
    agents.arrived(1).await;
    assert_eq!(send("quick").await.unwrap(), 200);
    assert_eq!(server.dispatches("1"), ["f"]);
    agents.gate.add_permits(1);
    held.await.unwrap();
    assert_eq!(server.dispatches("1"), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_has_the_id_that_was_proposed_or_the_one_that_the_upstream_says() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let create = |body| server.post("/api/sessions", body);

    let answer = create(json!({"message": "go", "agent": "coder"})).await;
    assert_eq!(answer.status, 201);
    let id = answer.header("sprag-session").unwrap();
    assert!(id.starts_with("coder-"), "{id}");
    assert_eq!(answer.json()["id"], id);
    assert_eq!(agents.last().body()["sessionId"], id);

    let answer = create(json!({"message": "go", "sessionId": "mine"})).await;
    assert_eq!(answer.header("sprag-session"), Some("mine"));

    let own = json!({"message": "later", "callIt": "77", "agent": "coder"});
    let answer = create(own).await;
    assert_eq!(answer.header("sprag-session"), Some("77"));
    assert_eq!(server.dispatches("77"), [agents.last().flow()]);
    let proposed = agents.last().body()["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(server.dispatches(&proposed), [""; 0]);

    let placed = json!({"message": "go", "callIt": "78", "byLocation": true});
    assert_eq!(create(placed).await.header("sprag-session"), Some("78"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_of_new_sessions_has_a_depth_even_where_the_upstream_names_them() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let named = |id: &str, from: Option<&str>| {
        let mut body = json!({"message": "later", "callIt": id});
        body["fromSession"] = from.into();
        server.post("/api/sessions", body)
    };
    assert_eq!(named("1", None).await.status, 202);
    for (from, to) in [("1", "2"), ("2", "3"), ("3", "4"), ("4", "5")] {
        assert_eq!(named(to, Some(from)).await.status, 202, "{to}");
    }
    let sixth = named("6", Some("5")).await;
    assert_eq!(
        sixth.told(),
        (
            403,
            "Agent call rejected: effective call depth 6 exceeds limit (max 5)".into()
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_in_the_background_is_accepted_at_once_and_passed_on() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let request = server.client.post(server.url("/api/sessions/1/messages"));
    let request = request.header("prefer", "respond-async");
    let answer = request
        .json(&json!({"prompt": "hold"}))
        .send()
        .await
        .unwrap();
    let answer = HttpAnswer::of(answer).await;
    assert_eq!(answer.status, 202);
    assert_eq!(answer.header("preference-applied"), Some("respond-async"));
    assert_eq!(answer.json(), json!({"session": "1", "accepted": true}));
    agents.arrived(1).await;
    assert_eq!(server.dispatches("1").len(), 1);
    agents.gate.add_permits(1);
    server.rests("1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_upstream_there_is_no_relay_through_which_an_agent_could_play_the_user() {
    let server = RelayServer::open(RelayConfig::default());
    for path in [
        "/api/sessions",
        "/api/sessions/1/messages",
        "/api/sessions/1/idle",
    ] {
        let answer = server.post(path, json!({"prompt": "hi"})).await;
        assert_eq!(answer.status, 404, "{path}");
    }
    let document = server.client.get(server.url("/openapi.json")).send().await;
    let document = HttpAnswer::of(document.unwrap()).await.json();
    assert_eq!(document["paths"]["/api/sessions"], json!(null));
    assert_eq!(server.logged(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_passes_through() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let get = async |path: &str| {
        let response = server.client.get(server.url(path)).send().await.unwrap();
        HttpAnswer::of(response).await
    };
    let list = get("/api/sessions").await;
    assert_eq!((list.status, list.text.as_str()), (200, r#"["1","2"]"#));
    assert_eq!(list.header("x-list"), Some("yes"));
    assert_eq!(get("/api/sessions/7?x=1").await.text, r#"{"id":"7"}"#);
    assert_eq!(get("/api/sessions/1/unknown").await.status, 404);
    assert_eq!(get("/api/other").await.status, 404);
    // A client of its own: the usual one would tidy the address up before it sends it.
    let mut raw = tokio::net::TcpStream::connect(server.test_server.address)
        .await
        .unwrap();
    let head =
        "GET /api/sessions/%2E%2e/secret HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    raw.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    raw.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 400 "), "{text}");
    let told = "the path: it has a part that is `.` or `..`";
    assert!(text.contains(told), "{text}");
    assert_eq!(server.logged(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_and_fields_are_called_as_the_upstream_calls_them() {
    let agents = AgentServer::start().await;
    let mut relay = RelayConfig {
        path: "/v2/threads".to_owned(),
        ..agents.relay()
    };
    relay.fields.rename("from=sender").unwrap();
    relay.fields.rename("correlation=trace").unwrap();
    let server = RelayServer::open(relay);
    let path = "/v2/threads/2/messages";
    let own = json!({"message": "hi", "sender": "2", "trace": "f"});
    assert_eq!(
        server.post(path, own).await.told(),
        (400, "Agent call rejected: self-calls not allowed".into())
    );
    assert_eq!(server.say("2", json!({})).await.status, 404);
}
