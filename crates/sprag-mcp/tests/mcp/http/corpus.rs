//! Recorded traffic passes over HTTP byte for byte, in both directions and in both forms of an answer.

use std::sync::{Arc, Mutex};

use super::proxy_fixture::ProxyFixture;
use super::raw_http::{HttpMessage, ScriptedServer, ServerConnection};
use crate::corpus::recordings;

/// A server that answers each post with what it was given to say next.
fn playing(next: &Arc<Mutex<Vec<String>>>, as_events: bool) -> ScriptedServer {
    let next = Arc::clone(next);
    ScriptedServer::start(move |_: &HttpMessage, peer: &mut ServerConnection| {
        let lines = std::mem::take(&mut *next.lock().unwrap());
        match lines.as_slice() {
            [] => peer.answer("202 Accepted", "", b""),
            [one] if !as_events => peer.json(one.as_bytes()),
            many => {
                peer.events("");
                for line in many {
                    peer.part(format!(": alive\nid: 7\ndata: {line}\n\n").as_bytes());
                }
                peer.end();
            }
        }
    })
}

#[test]
fn every_recording_passes_unchanged() {
    for as_events in [false, true] {
        for path in recordings() {
            let next = Arc::new(Mutex::new(Vec::new()));
            let server = playing(&next, as_events);
            let proxy = ProxyFixture::before(&server);
            let mut client = proxy.client();
            let said = std::fs::read_to_string(&path).unwrap();
            let lines = said.lines().map(|line| serde_json::from_str(line).unwrap());
            let lines: Vec<(String, String)> = lines.collect();
            let mut sent = Vec::new();
            for (at, (who, line)) in lines.iter().enumerate() {
                if who != "client" {
                    continue;
                }
                let answers: Vec<String> = lines[at + 1..]
                    .iter()
                    .take_while(|(who, _)| who == "server")
                    .map(|(_, line)| line.clone())
                    .collect();
                next.lock().unwrap().clone_from(&answers);
                let got = client.post("mcp-session-id: s1\r\n", line);
                sent.push(line.clone());
                let events = answers
                    .iter()
                    .map(|line| format!(": alive\nid: 7\ndata: {line}\n\n"));
                let wanted = match answers.as_slice() {
                    [] => String::new(),
                    [one] if !as_events => one.clone(),
                    _ => events.collect(),
                };
                assert_eq!(got.text(), wanted, "{}", path.display());
            }
            let heard: Vec<String> = server
                .asked()
                .iter()
                .map(|asked| asked.text().to_owned())
                .collect();
            assert_eq!(heard, sent, "{}", path.display());
        }
    }
}

#[test]
fn what_no_sdk_would_keep_passes_too() {
    let odd = [
        r#"{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call","params":{"zeta":1,"name":"a","futureField":{"b":1,"a":2},"arguments":{"n":1.0,"big":123456789012345678901234567890,"e":1E5,"s":"\u00e9\/"},"_meta":{}}}"#,
        r#" { "method" : "tools/call" , "id" : "x" , "params" : { "name" : "a" } } "#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b"}},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"c"}}"#,
    ];
    let server = ScriptedServer::start(|asked, peer| peer.json(&asked.body));
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    for line in odd {
        assert_eq!(client.post("", line).text(), line);
    }
    let heard: Vec<Vec<u8>> = server.asked().into_iter().map(|asked| asked.body).collect();
    assert_eq!(heard, odd.map(|line| line.as_bytes().to_vec()));
}

#[test]
fn headers_pass_except_those_of_one_connection() {
    let server = ScriptedServer::start(|_, peer| {
        let headers = "mcp-session-id: s9\r\nx-vendor: kept\r\nkeep-alive: timeout=5\r\ncontent-type: application/json; charset=utf-8\r\n";
        peer.answer("201 Created", headers, b"{}");
    });
    let proxy = ProxyFixture::before(&server);
    let got = proxy.client().ask(
        "POST /mcp?tenant=7",
        "authorization: Bearer t\r\nmcp-param-region: eu\r\nx-own: a\r\nx-own: b\r\naccept-encoding: gzip\r\nproxy-authorization: x\r\n",
        b"{}",
    );
    assert_eq!(got.status(), 201);
    assert_eq!(got.header("mcp-session-id"), Some("s9"));
    assert_eq!(got.header("x-vendor"), Some("kept"));
    assert_eq!(got.header("keep-alive"), None);
    let asked = &server.asked()[0];
    assert_eq!(asked.start, "POST /mcp?tenant=7 HTTP/1.1");
    assert_eq!(
        asked.header("host"),
        Some(server.address.to_string().as_str())
    );
    assert_eq!(asked.header("authorization"), Some("Bearer t"));
    assert_eq!(asked.header("mcp-param-region"), Some("eu"));
    assert_eq!(asked.header("accept-encoding"), Some("identity"));
    assert_eq!(asked.header("proxy-authorization"), None);
    let own = asked.headers.iter().filter(|(name, _)| name == "x-own");
    assert_eq!(own.count(), 2);
}

#[test]
fn an_event_goes_on_when_it_is_whole_and_a_comment_at_once() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let server = ScriptedServer::start(move |_, peer| {
        peer.events("");
        for part in [
            ": alive\n\n",
            "data: {\"method\":\"notifications/x\"}\n\n",
            "data: {}\n\n",
        ] {
            peer.part(part.as_bytes());
            wait.lock().unwrap().recv().unwrap();
        }
        peer.end();
    });
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    client.send(
        "POST /mcp",
        "",
        br#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#,
    );
    let head = super::raw_http::read_head(&mut client.from).unwrap();
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    for part in [
        ": alive\n\n",
        "data: {\"method\":\"notifications/x\"}\n\n",
        "data: {}\n\n",
    ] {
        let chunk = super::raw_http::read_chunk(&mut client.from)
            .unwrap()
            .unwrap();
        assert_eq!(String::from_utf8(chunk).unwrap(), part);
        go.send(()).unwrap();
    }
    assert_eq!(super::raw_http::read_chunk(&mut client.from), Some(None));
}
