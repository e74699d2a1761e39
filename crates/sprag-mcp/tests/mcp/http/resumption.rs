//! Streams that end before their answer: cancelled, cut, or taken up again on another one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;

use super::proxy_fixture::ProxyFixture;
use super::raw_http::{HttpClient, ScriptedServer, read_head};
use crate::gate_fixture::{call, text_result};

#[test]
fn a_client_that_closes_cancels_and_the_server_sees_it() {
    let (told, closed) = channel();
    let told = Mutex::new(told);
    let server = ScriptedServer::start(move |_, peer| {
        peer.events("");
        peer.part(b": working\n\n");
        peer.until_closed();
        told.lock().unwrap().send(()).unwrap();
    });
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    client.send("POST /mcp", "", call(1, "slow", "{}").as_bytes());
    read_head(&mut client.from).unwrap();
    drop(client);
    closed.recv().unwrap();
    let step = &proxy.wait_for("step", 1)[0]["event"];
    assert_eq!(step["outcome"]["is_error"], true);
}

#[test]
fn a_client_that_leaves_before_an_answer_starts_cancels_too() {
    let (told, closed) = channel();
    let told = Mutex::new(told);
    let (here, came) = channel();
    let here = Mutex::new(here);
    let server = ScriptedServer::start(move |_, peer| {
        here.lock().unwrap().send(()).unwrap();
        peer.until_closed();
        told.lock().unwrap().send(()).unwrap();
    });
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    client.send("POST /mcp", "", call(1, "slow", "{}").as_bytes());
    came.recv().unwrap();
    drop(client);
    closed.recv().unwrap();
    proxy.wait_for("step", 1);
}

#[test]
fn a_stream_that_the_server_cuts_is_cut_for_the_client_and_sending_again_is_no_repetition() {
    let count = AtomicU32::new(0);
    let server = ScriptedServer::start(move |asked, peer| {
        let id = u32::try_from(asked.json()["id"].as_u64().unwrap()).unwrap();
        peer.events("");
        if count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            peer.part(b": working\n\n");
        } else {
            peer.part(format!("data: {}\n\n", text_result(id, "done")).as_bytes());
        }
        peer.end();
    });
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    assert_eq!(
        client.post("", &call(1, "slow", "{}")).text(),
        ": working\n\n"
    );
    assert!(
        client
            .post("", &call(2, "slow", "{}"))
            .text()
            .contains("done")
    );
    assert_eq!(proxy.wait_for("step", 1).len(), 1);
    assert_eq!(proxy.wait_for("call", 1).len(), 1);
    // The next one is a call of its own.
    client.post("", &call(3, "slow", "{}"));
    assert_eq!(proxy.wait_for("call", 2).len(), 2);
}

#[test]
fn in_a_protocol_session_the_answer_may_come_on_a_later_stream() {
    let server = ScriptedServer::start(|asked, peer| {
        peer.events("");
        if asked.start.starts_with("POST") {
            peer.part(b"id: 1\nretry: 10\ndata:\n\n");
        } else {
            assert_eq!(asked.header("last-event-id"), Some("1"));
            let answer = text_result(1, "late");
            peer.part(format!("id: 2\ndata: {answer}\n\n").as_bytes());
        }
        peer.end();
    });
    let proxy = ProxyFixture::before(&server);
    let session = "mcp-session-id: s1\r\n";
    let first = proxy.client().post(session, &call(1, "slow", "{}"));
    assert_eq!(first.text(), "id: 1\nretry: 10\ndata:\n\n");
    assert!(
        proxy
            .records()
            .iter()
            .all(|record| record["event"]["type"] == "call")
    );
    let later = format!("{session}last-event-id: 1\r\naccept: text/event-stream\r\n");
    let mut client: HttpClient = proxy.client();
    let got = client.ask("GET /mcp", &later, b"");
    assert_eq!(
        got.text(),
        format!("id: 2\ndata: {}\n\n", text_result(1, "late"))
    );
    let steps = proxy.wait_for("step", 1);
    assert!(
        steps[0]["event"]["outcome"].is_object()
            && steps[0]["event"]["outcome"]["is_error"].is_null()
    );
}

#[test]
fn a_cancellation_by_message_ends_the_call_in_its_session() {
    let server = ScriptedServer::start(|asked, peer| {
        if asked.text().contains("notifications/cancelled") {
            return peer.answer("202 Accepted", "", b"");
        }
        peer.events("");
        peer.until_closed();
    });
    let proxy = ProxyFixture::before(&server);
    let session = "mcp-session-id: s1\r\n";
    let mut waiting = proxy.client();
    waiting.send("POST /mcp", session, call(1, "slow", "{}").as_bytes());
    read_head(&mut waiting.from).unwrap();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}"#;
    assert_eq!(proxy.client().post(session, cancel).status(), 202);
    let steps = proxy.wait_for("step", 1);
    assert_eq!(steps[0]["event"]["outcome"]["is_error"], true);
}

#[test]
fn a_subscription_stays_open_and_closes_with_its_client() {
    let (told, closed) = channel();
    let told = Mutex::new(told);
    let server = ScriptedServer::start(move |_, peer| {
        peer.events("");
        peer.part(b"data: {\"method\":\"notifications/subscriptions/acknowledged\"}\n\n");
        peer.until_closed();
        told.lock().unwrap().send(()).unwrap();
    });
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    client.send(
        "POST /mcp",
        "",
        br#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}"#,
    );
    read_head(&mut client.from).unwrap();
    let first = super::raw_http::read_chunk(&mut client.from)
        .unwrap()
        .unwrap();
    assert!(String::from_utf8(first).unwrap().contains("acknowledged"));
    drop(client);
    closed.recv().unwrap();
    assert!(proxy.records().is_empty());
}
