//! A server with everything that the official conformance suite asks for, built with the official SDK.
//!
//! `conformance [ADDRESS]` prints where it listens and serves until it is ended. What it offers stands in
//! `catalog.json`; what needs a program is here. The suite is run against it straight and through the proxy.

#![expect(
    deprecated,
    reason = "the suite still asks for what the newest revision has left behind"
)]
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value answers null for what it does not have"
)]

mod rounds;

use std::collections::HashSet;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, ElicitRequestParams, ErrorCode, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, broadcast};

/// A list that changed, for those who listen.
#[derive(Debug, Clone, Copy)]
enum Changed {
    Tools,
    Prompts,
}

#[derive(Clone)]
struct Fixture {
    catalog: Arc<Value>,
    watched: Arc<Mutex<HashSet<String>>>,
    changes: broadcast::Sender<Changed>,
}

type Outcome<T> = Result<T, ErrorData>;

/// A result of 2026-07-28; the SDK knows what older revisions get of it.
fn complete<T: DeserializeOwned>(mut value: Value) -> Outcome<T> {
    value["resultType"] = Value::from("complete");
    read(value)
}

fn read<T: DeserializeOwned>(value: Value) -> Outcome<T> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn wrong(what: &str) -> ErrorData {
    ErrorData::invalid_params(what.to_owned(), None)
}

fn text(what: String) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(what)]).into()
}

impl Fixture {
    fn part(&self, kind: &str, name: &str) -> Option<Value> {
        self.catalog.get(kind)?.get(name).cloned()
    }

    fn list<T: DeserializeOwned>(&self, kind: &str) -> Outcome<T> {
        let items = self.catalog.get(kind).cloned().unwrap_or_default();
        let key = if kind == "templates" {
            "resourceTemplates"
        } else {
            kind
        };
        complete(json!({key: items, "ttlMs": 1000, "cacheScope": "public"}))
    }

    async fn elicit(
        &self,
        schema: Value,
        message: &str,
        context: &RequestContext<RoleServer>,
    ) -> Outcome<CallToolResponse> {
        let params: ElicitRequestParams =
            read(json!({"mode": "form", "message": message, "requestedSchema": schema}))?;
        let answer = context.peer.create_elicitation(params).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let told = serde_json::to_value(&answer).unwrap_or_default();
        let action = told["action"].as_str().unwrap_or_default();
        Ok(text(format!(
            "Elicitation completed: action={action}, content={}",
            told["content"]
        )))
    }

    async fn sample(
        &self,
        prompt: &Value,
        context: &RequestContext<RoleServer>,
    ) -> Outcome<CallToolResponse> {
        let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
        let params = read(json!({"messages": [message], "maxTokens": 100}))?;
        let answer = context.peer.create_message(params).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let told = serde_json::to_value(&answer).unwrap_or_default();
        let said = told["content"]["text"]
            .as_str()
            .or_else(|| told["content"][0]["text"].as_str());
        Ok(text(format!("LLM response: {}", said.unwrap_or_default())))
    }

