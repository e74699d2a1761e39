//! The way from an agent's tools to the relay.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Url};
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};
use sprag::Id;
use sprag_http::outbound;
use sprag_server::{FieldNames, message_path};

use super::result::{RelayReply, no_session, tool_result, unreachable};
use super::{AgentToolsConfig, AgentToolsError, RelayAddress};

/// The most of an answer that an agent is given, in bytes.
const ANSWER_BYTES: usize = 256 * 1024;

/// A client of the relay that speaks for one session.
#[derive(Debug, Clone)]
pub(super) struct RelayClient {
    session: Id,
    base: String,
    fields: FieldNames,
    client: Client,
}

impl RelayClient {
    pub(super) fn new(config: AgentToolsConfig) -> Result<Self, AgentToolsError> {
        let mut headers = HeaderMap::new();
        if let Some(token) = &config.token {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            let mut value = value.map_err(|_| AgentToolsError::Token)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        // Another agent may think for hours: only getting through has a limit.
        let client = outbound::client().default_headers(headers).no_proxy();
        let (client, base) = match config.relay {
            RelayAddress::Url(url) => (client, url.as_str().trim_end_matches('/').to_owned()),
            RelayAddress::Socket(path) => (client.unix_socket(path), "http://localhost".to_owned()),
        };
        Ok(Self {
            session: config.session,
            base: format!("{base}{}", config.path),
            fields: config.fields,
            client: client.build()?,
        })
    }

    /// Sends a message to a session.
    pub(super) async fn send(&self, to: &str, message: &str, wait: bool) -> CallToolResult {
        let path = match message_path(to) {
            Ok(path) => path,
            Err(why) => return no_session(to, why),
        };
        let place = format!("{}{path}", self.base);
        self.post(&place, self.body(message), wait).await
    }

    /// Starts a session with a message.
    pub(super) async fn create(&self, agent: &str, message: &str) -> CallToolResult {
        let mut body = self.body(message);
        body.insert(self.fields.agent.clone(), agent.into());
        self.post(&self.base, body, true).await
    }

    fn body(&self, message: &str) -> Map<String, Value> {
        let content = self.fields.content.first().cloned().unwrap_or_default();
        let mut body = Map::new();
        body.insert(content, message.into());
        body.insert(self.fields.from.clone(), self.session.as_str().into());
        body
    }

    async fn post(&self, place: &str, body: Map<String, Value>, wait: bool) -> CallToolResult {
        let url = match Url::parse(place) {
            Ok(url) => url,
            Err(error) => return unreachable(&error.to_string()),
        };
        let mut request = self.client.post(url).json(&body);
        if !wait {
            request = request.header("prefer", "respond-async");
        }
        let mut response = match request.send().await {
            Ok(response) => response,
            Err(error) => return unreachable(&outbound::reason(error)),
        };
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut text = Vec::new();
        let end = loop {
            match response.chunk().await {
                Ok(Some(chunk)) if text.len() < ANSWER_BYTES => text.extend_from_slice(&chunk),
                Ok(Some(_)) => {
                    break Some(format!("the rest was cut off after {} bytes", text.len()));
                }
                Ok(None) => break None,
                Err(_) => break Some("the answer broke off here".to_owned()),
            }
        };
        tool_result(&RelayReply {
            status,
            headers: &headers,
            text: &String::from_utf8_lossy(&text),
            end,
            correlation: &self.fields.correlation,
        })
    }
}
