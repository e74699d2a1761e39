//! The agents' own tools: an MCP server through which an agent talks to others, guarded.
//!
//! An agent server starts one of these for each session. It knows which session it speaks for, and the relay knows
//! which flow that session works on; so an agent names a receiver and says something, and no correlation
//! id stands in a schema, an argument or a result. A refusal is a tool error with the reason and with what to do
//! next. A warning comes after the answer, never instead of it.

mod client;
mod result;

use std::path::PathBuf;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, Implementation, ServerCapabilities, ServerConfig};
use rmcp::schemars::JsonSchema;
use rmcp::{ServerHandler, ServiceExt as _, tool, tool_handler, tool_router};
use serde::Deserialize;
use sprag::Id;
use sprag_server::FieldNames;

use client::RelayClient;

/// Where the relay is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayAddress {
    /// Behind this address.
    Url(reqwest::Url),
    /// On the Unix socket of this machine's server.
    Socket(PathBuf),
}

/// What the tools of one agent are told before they start.
#[derive(Debug, Clone)]
pub struct AgentToolsConfig {
    /// The session that they speak for.
    pub session: Id,
    /// Where the relay is.
    pub relay: RelayAddress,
    /// Where sessions are there: `/api/sessions`.
    pub path: String,
    /// What the fields of a message are called there.
    pub fields: FieldNames,
    /// A token, where the relay asks for one.
    pub token: Option<String>,
}

/// Why the tools can't be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentToolsError {
    /// No HTTP client.
    #[error("can't make a client for the relay: {0}")]
    Client(#[from] reqwest::Error),
    /// The token can't stand in a header.
    #[error("the token can't be sent: it holds something else than visible ASCII")]
    Token,
    /// No thread or timer.
    #[error("can't start: {0}")]
    Start(std::io::Error),
    /// The agent's side is no MCP client.
    #[error("no MCP client on the other side: {0}")]
    Peer(Box<rmcp::service::ServerInitializeError>),
}

/// The tools of one agent.
#[derive(Debug, Clone)]
pub struct AgentTools {
    relay: RelayClient,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct SendAgentMessage {
    /// The session to send it to.
    to: String,
    /// What to say.
    message: String,
    /// Wait for the answer (the default), or return as soon as the message is on its way.
    wait: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct CreateAgentSession {
    /// The kind of agent that is to run in it.
    agent: String,
    /// The first message to it.
    message: String,
}

#[tool_router]
impl AgentTools {
    /// The tools of the session in `config`.
    ///
    /// # Errors
    /// Returns an error if no client for the relay can be made.
    pub fn new(config: AgentToolsConfig) -> Result<Self, AgentToolsError> {
        let relay = RelayClient::new(config)?;
        Ok(Self { relay })
    }

    #[tool(
        description = "Send a message to another agent's session and get its answer. Every message is \
            checked first; if it is refused, the error says why and what to do instead."
    )]
    async fn send_agent_message(
        &self,
        Parameters(sent): Parameters<SendAgentMessage>,
    ) -> CallToolResult {
        let wait = sent.wait.unwrap_or(true);
        self.relay.send(&sent.to, &sent.message, wait).await
    }

    #[tool(
        description = "Start a new session of an agent with a first message, and get its id and its answer. \
            Refused like a message where too much was delegated already."
    )]
    async fn create_agent_session(
        &self,
        Parameters(made): Parameters<CreateAgentSession>,
    ) -> CallToolResult {
        self.relay.create(&made.agent, &made.message).await
    }

    /// Serves them on standard input and output until the agent's side closes.
    ///
    /// # Errors
    /// Returns an error if there is no MCP client on the other side.
    pub fn run(self) -> Result<(), AgentToolsError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(AgentToolsError::Start)?;
        runtime.block_on(async {
            let serving = self.serve(rmcp::transport::stdio()).await;
            let serving = serving.map_err(|error| AgentToolsError::Peer(Box::new(error)))?;
            // Whichever way it ended: the other side is gone.
            let _ = serving.waiting().await;
            Ok(())
        })
    }
}

#[tool_handler]
impl ServerHandler for AgentTools {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("sprag-agent-tools", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(name)
            .with_instructions(
                "Tools to talk to other agents. When a message is refused, do what the error says and do not try \
                 to get around it.",
            )
    }
}
