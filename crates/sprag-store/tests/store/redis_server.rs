//! A real `redis-server` of its own for each test, on a free port, gone when the test is.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sprag_store::{RedisOptions, RedisStore};

use crate::place::Place;

/// The server that the tests run against: SPRAG_REDIS_SERVER, say `valkey-server`, or Redis.
pub(crate) fn program() -> OsString {
    let named = std::env::var_os("SPRAG_REDIS_SERVER");
    named.unwrap_or_else(|| "redis-server".into())
}

pub(crate) struct Server {
    child: Option<Child>,
    pub(crate) port: u16,
    arguments: Vec<String>,
    place: Place,
}

/// Whether there is a `redis-server`; where tests must not be skipped there has to be one.
pub(crate) fn is_there() -> bool {
    let found = Command::new(program())
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if found.is_ok_and(|status| status.success()) {
        return true;
    }
    let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    assert!(
        !is_ci,
        "redis-server is missing: apt-get install redis-server"
    );
    println!("SKIPPED: redis-server is not installed (apt-get install redis-server)");
    false
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Server {
    /// One that remembers nothing.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// One that has written everything it answered.
    pub(crate) fn start_remembering() -> Self {
        Self::start_with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    pub(crate) fn start_with(more: &[&str]) -> Self {
        Self::start_on(free_port(), more)
    }

    pub(crate) fn start_on(port: u16, more: &[&str]) -> Self {
        let place = Place::new();
        let mut server = Self {
            child: None,
            port,
            arguments: more.iter().map(|word| (*word).to_owned()).collect(),
            place,
        };
        server.run();
        server
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.place.db().parent().map(Path::to_owned).unwrap()
    }

    /// Starts it, also again after it was killed.
    pub(crate) fn run(&mut self) {
        let folder = self.folder();
        cut_half_transaction(&folder.join("appendonlydir/appendonly.aof.manifest"));
        let log = std::fs::File::create(folder.join("redis.out")).unwrap();
        let mut command = Command::new(program());
        command
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--daemonize", "no", "--dir"])
            .arg(&folder)
            .args(&self.arguments)
            .stdout(log)
            .stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
        self.wait_until_ready();
    }

    fn wait_until_ready(&self) {
        for _ in 0..500 {
            if self
                .ask("PING")
                .is_some_and(|answer| answer.starts_with("+PONG") || answer.starts_with("-NOAUTH"))
            {
                return;
            }
            pause(Duration::from_millis(10));
        }
        panic!(
            "redis-server did not start: {}",
            std::fs::read_to_string(self.folder().join("redis.out")).unwrap()
        );
    }

    /// One command, one answer, as it comes over the wire.
    pub(crate) fn ask(&self, command: &str) -> Option<String> {
        ask(self.port, command)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// With so much time for each decision that nobody is too late on a busy machine.
    pub(crate) fn options(&self) -> RedisOptions {
        let mut options = RedisOptions::new(self.url());
        options.deadline = Duration::from_secs(20);
        options
    }

    pub(crate) fn store(&self) -> RedisStore {
        RedisStore::open(self.options()).unwrap()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        let status = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(status.success());
    }

    /// Cuts the file that it writes in the middle of the last transaction, as if it had died there.
    pub(crate) fn cut_last_transaction(&self) {
        let path = self
            .folder()
            .join("appendonlydir/appendonly.aof.1.incr.aof");
        let written = std::fs::read(&path).unwrap();
        let end = b"\r\nEXEC\r\n";
        let last = written.windows(end.len()).rposition(|part| part == end);
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let half_a_command = 40;
        file.set_len(u64::try_from(last.unwrap() - half_a_command).unwrap())
            .unwrap();
    }

    /// Ends it at once, as a crash does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Does what `docs/redis.md` asks of operators. A server that is killed while it writes may leave half a
/// transaction at the end of its file. Redis 7.0 cuts the half command from it but not the commands
/// before, which then count as part of the next transaction, one restart later.
fn cut_half_transaction(manifest: &Path) {
    if !manifest.exists() {
        return;
    }
    let tool = program().to_string_lossy().replace("-server", "-check-aof");
    let mut check = Command::new(tool)
        .arg("--fix")
        .arg(manifest)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // It asks only where there is something to cut.
    let _ = check.stdin.take().unwrap().write_all(b"y\n");
    assert!(check.wait().unwrap().success());
}

pub(crate) fn ask(port: u16, command: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    stream.write_all(format!("{command}\r\n").as_bytes()).ok()?;
    let mut answer = vec![0; 4096];
    let read = stream.read(&mut answer).ok()?;
    answer.truncate(read);
    String::from_utf8(answer).ok()
}

/// Waits for another process; nothing is judged by how long it took.
#[expect(
    clippy::disallowed_methods,
    reason = "another process has to get ready"
)]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Waits until something is so, for a long while at most.
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if is_so() {
            return;
        }
        pause(Duration::from_millis(10));
    }
    panic!("{what} did not happen within 20 s");
}
