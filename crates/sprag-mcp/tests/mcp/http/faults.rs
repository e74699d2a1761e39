//! Servers and clients that break in every way: a clear status, nothing left, nobody else concerned.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use serde_json::json;

use super::proxy_fixture::ProxyFixture;
use super::raw_http::{HttpClient, ScriptedServer, ServerConnection, read_chunk, read_head};
use crate::gate_fixture::{call, text_result};

/// Closes so that the other side sees a reset.
fn reset(peer: &mut ServerConnection) {
    set_socket_linger(&peer.to, Some(Duration::ZERO)).unwrap();
    peer.to.shutdown(Shutdown::Read).unwrap();
    peer.say(b"");
}

#[test]
fn a_server_that_is_not_there_is_told_as_such() {
    let proxy = ProxyFixture::new("http://127.0.0.1:9/mcp", "", |_| {});
    let mut client = proxy.client();
    let got = client.post("", &call(7, "read", "{}"));
    assert_eq!(got.status(), 502);
    let wanted = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -31002,
        "message": "the server behind can't be asked: connection refused"}});
    assert_eq!(got.json(), wanted);
    let steps = proxy.wait_for("step", 1);
    assert_eq!(steps[0]["event"]["outcome"]["is_error"], true);
    client.post("", &call(8, "read", "{}"));
    let told = proxy.told.lock().unwrap().clone();
    assert_eq!(
        told,
        ["http://127.0.0.1:9 does not answer: connection refused"]
    );
}

#[test]
fn a_server_that_breaks_is_a_bad_gateway_and_the_next_request_works() {
    for kind in [
        "close",
        "reset",
        "garbage",
        "half a head",
        "huge head",
        "silence",
        "half a body",
    ] {
        let server = ScriptedServer::start(move |asked, peer| {
            if asked.text().contains("fine") {
                return peer.json(text_result(2, "fine").as_bytes());
            }
            match kind {
                "reset" => reset(peer),
                "garbage" => peer.say(b"\x16\x03\x01 not http at all\r\n\r\n"),
                "half a head" => peer.say(b"HTTP/1.1 200 OK\r\ncontent-le"),
                "huge head" => {
                    peer.say(b"HTTP/1.1 200 OK\r\nx: ");
                    peer.say(&vec![b'a'; 1 << 20]);
                }
                "silence" => return peer.until_closed(),
                "half a body" => {
                    let head = "content-type: application/json\r\ncontent-length: 100\r\n";
                    peer.say(format!("HTTP/1.1 200 OK\r\n{head}\r\n{{").as_bytes());
                    return peer.until_closed();
                }
                _ => {}
            }
            let _ = peer.to.shutdown(Shutdown::Both);
        });
        let mut config = sprag_mcp::http::ProxyConfig::single(&server.url()).unwrap();
        let is_late = matches!(kind, "silence" | "half a body");
        if is_late {
            config.upstreams[0].timeout = Duration::from_millis(300);
        }
        let proxy = ProxyFixture::over(config, "", |_| {});
        let mut client = proxy.client();
        let got = client.post("", &call(1, "read", "{}"));
        let wanted = if is_late { 504 } else { 502 };
        assert_eq!(got.status(), wanted, "{kind}: {got:?}");
        assert_eq!(got.json()["error"]["code"], -31002, "{kind}");
        proxy.wait_for("step", 1);
        if !is_late {
            let fine = client.post("", &call(2, "fine", "{}"));
            assert_eq!(fine.text(), text_result(2, "fine"), "{kind}");
        }
    }
}

#[test]
fn a_stream_that_breaks_off_breaks_off_for_the_client_after_what_it_said() {
    let server = ScriptedServer::start(move |_, peer| {
        peer.events("");
        peer.part(b"data: {\"half\":");
        let _ = peer.to.shutdown(Shutdown::Both);
    });
    let proxy = ProxyFixture::before(&server);
    let mut client = proxy.client();
    client.send("POST /mcp", "", call(1, "read", "{}").as_bytes());
    let mut rest = Vec::new();
    client.from.read_to_end(&mut rest).unwrap();
    let text = String::from_utf8(rest).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    assert!(text.ends_with("data: {\"half\":\r\n"), "{text}");
}

