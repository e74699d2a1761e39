//! `serve --demo`: live examples for a newcomer, through the real API and the real relay.
//!
//! A small agent server runs on a port of its own, with scripted agents that write to each other through the relay and
//! ask the guard about each tool call over HTTP, as any client would. Nothing is mocked but the tools
//! themselves, and nothing leaves the machine. Everything is kept in a folder of its own that is removed at the
//! end, so that examples never mix with a user's log.
//!
//! Most of the traffic is honest work, which a guard must leave alone. The rest goes wrong in the ways that agents
//! go wrong; within a minute every verdict has been given.

mod agent_server;
mod agents;
mod client;
mod demo_agent;
mod scripts;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use reqwest::Url;
use sprag::{Capture, Clock as _, PolicyFile, Role, SystemClock};
use sprag_server::{RelayConfig, ServerConfig, TokenError, TokenFile};
use tempfile::TempDir;
use tokio::task::JoinSet;

use client::DemoClient;

/// The policy that the demo starts with.
const POLICY: &str = include_str!("demo/policy.toml");

/// The demo's store.
const DB: &str = "demo.db";

/// Why there is no demo.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// The folder can't be made.
    #[error("can't make a folder for the demo: {0}")]
    Folder(std::io::Error),
    /// The agents have no port.
    #[error("can't make a port for the demo's agents: {0}")]
    Port(std::io::Error),
    /// The operator's token is not where the server put it.
    #[error("can't read the operator token: {0}")]
    Token(std::io::Error),
    /// The token of the demo's people can't be made.
    #[error("can't make a token for the demo: {0}")]
    People(#[from] TokenError),
    /// No HTTP client.
    #[error("can't make a client: {0}")]
    Client(reqwest::Error),
}

/// A stage with agents that wait for their server.
#[derive(Debug)]
pub struct Demo {
    folder: TempDir,
    agents: TcpListener,
    address: SocketAddr,
}

impl Demo {
    /// Makes the folder, and takes a port for the agents.
    ///
    /// # Errors
    /// Returns an error if one of them can't be had.
    pub fn prepare() -> Result<Self, DemoError> {
        let folder = tempfile::Builder::new().prefix("sprag-demo-").tempdir();
        let folder = folder.map_err(DemoError::Folder)?;
        std::fs::write(folder.path().join("policy.toml"), POLICY).map_err(DemoError::Folder)?;
        let agents = TcpListener::bind("127.0.0.1:0").map_err(DemoError::Port)?;
        agents.set_nonblocking(true).map_err(DemoError::Port)?;
        let address = agents.local_addr().map_err(DemoError::Port)?;
        Ok(Self {
            folder,
            agents,
            address,
        })
    }

    /// Where everything is kept until the end.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The server for it: a store, a policy and a socket of its own, with the agents behind its relay.
    #[must_use]
    pub fn config(&self) -> ServerConfig {
        let place = |name| self.folder.path().join(name);
        ServerConfig {
            socket: Some(place("sprag.sock")),
            policy: Some(PolicyFile::required(place("policy.toml"))),
            // What these agents say is made up, so it may be shown.
            capture: Capture::Preview,
            relay: RelayConfig {
                upstream: Url::parse(&format!("http://{}", self.address)).ok(),
                ..RelayConfig::default()
            },
            ..ServerConfig::new(place(DB))
        }
    }

    /// Plays until it is dropped, with the server at `address`. To be called inside of its runtime.
    ///
    /// # Errors
    /// Returns an error if it can't start.
    pub async fn play(&self, address: SocketAddr) -> Result<(), DemoError> {
        let token = std::fs::read_to_string(self.folder.path().join("operator.token"));
        let operator = token.map_err(DemoError::Token)?;
        // People's messages come with the token of a relay, as they would from a chat server; agents have none.
        let tokens = TokenFile::beside(&self.folder.path().join(DB));
        let people = tokens.add("demo-people", Role::Relay, SystemClock.now())?;
        let client = DemoClient::new(address, operator.trim(), &people);
        let client = client.map_err(DemoError::Client)?;
        let agents = self.agents.try_clone().map_err(DemoError::Port)?;
        let agents = tokio::net::TcpListener::from_std(agents).map_err(DemoError::Port)?;
        // They end with this set, and the set with the demo.
        let mut playing = JoinSet::new();
        playing.spawn(agent_server::serve(agents, client.clone()));
        for script in scripts::SCRIPTS {
            playing.spawn(script.play(client.clone()));
        }
        while playing.join_next().await.is_some() {}
        Ok(())
    }
}
