//! The two servers, each in a process of its own so that its CPU time can be told apart.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use axum::routing::post;
use sprag_server::{Server, ServerConfig, asked_to_end};

use crate::LoadError;

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerKind {
    Bare,
    Sprag,
}

impl ServerKind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Sprag => "sprag",
        }
    }
}

/// A server that runs.
pub(crate) struct ServerProcess {
    pub(crate) kind: ServerKind,
    pub(crate) address: SocketAddr,
    child: Child,
}

impl ServerProcess {
    /// Starts this program again as a server, and waits for its address.
    pub(crate) fn start(kind: ServerKind) -> Result<Self, LoadError> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(kind.word())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let address = line.trim().parse();
        let address = address.map_err(|_| LoadError::Other(format!("no address: {line:?}")))?;
        Ok(Self {
            kind,
            address,
            child,
        })
    }

    /// Its CPU time in seconds and its memory in MiB, as the system counts them.
    pub(crate) fn spent(&self) -> Result<(f64, f64), LoadError> {
        let place = format!("/proc/{}", self.child.id());
        let stat = std::fs::read_to_string(format!("{place}/stat"))?;
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let field = |at: usize| after_name.split_whitespace().nth(at)?.parse::<f64>().ok();
        let (Some(user), Some(system), Some(pages)) = (field(11), field(12), field(21)) else {
            return Err(LoadError::Other(format!("can't read {place}/stat")));
        };
        Ok(((user + system) / 100.0, pages * 4096.0 / 1048576.0))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tell(address: SocketAddr) -> Result<(), LoadError> {
    let mut out = std::io::stdout();
    writeln!(out, "{address}")?;
    out.flush()?;
    Ok(())
}

/// Parses the event, answers what an allowed call is answered.
pub(crate) fn bare() -> Result<(), LoadError> {
    let answer = |axum::Json(_): axum::Json<serde_json::Value>| async {
        axum::Json(sprag::Verdict::default())
    };
    let routes = axum::Router::new().route("/v1/check", post(answer));
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        tell(listener.local_addr()?)?;
        axum::serve(listener, routes).await?;
        Ok(())
    })
}

/// The real one, with a store in a temporary folder.
pub(crate) fn sprag() -> Result<(), LoadError> {
    let home = tempfile::tempdir()?;
    let server = Server::bind(config(home.path()))?;
    tell(server.address())?;
    server.run(asked_to_end())?;
    Ok(())
}

/// A server on a free port with its store in `home`.
pub(crate) fn config(home: &std::path::Path) -> ServerConfig {
    ServerConfig {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        ..ServerConfig::new(home.join("sprag.db"))
    }
}
