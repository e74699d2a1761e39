//! Requests that a server may read and the guard can't: none of them reaches the server.

use std::io::Write as _;

use super::proxy_fixture::ProxyFixture;
use super::raw_http::ScriptedServer;
use crate::gate_fixture::call;

fn utf16(text: &str, big: bool) -> Vec<u8> {
    let unit = |unit: u16| match big {
        true => unit.to_be_bytes(),
        false => unit.to_le_bytes(),
    };
    text.encode_utf16().flat_map(unit).collect()
}

/// Sends one request on a connection of its own, and returns the status.
fn status(proxy: &ProxyFixture, start: &str, headers: &str, body: &[u8]) -> u16 {
    proxy.client().ask(start, headers, body).status()
}

#[test]
fn a_call_that_is_compressed_or_in_utf_16_once_passed_unjudged() {
    let server = ScriptedServer::start(|_, peer| peer.json(b"{}"));
    let proxy = ProxyFixture::before(&server);
    let call = call(1, "delete_all", "{}");
    for encoding in [
        "gzip",
        "deflate",
        "br",
        "zstd",
        "identity, gzip",
        "x-unknown",
    ] {
        let headers = format!("content-type: application/json\r\ncontent-encoding: {encoding}\r\n");
        let body = call.as_bytes();
        assert_eq!(
            status(&proxy, "POST /mcp", &headers, body),
            415,
            "{encoding}"
        );
    }
    let json = "content-type: application/json\r\n";
    for (body, what) in [
        (utf16(&call, true), "UTF-16, big end first"),
        (utf16(&call, false), "UTF-16, little end first"),
        (utf16(&format!("\u{feff}{call}"), true), "with its mark"),
        (utf16(&format!("\u{feff}{call}"), false), "with its mark"),
        (format!("\u{feff}{call}").into_bytes(), "UTF-8 with a mark"),
        ([&[0, 0, 0][..], call.as_bytes()].concat(), "UTF-32"),
    ] {
        assert_eq!(status(&proxy, "POST /mcp", json, &body), 415, "{what}");
    }
    for charset in [
        "charset=\"UTF-16LE\"",
        "charset = utf-7",
        "charset\t=utf-7",
        "charset*=utf-8''utf-7",
        "charset*0=utf-7",
        "x=\"\"; charset=shift_jis",
        "charset=utf-8; charset=utf-7",
        "charset",
    ] {
        let other = format!("content-type: application/json; {charset}\r\n");
        let status = status(&proxy, "POST /mcp", &other, call.as_bytes());
        assert_eq!(status, 415, "{charset}");
    }
    let two = "content-type: application/json\r\ncontent-type: application/cbor\r\n";
    assert_eq!(status(&proxy, "POST /mcp", two, call.as_bytes()), 415);
    assert_eq!(server.asked().len(), 0);
    let plain = "content-type: application/json; charset=utf-8\r\ncontent-encoding: identity\r\n";
    assert_eq!(status(&proxy, "POST /mcp", plain, call.as_bytes()), 200);
    assert_eq!(proxy.wait_for("call", 1).len(), 1);
}

#[test]
fn a_call_in_a_put_or_in_the_body_of_a_get_once_passed_unjudged() {
    let server = ScriptedServer::start(|_, peer| peer.json(b"{}"));
    let proxy = ProxyFixture::before(&server);
    let call = call(1, "delete_all", "{}");
    for (method, wanted) in [("PUT", 405), ("PATCH", 405), ("post", 405), ("QUERY", 405)] {
        let answer = proxy
            .client()
            .ask(&format!("{method} /mcp"), "", call.as_bytes());
        assert_eq!(answer.status(), wanted, "{method}");
        assert!(answer.header("allow").is_some(), "{method}");
    }
    assert_eq!(server.asked().len(), 0);
    for (judged, method) in ["GET", "DELETE", "OPTIONS"].iter().enumerate() {
        let start = format!("{method} /mcp");
        assert_eq!(status(&proxy, &start, "", call.as_bytes()), 200, "{method}");
        assert_eq!(proxy.wait_for("call", judged + 1).len(), judged + 1);
        assert_eq!(status(&proxy, &start, "", b"not json"), 400, "{method}");
    }
    let overridden = "x-http-method-override: POST\r\n";
    assert_eq!(status(&proxy, "DELETE /mcp", overridden, b""), 200);
    let last = server.asked().pop().unwrap();
    assert_eq!(last.header("x-http-method-override"), None);
}

