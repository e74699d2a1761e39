//! The agent server behind the relay.

use axum::http::{Extensions, HeaderMap, Method, Uri};
use reqwest::{Body, Client, Response, Url};
use sprag_http::outbound;

use crate::error::ServerError;
use crate::param::bad;
use crate::problem::{Problem, ProblemKind};

/// The agent server behind.
pub(super) struct AgentServer {
    base: String,
    client: Client,
}

impl AgentServer {
    pub(super) fn new(base: &Url) -> Result<Self, ServerError> {
        // No proxy of the environment stands in between. An agent may think for hours, so there is no limit on that.
        let client = outbound::client().no_proxy().build();
        let client = client.map_err(|source| ServerError::Upstream {
            url: base.to_string(),
            source,
        })?;
        Ok(Self {
            base: base.as_str().trim_end_matches('/').to_owned(),
            client,
        })
    }

    /// Sends a request to the same path there.
    pub(super) async fn send(
        &self,
        method: Method,
        target: &RelayTarget,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response, Problem> {
        let url = self.url(target)?;
        let request = self.client.request(method, url).headers(headers).body(body);
        request.send().await.map_err(|error| {
            let detail = format!(
                "the message was let through, but the agent server at {} did not answer: {}",
                self.base,
                outbound::reason(error)
            );
            Problem::new(ProblemKind::Upstream, detail)
        })
    }

    /// Where `target` is there. An address is tidied when it is read; what was judged must be where it goes.
    fn url(&self, target: &RelayTarget) -> Result<Url, Problem> {
        let RelayTarget { path, query } = target;
        let text = match query {
            Some(query) => format!("{}{path}?{query}", self.base),
            None => format!("{}{path}", self.base),
        };
        let url = Url::parse(&text).map_err(|error| bad("the path", error))?;
        if !url.path().ends_with(path.as_str()) {
            return Err(bad("the path", "it leads elsewhere when it is read again"));
        }
        Ok(url)
    }
}

/// Where a request goes on the agent server: the path as it was judged, and the query as it came.
#[derive(Debug, Clone)]
pub(super) struct RelayTarget {
    path: String,
    query: Option<String>,
}

impl RelayTarget {
    pub(super) fn new(path: String, uri: &Uri) -> Self {
        let query = uri.query().map(str::to_owned);
        Self { path, query }
    }

    /// The target that a request was given when its path was read.
    pub(super) fn of(extensions: &Extensions) -> Result<&Self, Problem> {
        let lost = || Problem::new(ProblemKind::Upstream, "this request has no target");
        extensions.get().ok_or_else(lost)
    }
}