#[test]
fn an_answer_that_breaks_off_is_a_bad_gateway() {
    let server = ScriptedServer::start(move |_, peer| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n";
        peer.say(format!("{head}\r\n{{\"half\":").as_bytes());
        let _ = peer.to.shutdown(Shutdown::Both);
    });
    let proxy = ProxyFixture::before(&server);
    let got = proxy.client().post("", &call(4, "read", "{}"));
    assert_eq!(got.status(), 502);
    let why = "the answer of the server behind broke off";
    let wanted = json!({"jsonrpc": "2.0", "id": 4, "error": {"code": -31002, "message": why}});
    assert_eq!(got.json(), wanted);
}

#[test]
fn clients_that_break_leave_the_proxy_as_it_was() {
    let server = ScriptedServer::start(|asked, peer| peer.json(&asked.body));
    let proxy = ProxyFixture::before(&server);
    for bytes in [
        b"\x00\xff\x80garbage\r\n\r\n".to_vec(),
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{".to_vec(),
        b"GET /mcp HTTP/1.1\r\n".to_vec(),
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
            .to_vec(),
        [
            b"GET /mcp HTTP/1.1\r\nhost: localhost\r\nx: ".to_vec(),
            vec![b'a'; 1 << 20],
        ]
        .concat(),
    ] {
        let mut client = proxy.client();
        let _ = client.to.write_all(&bytes);
        drop(client);
    }
    let mut client = proxy.client();
    assert_eq!(client.post("", "{}").text(), "{}");
}

#[test]
fn what_is_too_large_or_too_many_is_told_as_such() {
    let server = ScriptedServer::start(|_, peer| {
        peer.events("");
        peer.until_closed();
    });
    let proxy = ProxyFixture::new(&server.url(), "", |options| {
        options.body_bytes = 1000;
        options.streams = 2;
    });
    let got = proxy.client().post("", &"x".repeat(2000));
    assert_eq!(
        (got.status(), got.text()),
        (413, "a body has at most 1000 bytes here\n")
    );
    let mut open: Vec<HttpClient> = (0..2).map(|_| proxy.client()).collect();
    for client in &mut open {
        client.send("GET /mcp", "", b"");
        read_head(&mut client.from).unwrap();
    }
    let mut more = proxy.client();
    let got = more.ask("GET /mcp", "", b"");
    assert_eq!(
        (got.status(), got.text()),
        (503, "2 requests are under way; try again later\n")
    );
    assert_eq!(got.header("retry-after"), Some("1"));
    drop(open);
    // The room comes back with those who left.
    for _ in 0..500 {
        more.send("GET /mcp", "", b"");
        if read_head(&mut more.from).unwrap().status() == 200 {
            return;
        }
        more = proxy.client();
        std::thread::park_timeout(Duration::from_millis(20));
    }
    panic!("no room came back");
}

/// How many streams: `make soak` sets as many as one process has descriptors for.
#[expect(
    clippy::disallowed_methods,
    reason = "the soak sets how many there are"
)]
fn streams() -> usize {
    match std::env::var("SPRAG_MCP_STREAMS") {
        Ok(count) => count.parse().expect("SPRAG_MCP_STREAMS is a number"),
        Err(_) => 300,
    }
}

#[test]
fn many_streams_live_side_by_side_and_leave_nothing() {
    let server = ScriptedServer::start(|asked, peer| {
        let id = asked.header("x-id").unwrap().to_owned();
        peer.events("");
        peer.part(format!("data: {{\"n\":{id}}}\n\n").as_bytes());
        peer.until_closed();
    });
    let proxy = ProxyFixture::before(&server);
    let count = streams();
    let mut clients: Vec<HttpClient> = (0..count).map(|_| proxy.client()).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.send(
            "POST /mcp",
            &format!("x-id: {n}\r\n"),
            call(1, "watch", &format!(r#"{{"n":{n}}}"#)).as_bytes(),
        );
    }
    for (n, client) in clients.iter_mut().enumerate() {
        assert_eq!(read_head(&mut client.from).unwrap().status(), 200);
        let chunk = read_chunk(&mut client.from).unwrap().unwrap();
        assert_eq!(chunk, format!("data: {{\"n\":{n}}}\n\n").as_bytes());
    }
    let sockets = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = sockets();
    assert!(before > count * 4, "{before}");
    drop(clients);
    // Both ends of four connections for each stream are in this process: all of them go.
    for _ in 0..1000 {
        if sockets() < before - count * 4 + 64 {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    panic!("{} of {before} descriptors are left", sockets());
}
