//! The MCP proxy beside the API: servers that are reached over HTTP, below `/mcp` on the server's own address.
//!
//! The `Authorization` of a request is for the MCP server behind, and goes there. So whoever comes from elsewhere shows
//! a token of this server in a header of its own, which goes no further. From this machine none is needed, as for
//! every agent.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use axum::response::IntoResponse as _;
use sprag::{Event, FailMode, Id, NoVerdict, Role, Sender, Verdict};
use sprag_mcp::http::{Proxy, ProxyConfig, ProxyOptions};
use sprag_mcp::{LogSink, VerdictSource};

use crate::app::App;
use crate::caller::Peer;
use crate::config::{ServerConfig, Transport};
use crate::credentials;
use crate::error::ServerError;
use crate::problem::{Problem, ProblemKind};
use crate::tokens::{Holder, TokenError};

/// What stands before the path of every MCP server.
pub const MOUNT: &str = "/mcp";

/// The proxy asks from a worker thread if the store answers from memory, else from one that may wait
/// (`guard_waits`).
impl VerdictSource for App {
    fn check(&self, sender: Option<&Sender>, event: Event) -> Result<Verdict, NoVerdict> {
        let own = Sender::anonymous(Role::Hook);
        let session = event.session().clone();
        let decided = self.decide_blocking(sender.unwrap_or(&own), event, None);
        let record = decided.map_err(|error| NoVerdict::of(error, self.guard(), &session))?;
        Ok(record.verdict.clone())
    }
}

/// The proxy beside the API.
#[derive(Clone)]
pub(crate) struct McpMount {
    proxy: Arc<Proxy>,
    app: App,
}

impl McpMount {
    /// The proxy before the servers that the configuration names; none where it names none.
    pub(crate) fn of(config: &ServerConfig, app: &App) -> Result<Option<Self>, ServerError> {
        let servers = config.mcp.as_ref();
        let mounted = servers.map(|servers| Self::new(servers, config, app.clone()));
        mounted.transpose()
    }

    fn new(servers: &ProxyConfig, config: &ServerConfig, app: App) -> Result<Self, ServerError> {
        let mut mark = [0; 16];
        getrandom::fill(&mut mark).map_err(TokenError::Random)?;
        let mark = mark.iter().map(|byte| format!("{byte:02x}")).collect();
        let options = ProxyOptions {
            mount: MOUNT.to_owned(),
            secure: config.transport != Transport::Plain,
            fail: FailMode::Closed,
            // A store in this process answers at once; one on the network may not.
            guard_waits: config.redis.is_some(),
            ..ProxyOptions::new(servers.clone(), mark)
        };
        let source: Arc<dyn VerdictSource> = Arc::new(app.clone());
        let log: Arc<LogSink> = Arc::new(Box::new(
            |what| tracing::warn!(target: "sprag", "mcp: {what}"),
        ));
        let proxy = Proxy::new(options, &source, &log)?;
        Ok(Self {
            proxy: Arc::new(proxy),
            app,
        })
    }

    /// Whether a path is the proxy's.
    pub(crate) fn serves(&self, path: &str) -> bool {
        self.proxy.serves(path)
    }

    /// Answers one request.
    pub(crate) async fn answer(&self, peer: Peer, mut request: Request<Body>) -> Response<Body> {
        let token = credentials::own_token(&request).cloned();
        match self.admit(peer, token.as_ref()).await {
            Ok(sender) => request.extensions_mut().insert(Arc::new(sender)),
            Err(problem) => return problem.into_response(),
        };
        self.proxy.answer(request).await.map(Body::new)
    }

    fn holder(&self, token: &str) -> Option<Holder> {
        self.app.tokens().holder(token, self.app.guard().now())
    }

    async fn admit(
        &self,
        peer: Peer,
        token: Option<&axum::http::HeaderValue>,
    ) -> Result<Sender, Problem> {
        match token.map(|token| token.to_str().unwrap_or_default()) {
            Some(token) => match self.holder(token) {
                Some(holder) if holder.role == Role::Viewer => Err(Problem::new(
                    ProblemKind::Forbidden,
                    "a viewer's token is for the dashboard; MCP needs a token of another role",
                )),
                Some(holder) => Ok(Sender {
                    role: holder.role,
                    name: Id::new(&holder.name).ok(),
                }),
                None => Err(self.app.wrong_token().await),
            },
            None if peer == Peer::Remote => Err(Problem::new(
                ProblemKind::Unauthorized,
                "send a token of this server as `Sprag-Token`; `sprag token add` makes one",
            )),
            None => Ok(Sender::anonymous(Role::Agent)),
        }
    }
}
