//! Pages of other sites, and names that point here but are not ours.

use super::proxy_fixture::ProxyFixture;
use super::raw_http::ScriptedServer;

fn status(proxy: &ProxyFixture, headers: &str) -> (u16, String) {
    let got = proxy.client().ask("POST /mcp", headers, b"{}");
    (got.status(), got.text().to_owned())
}

#[test]
fn only_our_own_names_and_pages_are_served() {
    let server = ScriptedServer::start(|_, peer| peer.json(b"{}"));
    let proxy = ProxyFixture::new(&server.url(), "", |options| {
        options.origins = vec!["https://app.example.com".to_owned()];
    });
    let own = proxy.address;
    for headers in [
        String::new(),
        "host: localhost\r\n".to_owned(),
        "host: [::1]:80\r\n".to_owned(),
        format!("origin: http://{own}\r\n"),
        "origin: https://app.example.com\r\n".to_owned(),
    ] {
        assert_eq!(status(&proxy, &headers).0, 200, "{headers}");
    }
    let heard = server.asked();
    let origins: Vec<Option<&str>> = heard.iter().map(|asked| asked.header("origin")).collect();
    // The server knows itself by its own name, and decides itself about pages that we let in.
    let server_origin = format!("http://{}", server.address);
    assert_eq!(
        origins[3..],
        [
            Some(server_origin.as_str()),
            Some("https://app.example.com")
        ]
    );
    for headers in [
        "host: evil.example\r\n",
        "host: evil.example\r\norigin: http://evil.example\r\n",
        "origin: http://evil.example\r\n",
        "origin: null\r\n",
        "origin: http://127.0.0.1:1\r\n",
    ] {
        assert_eq!(status(&proxy, headers).0, 403, "{headers}");
    }
    assert_eq!(
        status(&proxy, "host: evil.example\r\n").1,
        "this proxy is not \"evil.example\"; `--host NAME` makes it so\n"
    );
    assert_eq!(server.asked().len(), 5);
}

#[test]
fn a_path_leads_to_its_own_server_and_nowhere_else() {
    let one = ScriptedServer::start(|_, peer| peer.json(b"\"one\""));
    let two = ScriptedServer::start(|_, peer| peer.json(b"\"two\""));
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mcp.toml");
    let text = format!(
        "[[upstream]]\npath = '/a'\nurl = '{}'\n[[upstream]]\npath = '/a/b'\nurl = '{}?key=7'\n",
        one.url(),
        two.url()
    );
    std::fs::write(&file, text).unwrap();
    let config = sprag_mcp::http::ProxyConfig::read(&file).unwrap();
    let proxy = ProxyFixture::over(config, "", |_| {});
    let mut client = proxy.client();
    let mut get = |path: &str| {
        let got = client.ask(&format!("GET {path}"), "", b"");
        (got.status(), got.text().to_owned())
    };
    assert_eq!(get("/a"), (200, "\"one\"".to_owned()));
    assert_eq!(get("/a/c?x=1"), (200, "\"one\"".to_owned()));
    assert_eq!(get("/a/b"), (200, "\"two\"".to_owned()));
    assert_eq!(get("/a/b/?x=1"), (200, "\"two\"".to_owned()));
    for nowhere in ["/", "/ab", "/b"] {
        assert_eq!(
            get(nowhere),
            (404, "there is no server behind this path\n".to_owned())
        );
    }
    for dots in ["/a/../x", "/a/%2E%2e/x", "/a/."] {
        assert_eq!(get(dots).0, 400);
    }
    let starts = |server: &ScriptedServer| -> Vec<String> {
        server
            .asked()
            .iter()
            .map(|asked| asked.start.clone())
            .collect()
    };
    assert_eq!(
        starts(&one),
        ["GET /mcp HTTP/1.1", "GET /mcp/c?x=1 HTTP/1.1"]
    );
    assert_eq!(
        starts(&two),
        ["GET /mcp?key=7 HTTP/1.1", "GET /mcp/?key=7&x=1 HTTP/1.1"]
    );
}
