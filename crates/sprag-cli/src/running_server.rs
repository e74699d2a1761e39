//! Which server uses a store: a small file beside it, so that a second one can name the first.

use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// How long the first server may take to accept a connection.
const DEADLINE: Duration = Duration::from_millis(500);

/// A server that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunningServer {
    pid: u32,
    address: SocketAddr,
}

/// The file of a server that runs; removed with it.
#[derive(Debug)]
pub(crate) struct RunningFile(PathBuf);

impl RunningFile {
    /// Writes the file beside the store `db`. A server that can't is not worse for it.
    pub(crate) fn write(db: &Path, address: SocketAddr) -> Self {
        let path = beside(db);
        let server = RunningServer {
            pid: std::process::id(),
            address,
        };
        let mut options = fs::OpenOptions::new();
        options.create(true).write(true).truncate(true).mode(0o600);
        if let (Ok(mut file), Ok(text)) = (options.open(&path), serde_json::to_string(&server)) {
            let _ = file.write_all(text.as_bytes());
        }
        Self(path)
    }
}

impl Drop for RunningFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl RunningServer {
    /// The server that uses the store `db`, if it still answers.
    pub(crate) fn find(db: &Path) -> Option<Self> {
        let text = fs::read_to_string(beside(db)).ok()?;
        let server: Self = serde_json::from_str(&text).ok()?;
        TcpStream::connect_timeout(&server.address, DEADLINE).ok()?;
        Some(server)
    }

    /// Why a second one does not start, and what to do.
    pub(crate) fn failure(&self, db: &Path) -> Failure {
        let Self { pid, address } = self;
        Failure::new(format!(
            "another server (process {pid}) uses {} and listens on {address}",
            db.display()
        ))
        .next(format!(
            "`sprag open` opens its dashboard, http://{address}/; `kill {pid}` ends it; --db and --listen start another"
        ))
    }
}

fn beside(db: &Path) -> PathBuf {
    let mut name = db.file_name().unwrap_or_default().to_owned();
    name.push(".server.json");
    db.with_file_name(name)
}
