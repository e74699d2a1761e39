//! Real processes in a row: this test as the client, the wrapper, a server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

/// A program among this crate's examples.
pub(crate) fn example(name: &str) -> String {
    let here = std::env::current_exe().unwrap();
    let built = here
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples")
        .join(name);
    assert!(
        built.exists(),
        "{} is not built: cargo build -p sprag-mcp --examples",
        built.display()
    );
    built.display().to_string()
}

/// A wrapped server and the pipes to it.
pub(crate) struct WrapperProcess {
    pub(crate) child: Child,
    pub(crate) to: Option<ChildStdin>,
    /// None once the client no longer reads.
    pub(crate) from: Option<BufReader<ChildStdout>>,
    pub(crate) said: PathBuf,
    _home: tempfile::TempDir,
}

impl WrapperProcess {
    /// Starts the wrapper around this command.
    pub(crate) fn start(server: &[&str]) -> Self {
        Self::start_with(&[], server)
    }

    pub(crate) fn start_with(options: &[&str], server: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let said = home.path().join("stderr");
        let mut child = Command::new(example("wrap"))
            .args(options)
            .arg("--")
            .args(server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&said).unwrap())
            .spawn()
            .unwrap();
        let to = child.stdin.take();
        let from = child
            .stdout
            .take()
            .map(|from| BufReader::with_capacity(1 << 20, from));
        Self {
            child,
            to,
            from,
            said,
            _home: home,
        }
    }

    pub(crate) fn shell(script: &str) -> Self {
        Self::start(&["sh", "-c", script])
    }

    pub(crate) fn send(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.to
            .as_mut()
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
    }

    /// The next line without its end; empty at the end.
    pub(crate) fn receive(&mut self) -> String {
        let mut line = String::new();
        self.from.as_mut().unwrap().read_line(&mut line).unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    /// Closes the wrapper's input and waits for its end.
    pub(crate) fn close(&mut self) -> ExitStatus {
        self.to = None;
        self.child.wait().unwrap()
    }

    /// What stood on standard error.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }
}

impl Drop for WrapperProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
