//! Official clients over HTTP, straight to a server and through the proxy: the same comes of it.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::proxy_fixture::ProxyFixture;
use crate::official_clients::{clients, run};

/// A server of another language on a port of its own.
struct Program {
    child: Child,
    url: String,
}

impl Program {
    fn start(folder: &Path, command: &[&str], by_variable: bool) -> Self {
        // Free when it was asked for; nobody else takes ports here.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let port = address.port().to_string();
        let mut program = Command::new(command[0]);
        program.args(&command[1..]).current_dir(folder);
        if by_variable {
            program.env("PORT", &port);
        } else {
            program.arg(&port);
        }
        let child = program
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..1500 {
            if TcpStream::connect(address).is_ok() {
                break;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
        Self {
            child,
            url: format!("http://{address}/mcp"),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a client tells of a server straight and through the proxy.
fn both(folder: &Path, client: &[&str], server: &Program) -> String {
    let proxy = ProxyFixture::new(&server.url, "", |_| {});
    let through = format!("http://{}/mcp", proxy.address);
    let straight = run(folder, &[client, &[server.url.as_str()]].concat());
    let proxied = run(folder, &[client, &[through.as_str()]].concat());
    assert_eq!(proxied, straight);
    assert!(!proxy.wait_for("step", 1).is_empty());
    straight
}

#[test]
fn everything_of_the_reference_server_works_with_the_typescript_sdks_that_speak_http() {
    let Some(folder) = clients() else { return };
    let server = Program::start(
        &folder,
        &[
            "node",
            "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
            "streamableHttp",
        ],
        true,
    );
    for sdk in [
        "sdk-2025-03-26",
        "sdk-2025-06-18",
        "@modelcontextprotocol/sdk",
    ] {
        let told = both(&folder, &["node", "everything.mjs", sdk], &server);
        assert!(told.contains("tool get-sum: "), "{sdk}: {told}");
        assert!(told.contains("sampling/createMessage"), "{sdk}: {told}");
    }
}

#[test]
fn the_python_sdk_and_the_typescript_sdk_of_2026_07_28_work_over_http() {
    let Some(folder) = clients() else { return };
    let server = Program::start(&folder, &["venv/bin/python", "server.py"], false);
    for mode in ["auto", "legacy"] {
        let told = both(&folder, &["venv/bin/python", "client.py", mode], &server);
        assert!(told.contains("add: "), "{told}");
    }
    let told = both(&folder, &["node", "modern.mjs"], &server);
    assert!(told.contains("revision: 2026-07-28"), "{told}");
    assert!(told.contains("confirmed"), "{told}");
}
