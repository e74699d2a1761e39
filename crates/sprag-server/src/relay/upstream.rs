//! The agent server behind the relay.

use axum::http::{HeaderMap, Method, Uri};
use reqwest::redirect::Policy;
use reqwest::{Body, Client, Response, Url};

use crate::error::ServerError;
use crate::limits;
use crate::outbound;
use crate::param::bad;
use crate::problem::{Problem, ProblemKind};

/// The agent server behind.
pub(super) struct Upstream {
    base: String,
    client: Client,
}

impl Upstream {
    pub(super) fn new(base: &Url) -> Result<Self, ServerError> {
        outbound::choose_tls();
        // What it answers is what the client gets: no redirect is followed here, and no proxy of the
        // environment stands in between. An agent may think for hours, so there is no limit on that.
        let client = Client::builder()
            .connect_timeout(limits::UPSTREAM_CONNECT_TIME)
            .redirect(Policy::none())
            .no_proxy()
            .build()
            .map_err(|source| ServerError::Upstream {
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
        uri: &Uri,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response, Problem> {
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        // An address is tidied when it is read: `/a/../b` is `/b`. What was judged must be where it goes.
        if uri.path().split('/').any(is_dots) {
            return Err(bad("the path", "`.` and `..` have no place in it"));
        }
        let url =
            Url::parse(&format!("{}{path}", self.base)).map_err(|error| bad("the path", error))?;
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
}

fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
}
