//! Upstreams that are slow, fail, break off or are not there; callers that give up; many at once.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::json;
use sprag_server::{RelayConfig, RelayTrust, Url};

use super::agent_server::AgentServer;
use super::relay_server::{HttpAnswer, RelayServer};

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_or_failing_upstream_is_seen_as_it_is() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let slow = server.say("1", json!({"prompt": "slow"})).await;
    assert_eq!((slow.status, slow.text.as_str()), (200, "at last"));
    let failed = server.say("1", json!({"prompt": "fail"})).await;
    assert_eq!((failed.status, failed.text.as_str()), (500, "it broke"));
    assert_eq!(server.dispatches("1"), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_is_not_there_is_a_problem_of_its_own() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    drop(taken);
    let server = RelayServer::open(RelayConfig {
        upstream: Some(Url::parse(&format!("http://{address}")).unwrap()),
        trust: RelayTrust::Loopback,
        ..RelayConfig::default()
    });
    let (status, detail) = server.say("1", json!({"prompt": "hi"})).await.told();
    let start = format!(
        "the message was let through, but the agent server at http://{address} did not answer: "
    );
    assert_eq!(status, 502);
    assert!(detail.starts_with(&start), "{detail}");
    assert_eq!(server.dispatches("1"), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streaming_answer_comes_as_it_is_made_and_the_dispatch_lasts_as_long() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let request = server.client.post(server.url("/api/sessions/1/messages"));
    let sent = request.json(&json!({"prompt": "stream"})).send().await;
    let response = sent.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut pieces = response.bytes_stream();
    for piece in ["one ", "two ", "three"] {
        assert_eq!(server.dispatches("1").len(), 1, "{piece}");
        agents.gate.add_permits(1);
        assert_eq!(pieces.next().await.unwrap().unwrap(), piece);
    }
    assert!(pieces.next().await.is_none());
    assert_eq!(server.dispatches("1"), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_breaks_off_for_the_caller_and_ends_the_dispatch() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let request = server.client.post(server.url("/api/sessions/1/messages"));
    let sent = request.json(&json!({"prompt": "cut"})).send().await;
    let mut pieces = sent.unwrap().bytes_stream();
    for piece in ["one ", "two "] {
        agents.gate.add_permits(1);
        assert_eq!(pieces.next().await.unwrap().unwrap(), piece);
    }
    assert_eq!(server.dispatches("1").len(), 1);
    agents.gate.add_permits(1);
    assert!(pieces.next().await.unwrap().is_err());
    server.rests("1").await;
}

/// An agent server that says a part of its answer and breaks off in the same breath.
fn breathless(times: usize) -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for _ in 0..times {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            while !request.starts_with(b"POST") || !request.contains(&b'}') {
                let read = stream.read(&mut request).unwrap();
                assert!(read > 0);
            }
            let answer =
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\none \r\n4\r\ntwo \r\n";
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_before_an_answer_breaks_off_reaches_the_caller() {
    const TIMES: usize = 100;
    let server = RelayServer::open(RelayConfig {
        upstream: Some(Url::parse(&format!("http://{}", breathless(TIMES))).unwrap()),
        trust: RelayTrust::Loopback,
        ..RelayConfig::default()
    });
    for time in 0..TIMES {
        let request = server.client.post(server.url("/api/sessions/1/messages"));
        let sent = request.json(&json!({"prompt": "hi"})).send().await;
        let mut pieces = sent.unwrap().bytes_stream();
        let (mut heard, mut broken) = (Vec::new(), false);
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(piece) => heard.extend_from_slice(&piece),
                Err(_) => broken = true,
            }
        }
        let heard = String::from_utf8_lossy(&heard);
        assert_eq!((&*heard, broken), ("one two ", true), "time {time}");
    }
    server.rests("1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_gives_up_does_not_end_what_the_upstream_works_on() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let request = server.client.post(server.url("/api/sessions/1/messages"));
    let request = request.timeout(Duration::from_millis(200));
    let sent = request.json(&json!({"prompt": "hold"})).send().await;
    assert!(sent.unwrap_err().is_timeout());
    assert_eq!(server.dispatches("1").len(), 1);
    agents.gate.add_permits(1);
    server.rests("1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_nobody_reads_any_more_ends_the_dispatch() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let request = server.client.post(server.url("/api/sessions/1/messages"));
    let sent = request.json(&json!({"prompt": "stream"})).send().await;
    let response = sent.unwrap();
    assert_eq!(server.dispatches("1").len(), 1);
    drop(response);
    agents.gate.add_permits(3);
    server.rests("1").await;
}

/// What each of 200 agents sends: ten messages to its neighbour, every fifth of them to itself, which is refused.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_agents_at_once_no_message_is_lost_doubled_or_misdirected() {
    const AGENTS: usize = 200;
    const EACH: usize = 10;
    let agents = AgentServer::start().await;
    let server = Arc::new(RelayServer::open(agents.relay()));
    let talking: Vec<_> = (0..AGENTS)
        .map(|agent| {
            let server = Arc::clone(&server);
            tokio::spawn(async move {
                let mut passed = Vec::new();
                for n in 0..EACH {
                    let to = if n % 5 == 4 { agent } else { (agent + 1) % AGENTS };
                    let words = format!("{agent}/{n}");
                    let body = json!({"message": words, "to": to.to_string(), "fromSession": agent.to_string(), "correlationId": format!("flow-of-{agent}")});
                    let request = server.client.post(server.url(&format!("/api/sessions/{to}/messages")));
                    let answer = HttpAnswer::of(request.json(&body).send().await.unwrap()).await;
                    match answer.status {
                        200 => {
                            assert_eq!(answer.json()["reply"], format!("{to} heard {words}"));
                            passed.push((to.to_string(), words));
                        }
                        status => assert_eq!((status, to), (400, agent), "{answer:?}"),
                    }
                }
                passed
            })
        })
        .collect();
    let mut expected = BTreeMap::new();
    for agent in talking {
        for sent in agent.await.unwrap() {
            *expected.entry(sent).or_insert(0) += 1;
        }
    }
    let mut arrived = BTreeMap::new();
    for arrival in agents.arrivals() {
        let body = arrival.body();
        assert_eq!(body["to"], arrival.session.as_str());
        let from = body["fromSession"].as_str().unwrap();
        assert_eq!(arrival.flow(), format!("flow-of-{from}"));
        let words = body["message"].as_str().unwrap().to_owned();
        *arrived.entry((arrival.session, words)).or_insert(0) += 1;
    }
    assert_eq!(arrived.len(), AGENTS * EACH * 4 / 5);
    assert_eq!(arrived, expected);
    for agent in 0..AGENTS {
        assert_eq!(server.dispatches(&agent.to_string()), [""; 0], "{agent}");
    }
}
