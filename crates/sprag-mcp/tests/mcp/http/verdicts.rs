//! What the guard says over HTTP: refusals, words next to results, and who is behind a call.

use serde_json::{Value, json};
use sprag::Id;
use sprag_core::OrderEvent;

use super::proxy_fixture::ProxyFixture;
use super::raw_http::{HttpMessage, ScriptedServer, ServerConnection};
use crate::gate_fixture::{call, text_result};

/// A server that answers every call with the same words, as JSON or as an event.
fn same(as_events: bool) -> ScriptedServer {
    ScriptedServer::start(move |asked: &HttpMessage, peer: &mut ServerConnection| {
        let id = asked.json()["id"].as_u64().unwrap();
        let answer = text_result(u32::try_from(id).unwrap(), "nothing new");
        if as_events {
            peer.events("");
            peer.part(format!("id: a\nevent: message\ndata: {answer}\n\n: bye\n\n").as_bytes());
            peer.end();
        } else {
            peer.json(answer.as_bytes());
        }
    })
}

fn item(answer: &Value, at: usize) -> &str {
    answer["result"]["content"][at]["text"].as_str().unwrap()
}

#[test]
fn a_loop_is_warned_next_to_the_result_and_then_refused() {
    let server = same(false);
    let proxy = ProxyFixture::new(&server.url(), "", |options| {
        options.principal_is_session = true
    });
    let mut client = proxy.client();
    let (mut warned, mut refused) = (None, None);
    for n in 1..=30 {
        let answer = client.post("authorization: Bearer a\r\n", &call(n, "status", "{}"));
        assert_eq!(answer.status(), 200);
        let answer = answer.json();
        if answer["result"]["isError"] == true {
            refused = Some((n, item(&answer, 0).to_owned()));
            break;
        }
        assert_eq!(item(&answer, 0), "nothing new");
        if answer["result"]["content"].get(1).is_some() {
            assert!(item(&answer, 1).starts_with("[sprag] "), "{answer}");
            warned.get_or_insert(n);
        }
    }
    let (at, why) = refused.expect("a refusal");
    assert!(warned.expect("a warning") < at, "{warned:?} {at}");
    assert!(why.contains("ummar"), "{why}");
    assert_eq!(server.asked().len(), usize::try_from(at).unwrap() - 1);
    // Somebody else is not concerned.
    let other = client.post("authorization: Bearer b\r\n", &call(1, "status", "{}"));
    assert_eq!(
        other.json()["result"]["content"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn a_word_changes_one_event_and_no_other_byte() {
    let server = same(true);
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    for n in 1..=30 {
        let got = client.post("mcp-session-id: s\r\n", &call(n, "status", "{}"));
        let plain = text_result(n, "nothing new");
        let (before, after) = ("id: a\nevent: message\ndata: ", "\n\n: bye\n\n");
        let text = got.text();
        if text == format!("{before}{plain}{after}") {
            continue;
        }
        let inner = text.strip_prefix(before).unwrap();
        let inner = inner.strip_suffix(after).unwrap();
        let (head, tail) = plain.split_once("]}").unwrap();
        let word = inner.strip_prefix(head).unwrap();
        let word = word.strip_suffix(&format!("]}}{tail}")).unwrap();
        assert!(
            word.starts_with(r#",{"type":"text","text":"[sprag] "#),
            "{word}"
        );
        return;
    }
    panic!("never a word");
}

#[test]
fn where_nobody_is_told_apart_a_loop_is_refused_but_nobody_is_stopped() {
    let server = same(false);
    let policy = "[destructive]\nmax_calls = 2";
    let proxy = ProxyFixture::new(&server.url(), policy, |_| {});
    let mut client = proxy.client();
    let ask = |n: u32, client: &mut super::raw_http::HttpClient| {
        client
            .post(
                "",
                &call(n, "delete_asset", &format!(r#"{{"asset_id":"a{n}"}}"#)),
            )
            .json()
    };
    assert_eq!(item(&ask(1, &mut client), 0), "nothing new");
    assert_eq!(ask(2, &mut client)["result"]["isError"], true);
    let harmless = client.post("", &call(3, "list_assets", "{}")).json();
    assert_eq!(item(&harmless, 0), "nothing new");
    let records = proxy.records();
    let calls: Vec<&Value> = records
        .iter()
        .filter(|record| record["event"]["type"] == "call")
        .collect();
    assert!(
        calls
            .iter()
            .all(|call| call["event"]["identity"] == "shared"),
        "{calls:?}"
    );
    assert_eq!(calls[0]["event"]["session"], "mcp-http-127.0.0.1");
}

#[test]
fn a_killed_session_is_refused_and_its_protocol_session_is_told_by_a_digest() {
    let server = same(false);
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    client.post("mcp-session-id: secret-one\r\n", &call(1, "a", "{}"));
    let session = proxy.records()[0]["event"]["session"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(session.starts_with("mcp-session-"), "{session}");
    assert!(!session.contains("secret"));
    let kill = OrderEvent::new(Id::new(&session).unwrap()).by("ops");
    proxy
        .guard
        .check_as(sprag::Role::Operator, sprag::Event::Kill(kill))
        .unwrap();
    let refused = client.post("mcp-session-id: secret-one\r\n", &call(2, "a", "{}"));
    assert_eq!(
        (refused.status(), &refused.json()["result"]["isError"]),
        (200, &json!(true))
    );
    let other = client.post("mcp-session-id: secret-two\r\n", &call(2, "a", "{}"));
    assert_eq!(item(&other.json(), 0), "nothing new");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn the_client_of_a_protocol_session_is_known_from_its_start() {
    let server = ScriptedServer::start(|asked, peer| {
        let id = asked.json()["id"].as_u64();
        let Some(id) = id else {
            return peer.answer("202 Accepted", "", b"");
        };
        let result = json!({"jsonrpc": "2.0", "id": id, "result": {"serverInfo": {"name": "catalog"}, "content": []}});
        let headers = "mcp-session-id: s7\r\ncontent-type: application/json\r\n";
        peer.answer("200 OK", headers, result.to_string().as_bytes());
    });
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    client.post("", r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"codex"}}}"#);
    client.post("mcp-session-id: s7\r\n", &call(1, "a", "{}"));
    let event = &proxy.wait_for("call", 1)[0]["event"];
    assert_eq!(
        (&event["agent"], &event["approach"]["server"]),
        (&json!("codex"), &json!("catalog"))
    );
    let deleted = client.ask("DELETE /mcp", "mcp-session-id: s7\r\n", b"{}");
    assert_eq!(deleted.status(), 202);
}

#[test]
fn a_batch_goes_on_without_what_is_refused_and_its_answers_come_together() {
    for as_events in [false, true] {
        let server = ScriptedServer::start(move |asked, peer| {
            let asked = asked.json();
            let items = asked.as_array().unwrap();
            let answers: Vec<Value> = items
                .iter()
                .map(|item| json!({"jsonrpc": "2.0", "id": item["id"], "result": {}}))
                .collect();
            if as_events {
                peer.events("");
                peer.part(format!("data: {}\n\n", json!(answers)).as_bytes());
                peer.end();
            } else {
                peer.json(json!(answers).to_string().as_bytes());
            }
        });
        let proxy = ProxyFixture::new(&server.url(), "[access]\ndeny = [\"secret_*\"]", |_| {});
        let batch = format!(
            "[{},{}]",
            call(1, "secret_read", "{}"),
            call(2, "read", "{}")
        );
        let got = proxy.client().post("", &batch);
        let ids: Vec<u64> = if as_events {
            let data = got
                .text()
                .lines()
                .filter_map(|line| line.strip_prefix("data: "));
            let values = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
            values
                .map(|value| value["id"].as_u64().or(value[0]["id"].as_u64()).unwrap())
                .collect()
        } else {
            got.json()
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["id"].as_u64().unwrap())
                .collect()
        };
        assert_eq!(ids, [1, 2], "{got:?}");
        assert_eq!(server.asked()[0].json().as_array().unwrap().len(), 1);
    }
}

#[test]
fn headers_that_contradict_the_body_are_refused_before_the_guard_or_the_server_hear_of_it() {
    let server = same(false);
    let proxy = ProxyFixture::before(&server);
    let body = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let headers =
        "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: delete\r\n";
    let got = proxy.client().post(headers, body);
    assert_eq!(got.status(), 400);
    let wanted = json!({"jsonrpc": "2.0", "id": 5, "error": {"code": -32020,
        "message": "the header mcp-name and the body say different things, so it was not passed on"}});
    assert_eq!(got.json(), wanted);
    assert!(server.asked().is_empty() && proxy.records().is_empty());
}

#[test]
fn a_header_that_repeats_an_argument_must_say_the_same() {
    let server = ScriptedServer::start(|asked, peer| {
        match asked.json()["method"].as_str() {
        Some("tools/list") => peer.json(
            br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"limit":{"type":"integer","x-mcp-header":"Limit"}}}}]}}"#,
        ),
        _ => peer.json(text_result(2, "rows").as_bytes()),
    }
    });
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let standard = "mcp-protocol-version: 2026-07-28\r\n";
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"query","arguments":{{"region":"eu","limit":5}},{meta}}}}}"#
    );
    let mut status = |headers: &str| client.post(&format!("{standard}{headers}"), &body).status();
    // Before the tools were listed nobody here knows what a header is about.
    assert_eq!(status("mcp-param-region: us\r\n"), 200);
    let list = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{meta}}}}}"#);
    assert_eq!(proxy.client().post(standard, &list).status(), 200);
    assert_eq!(
        status("mcp-param-region: eu\r\nmcp-param-limit: 5\r\n"),
        200
    );
    assert_eq!(status("mcp-param-region: =?base64?ZXU=?=\r\n"), 200);
    assert_eq!(status("mcp-param-other: us\r\n"), 200);
    assert_eq!(status("mcp-param-region: us\r\n"), 400);
    assert_eq!(
        status("mcp-param-region: eu\r\nmcp-param-limit: 50\r\n"),
        400
    );
    assert_eq!(server.asked().len(), 5);
}

