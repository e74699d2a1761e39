//! Tokens: where a client is sent to get one, and where it never ends up.

use serde_json::json;

use super::proxy_fixture::ProxyFixture;
use super::raw_http::{HttpMessage, ScriptedServer, ServerConnection};
use crate::gate_fixture::call;

/// A server that wants a token, and says where to get one.
fn protected(at_root: bool) -> ScriptedServer {
    ScriptedServer::start(move |asked: &HttpMessage, peer: &mut ServerConnection| {
        let host = asked.header("host").unwrap().to_owned();
        let path = asked.start.split(' ').nth(1).unwrap();
        let place = if at_root {
            "/.well-known/oauth-protected-resource"
        } else {
            "/.well-known/oauth-protected-resource/mcp"
        };
        if path == place {
            let document = format!(
                r#"{{ "resource" : "http://{host}/mcp","authorization_servers":["https://auth.example"],"x":{{"resource":1}} }}"#
            );
            peer.json(document.as_bytes());
        } else if path.starts_with("/.well-known/") {
            peer.answer("404 Not Found", "", b"");
        } else if asked.header("authorization").is_some() {
            peer.json(br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
        } else {
            let challenge = format!(
                "www-authenticate: Bearer realm=\"x\", resource_metadata=\"http://{host}{place}\", scope=\"a b\"\r\n"
            );
            peer.answer("401 Unauthorized", &challenge, b"");
        }
    })
}

#[test]
fn a_client_finds_the_way_to_a_token_for_the_resource_that_it_knows() {
    for at_root in [false, true] {
        let server = protected(at_root);
        let proxy = ProxyFixture::before(&server);
        let mut client = proxy.client();
        let own = proxy.address;
        let metadata = format!("http://{own}/.well-known/oauth-protected-resource/mcp");
        let wanted = format!(
            r#"{{ "resource" : "http://{own}/mcp","authorization_servers":["https://auth.example"],"x":{{"resource":1}} }}"#
        );
        // Also where it looks before it was told.
        let got = client.ask("GET /.well-known/oauth-protected-resource/mcp", "", b"");
        assert_eq!((got.status(), got.text()), (200, wanted.as_str()));
        let refused = client.post("", &call(1, "a", "{}"));
        assert_eq!(refused.status(), 401);
        assert_eq!(
            refused.header("www-authenticate"),
            Some(
                format!("Bearer realm=\"x\", resource_metadata=\"{metadata}\", scope=\"a b\"")
                    .as_str()
            )
        );
        let got = client.ask("GET /.well-known/oauth-protected-resource/mcp", "", b"");
        assert_eq!(got.text(), wanted);
        assert_eq!(
            client
                .post("authorization: Bearer t\r\n", &call(1, "a", "{}"))
                .status(),
            200
        );
        let none = client.ask("GET /.well-known/oauth-authorization-server", "", b"");
        assert_eq!(none.status(), 404);
    }
}

#[test]
fn the_address_that_clients_see_can_be_another_one() {
    let server = protected(false);
    let proxy = ProxyFixture::new(&server.url(), "", |options| {
        options.public = Some("https://mcp.example.com".to_owned());
        options.hosts = Some(sprag_http::Hosts::new(
            "127.0.0.1".parse().unwrap(),
            &["mcp.example.com".to_owned()],
        ));
    });
    let got = proxy.client().ask(
        "GET /.well-known/oauth-protected-resource/mcp",
        "host: mcp.example.com\r\norigin: https://mcp.example.com\r\n",
        b"",
    );
    assert_eq!(got.json()["resource"], json!("https://mcp.example.com/mcp"));
}

#[test]
fn a_redirect_to_the_server_stays_behind_the_proxy() {
    let server = ScriptedServer::start(|asked, peer| {
        let host = asked.header("host").unwrap().to_owned();
        let place = match asked.start.split(' ').nth(1).unwrap() {
            "/mcp" => format!("http://{host}/mcp/"),
            "/mcp/relative" => "/mcp/new?x=1".to_owned(),
            _ => "https://elsewhere.example/mcp".to_owned(),
        };
        peer.answer(
            "307 Temporary Redirect",
            &format!("location: {place}\r\n"),
            b"",
        );
    });
    let proxy = ProxyFixture::before(&server);
    let own = proxy.address;
    let mut client = proxy.client();
    let mut place = |path: &str| {
        let got = client.ask(&format!("POST {path}"), "", b"{}");
        got.header("location").unwrap().to_owned()
    };
    assert_eq!(place("/mcp"), format!("http://{own}/mcp/"));
    assert_eq!(place("/mcp/relative"), format!("http://{own}/mcp/new?x=1"));
    assert_eq!(place("/mcp/away"), "https://elsewhere.example/mcp");
}

#[test]
fn a_token_is_in_no_log_no_record_and_at_no_other_server() {
    const CANARY: &str = "canary-5d41402abc4b2a76b9719d911017c592";
    let one = protected(false);
    let other = ScriptedServer::start(|asked, peer| {
        let id = asked.json()["id"].clone();
        peer.json(
            json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}})
                .to_string()
                .as_bytes(),
        );
    });
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mcp.toml");
    // The third one is not there.
    let text = format!(
        "[[upstream]]\npath = '/one'\nurl = '{}'\n[[upstream]]\npath = '/other'\nurl = '{}'\n[[upstream]]\npath = '/gone'\nurl = 'http://127.0.0.1:9/mcp'\n",
        one.url(),
        other.url()
    );
    std::fs::write(&file, text).unwrap();
    let config = sprag_mcp::http::ProxyConfig::read(&file).unwrap();
    let proxy = ProxyFixture::over(config, "", |options| options.principal_is_session = true);
    let mut client = proxy.client();
    let token = format!(
        "authorization: Bearer {CANARY}\r\nmcp-session-id: {CANARY}\r\ncookie: a={CANARY}\r\n"
    );
    for n in 1..=4 {
        let body = call(n, "read", "{}");
        client.ask("POST /one", &token, body.as_bytes());
        client.ask("POST /gone", &token, body.as_bytes());
        client.ask("POST /other", "", body.as_bytes());
    }
    let heard = one.asked();
    assert!(
        heard
            .iter()
            .all(|asked| asked.header("authorization").unwrap().contains(CANARY))
    );
    assert!(!format!("{:?}", other.asked()).contains(CANARY));
    let records = format!("{:?}", proxy.records());
    assert!(
        records.contains("mcp-session-") && !records.contains(CANARY),
        "{records}"
    );
    let told = proxy.told.lock().unwrap().join("\n");
    assert!(
        told.contains("http://127.0.0.1:9 does not answer"),
        "{told}"
    );
    assert!(!told.contains(CANARY), "{told}");
}