#[test]
fn what_only_a_lax_parser_reads_as_a_call_once_passed_unjudged() {
    let server = ScriptedServer::start(|_, peer| peer.json(b"{}"));
    let proxy = ProxyFixture::before(&server);
    let params = r#"{"name":"delete_all","arguments":{}}"#;
    for body in [
        format!(r#"{{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{params}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","params":{params}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{params}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{}},"Params":{params}}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","param\u017f":{params}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{params}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":" tools/call","params":{params}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call\u200b","params":{params}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call\u0000","params":{params}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"me\u00adthod":"tools/call","params":{params}}}"#),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"delete_all"}}"#
            .to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","NAME":"b"}}"#
            .to_owned(),
        format!("{{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{params}}}"),
        format!("/**/{{\"id\":1,\"method\":\"tools/call\",\"params\":{params}}}"),
        format!("{{id:1,method:\"tools/call\",params:{params}}}"),
        "not json at all".to_owned(),
    ] {
        let json = "content-type: application/json\r\n";
        assert_eq!(
            status(&proxy, "POST /mcp", json, body.as_bytes()),
            400,
            "{body}"
        );
    }
    assert_eq!(server.asked().len(), 0);
    assert_eq!(proxy.records().len(), 0);
}

#[test]
fn a_call_behind_a_comment_once_passed_as_a_form() {
    let server = ScriptedServer::start(|_, peer| peer.json(b"{}"));
    let proxy = ProxyFixture::before(&server);
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    for before in ["/**/", "//x\n", "\u{b}", "\u{a0}", "\u{2028}", "x=1&"] {
        let body = format!("{before}{}", call(1, "delete_all", "{}"));
        let status = status(&proxy, "POST /mcp", form, body.as_bytes());
        assert_eq!(status, 400, "{before:?}");
    }
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn a_form_for_an_authorisation_server_below_the_path_passes() {
    let server = ScriptedServer::start(|_, peer| peer.json(b"{}"));
    let proxy = ProxyFixture::before(&server);
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    assert_eq!(
        status(&proxy, "POST /mcp/token", form, b"grant_type=x"),
        200
    );
    let call = call(1, "delete_all", "{}");
    assert_eq!(
        status(&proxy, "POST /mcp/token", form, call.as_bytes()),
        200
    );
    assert_eq!(proxy.wait_for("call", 1).len(), 1);
}

#[test]
fn a_path_that_leaves_the_servers_own_is_refused() {
    let server = ScriptedServer::start(|_, peer| peer.json(b"{}"));
    let proxy = ProxyFixture::before(&server);
    for path in [
        "/mcp/\\..\\..\\admin",
        "/mcp/..%2fadmin",
        "/mcp/%2e%2e/admin",
        "/mcp/..;/admin",
        "/mcp//admin",
        "/mcp/%00",
    ] {
        assert_eq!(
            status(&proxy, &format!("GET {path}"), "", b""),
            400,
            "{path}"
        );
    }
    assert_eq!(server.asked().len(), 0);
    assert_eq!(status(&proxy, "GET /mcp/", "", b""), 200);
}

#[test]
fn a_request_with_two_hosts_is_refused() {
    let server = ScriptedServer::start(|_, peer| peer.json(b"{}"));
    let proxy = ProxyFixture::before(&server);
    let two = "host: localhost\r\nhost: evil.example\r\n";
    assert_eq!(status(&proxy, "GET /mcp", two, b""), 400);
    assert_eq!(
        status(
            &proxy,
            "GET http://localhost/mcp",
            "host: 127.0.0.1\r\n",
            b""
        ),
        400
    );
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn silent_connections_that_announce_large_bodies_take_no_room_from_honest_ones() {
    let server = ScriptedServer::start(|_, peer| peer.json(b"{}"));
    let proxy = ProxyFixture::before(&server);
    let mut silent = Vec::new();
    for _ in 0..33 {
        let mut client = proxy.client();
        let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 8000000\r\n\r\n{";
        client.to.write_all(head.as_bytes()).unwrap();
        silent.push(client);
    }
    let large = format!("{{\"x\":\"{}\"}}", "x".repeat(1_000_000));
    let call = call(1, "write", &large);
    let json = "content-type: application/json\r\n";
    assert_eq!(status(&proxy, "POST /mcp", json, call.as_bytes()), 200);
}