    async fn steps(
        &self,
        context: &RequestContext<RoleServer>,
        logs: bool,
    ) -> Outcome<CallToolResponse> {
        let token = context.meta.get_progress_token();
        let words = [
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ];
        for (step, word) in words.into_iter().enumerate() {
            let told = if logs {
                let note = read(json!({"level": "info", "logger": "fixture", "data": word}))?;
                context.peer.notify_logging_message(note).await
            } else if let Some(token) = &token {
                let note = json!({"progressToken": token, "progress": step * 50, "total": 100});
                context.peer.notify_progress(read(note)?).await
            } else {
                Ok(())
            };
            told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(text("done".to_owned()))
    }

    fn change(&self, changed: Changed) -> CallToolResponse {
        // Nobody may listen.
        let _ = self.changes.send(changed);
        text("changed".to_owned())
    }

    fn needs_sampling(&self, context: &RequestContext<RoleServer>) -> Outcome<CallToolResponse> {
        let can = context
            .client_capabilities()
            .is_some_and(|can| can.sampling.is_some());
        if can {
            return Ok(text("the client can".to_owned()));
        }
        let needed = json!({"requiredCapabilities": {"sampling": {}}});
        let code = ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY;
        Err(ErrorData::new(
            code,
            "the client can't sample",
            Some(needed),
        ))
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let changes = json!({"listChanged": true});
        let capabilities = json!({"tools": changes, "prompts": changes, "completions": {}, "logging": {},
            "resources": {"subscribe": true, "listChanged": true}});
        let who = json!({"name": "conformance", "version": "1.0.0"});
        let info = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": who});
        read(info).unwrap_or_default()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Outcome<ListToolsResult> {
        self.list("tools")
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools: ListToolsResult = self.list("tools").ok()?;
        tools.tools.into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Outcome<CallToolResponse> {
        let name = request.name.to_string();
        let args = Value::Object(request.arguments.clone().unwrap_or_default());
        if let Some(answer) = self.part("answers", &name) {
            return Ok(complete::<CallToolResult>(answer)?.into());
        }
        if let Some(plan) = self.part("rounds", &name) {
            let request = serde_json::to_value(&request).unwrap_or_default();
            return match rounds::next(&plan, &request, context.client_capabilities())? {
                rounds::Next::Ask(question) => Ok(question.into()),
                rounds::Next::Done(said) => Ok(text(said)),
            };
        }
        if let Some(schema) = self.part("elicitations", &name) {
            let message = args["message"]
                .as_str()
                .unwrap_or("Please answer")
                .to_owned();
            return self.elicit(schema, &message, &context).await;
        }
        match name.as_str() {
            "test_tool_with_logging" => self.steps(&context, true).await,
            "test_tool_with_progress" => self.steps(&context, false).await,
            "test_sampling" => self.sample(&args["prompt"], &context).await,
            "test_missing_capability" => self.needs_sampling(&context),
            "test_trigger_tool_change" => Ok(self.change(Changed::Tools)),
            "test_trigger_prompt_change" => Ok(self.change(Changed::Prompts)),
            "test_reconnection" => Ok(text("still connected".to_owned())),
            _ => Err(wrong("there is no such tool")),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Outcome<ListPromptsResult> {
        self.list("prompts")
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Outcome<GetPromptResponse> {
        if let Some(plan) = self.part("rounds", &request.name) {
            let request = serde_json::to_value(&request).unwrap_or_default();
            if let rounds::Next::Ask(question) =
                rounds::next(&plan, &request, context.client_capabilities())?
            {
                return Ok(question.into());
            }
        }
        let messages = self
            .part("messages", &request.name)
            .ok_or_else(|| wrong("there is no such prompt"))?;
        let mut written = messages.to_string();
        for (name, value) in request.arguments.iter().flatten() {
            let value = value.as_str().unwrap_or_default();
            written = written.replace(&format!("{{{name}}}"), value);
        }
        let messages: Value = serde_json::from_str(&written).map_err(|_| wrong("no plain text"))?;
        Ok(complete::<GetPromptResult>(json!({"messages": messages}))?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Outcome<ListResourcesResult> {
        self.list("resources")
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Outcome<ListResourceTemplatesResult> {
        self.list("templates")
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Outcome<ReadResourceResponse> {
        let uri = request.uri.clone();
        let id = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let mut content = match (id, self.part("contents", &uri)) {
            (_, Some(content)) => content,
            (Some(id), None) => {
                let data =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"mimeType": "application/json", "text": data.to_string()})
            }
            (None, None) => {
                let what = Some(json!({ "uri": uri }));
                return Err(ErrorData::invalid_params("Resource not found", what));
            }
        };
        content["uri"] = Value::from(uri);
        let result = json!({"contents": [content], "ttlMs": 1000, "cacheScope": "private"});
        Ok(complete::<ReadResourceResult>(result)?.into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Outcome<CompleteResult> {
        complete(json!({"completion": {"values": ["paris", "park"], "total": 2, "hasMore": false}}))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Outcome<()> {
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Outcome<()> {
        self.watched.lock().await.insert(request.uri.to_string());
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Outcome<()> {
        self.watched.lock().await.remove(&*request.uri.to_string());
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Outcome<()> {
        let mut changes = self.changes.subscribe();
        loop {
            let changed = tokio::select! {
                changed = changes.recv() => changed,
                () = context.cancelled() => return Ok(()),
            };
            // What was not asked for is not sent; that is no reason to stop.
            let _ = match changed {
                Ok(Changed::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Changed::Prompts) => context.sink().notify_prompt_list_changed().await,
                Err(_) => return Ok(()),
            };
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:0".to_owned());
    let fixture = Fixture {
        catalog: Arc::new(serde_json::from_str(include_str!("catalog.json"))?),
        watched: Arc::default(),
        changes: broadcast::channel(64).0,
    };
    let service = StreamableHttpService::new(
        move || Ok(fixture.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(address).await?;
    writeln!(
        std::io::stdout(),
        "http://localhost:{}/mcp",
        listener.local_addr()?.port()
    )?;
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new();
            // A client that breaks off is its own business.
            let _ = connection
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}
