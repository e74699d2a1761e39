//! `sprag mcp --listen` and `sprag serve --mcp-config`: the proxy before MCP servers over HTTP, as processes.

#![cfg(unix)]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use crate::relay::Running;
use crate::sandbox::Sandbox;

/// A server that answers every call with the same words, one request for each connection.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut asked = [0; 4096];
            let _ = stream.read(&mut asked);
            let body = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"still there"}]}}"#;
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    address
}

/// Deletes the same asset once more, and what the agent reads.
fn delete(address: &str, path: &str) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_asset","arguments":{"asset_id":"a"},"_meta":{"threadId":"t1"}}}"#;
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn a_loop_over_http_is_killed_and_the_log_has_it() {
    let sandbox = Sandbox::new();
    let url = format!("http://{}/mcp", server());
    let proxy = [
        "mcp",
        "--listen",
        "127.0.0.1:0",
        "--db",
        "trial.db",
        "--upstream",
        &url,
    ];
    let mut proxy = Running::start(&sandbox, &proxy);
    let line = proxy.line();
    let address = line
        .strip_prefix("listening on http://")
        .expect("its address");
    let address = address
        .strip_suffix("/mcp")
        .expect("the server's own path")
        .to_owned();
    assert!(delete(&address, "/mcp").contains("still there"));
    assert!(delete(&address, "/mcp").contains("[sprag]"));
    let third = delete(&address, "/mcp");
    assert!(third.contains(r#""isError":true"#), "{third}");
    let killed = sandbox.run(&["sessions", "list", "--state", "killed", "--db", "trial.db"]);
    assert!(killed.contains("t1"), "{killed}");
}

#[test]
fn the_server_stands_before_mcp_servers_beside_its_api() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "mcp.toml",
        format!(
            "[[upstream]]\npath = '/catalog'\nurl = 'http://{}/x'\n",
            server()
        ),
    );
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--db",
        "trial.db",
        "--mcp-config",
        "mcp.toml",
    ];
    let mut serve = Running::start(&sandbox, &serve);
    let line = serve.line();
    let address = line
        .strip_prefix("listening on ")
        .expect("its address")
        .to_owned();
    assert!(serve.line().starts_with("socket"));
    assert!(
        serve
            .line()
            .starts_with("mcp          /mcp/catalog to 127.0.0.1:")
    );
    assert!(delete(&address, "/mcp/catalog").contains("still there"));
    assert!(delete(&address, "/mcp/other").contains("404 Not Found"));
    assert!(delete(&address, "/v1/nothing").contains("404 Not Found"));
    delete(&address, "/mcp/catalog");
    assert!(delete(&address, "/mcp/catalog").contains(r#""isError":true"#));
}

#[test]
fn slips_are_told() {
    let sandbox = Sandbox::new();
    let listen = ["mcp", "--listen", "127.0.0.1:0"];
    let told = |more: &[&str]| sandbox.run(&[&listen, more].concat());
    insta::assert_snapshot!(told(&[]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <--upstream <URL>|--config <FILE>>

    Usage: sprag mcp --listen <ADDRESS> <--upstream <URL>|--config <FILE>> [-- <SERVER>...]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(told(&["--upstream", "ftp://x"]), @r#"
    exit 2
    --- stderr
    error: the upstream "ftp://x" can't be used: it is neither http: nor https:; write https://HOST/PATH
    "#);
    insta::assert_snapshot!(told(&["--upstream", "http://x", "--public-url", "https://a/b"]), @r#"
    exit 2
    --- stderr
    error: --public-url "https://a/b" is not an address without a path
    next: write only scheme and host, as in https://mcp.example.com
    "#);
    sandbox.file("empty.toml", "");
    insta::assert_snapshot!(told(&["--config", "empty.toml"]), @r#"
    exit 2
    --- stderr
    error: there is no server to go to: the file has no [[upstream]]
    next: write [[upstream]] and url = "https://HOST/PATH" for each server
    "#);
    let open = ["mcp", "--listen", "0.0.0.0:0", "--upstream", "http://x"];
    insta::assert_snapshot!(sandbox.run(&open), @"
    exit 2
    --- stderr
    error: 0.0.0.0:0 can be reached from elsewhere, and nothing keeps strangers from reading tokens along
    next: listen on 127.0.0.1, or put something that does TLS in front and say --behind-tls-proxy
    ");
}