#[test]
fn a_call_that_can_be_read_in_two_ways_is_a_bad_request() {
    let server = same(false);
    let proxy = ProxyFixture::before(&server);
    let twice = r#"{"id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#;
    let got = proxy.client().post("", twice);
    assert_eq!(
        (got.status(), &got.json()["error"]["code"]),
        (400, &json!(-32600))
    );
    assert!(server.asked().is_empty());
}

#[test]
fn an_answer_too_long_to_be_held_streams_through_and_counts() {
    for as_events in [false, true] {
        let size = 12 * 1024 * 1024;
        let server = ScriptedServer::start(move |asked, peer| {
            let text = "x".repeat(size);
            let answer = text_result(
                u32::try_from(asked.json()["id"].as_u64().unwrap()).unwrap(),
                &text,
            );
            if as_events {
                peer.events("");
                peer.part(format!("data: {answer}\n\n").as_bytes());
                peer.end();
            } else {
                peer.json(answer.as_bytes());
            }
        });
        let proxy = ProxyFixture::before(&server);
        let got = proxy.client().post("", &call(1, "read", "{}"));
        assert!(got.body.len() > size);
        let steps = proxy.wait_for("step", 1);
        assert!(
            steps[0]["event"]["outcome"].is_object()
                && steps[0]["event"]["outcome"]["is_error"].is_null(),
            "{steps:?}"
        );
    }
}
