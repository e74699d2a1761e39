//! A real `redis-server`, which a test starts itself. Tests of other crates use this file too.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sprag::RedisOptions;

/// A real Redis of its own for each test.
pub(crate) struct RedisServer {
    pub(crate) child: Child,
    pub(crate) port: u16,
    _folder: tempfile::TempDir,
}

impl RedisServer {
    /// None if there is no `redis-server` and nobody insists.
    pub(crate) fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let program = std::env::var_os("SPRAG_REDIS_SERVER");
        let started = Command::new(program.unwrap_or_else(|| "redis-server".into()))
            .args([
                "--port",
                &port.to_string(),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
            ])
            .arg("--dir")
            .arg(folder.path())
            .stdout(Stdio::null())
            .spawn();
        let Ok(child) = started else {
            let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
            assert!(
                !is_ci,
                "redis-server is missing: apt-get install redis-server"
            );
            println!("SKIPPED: redis-server is not installed (apt-get install redis-server)");
            return None;
        };
        let server = Self {
            child,
            port,
            _folder: folder,
        };
        for _ in 0..1_000 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(server);
            }
            pause();
        }
        panic!("redis-server did not start");
    }

    pub(crate) fn options(&self, namespace: &str) -> RedisOptions {
        let mut options = RedisOptions::new(format!("redis://127.0.0.1:{}", self.port));
        options.namespace = namespace.to_owned();
        // Other tests share the machine: here nobody may be too late.
        options.deadline = Duration::from_secs(20);
        options.connections = 2;
        options
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process has to get ready"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}
