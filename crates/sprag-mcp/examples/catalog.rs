//! A data catalogue as an MCP server, whose deletions do not work: the clean-up loop in small.
//!
//! `delete_asset` answers that the asset still exists, unless its name starts with `old_`.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};

struct Catalog;

impl ServerHandler for Catalog {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"asset_id": {"type": "string"}}});
        let schema = schema.as_object().cloned().unwrap_or_default();
        let tool = |name: &'static str, does: &'static str| Tool::new(name, does, schema.clone());
        Ok(ListToolsResult::with_all_items(vec![
            tool("delete_asset", "Deletes an asset"),
            tool("list_assets", "Lists the assets"),
        ]))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let args = call.arguments.unwrap_or_default();
        let asset = args
            .get("asset_id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let text = |text: String| vec![ContentBlock::text(text)];
        let result = match &*call.name {
            "delete_asset" if asset.starts_with("old_") => {
                CallToolResult::success(text(format!("deleted {asset}")))
            }
            "delete_asset" => CallToolResult::error(text("asset still exists".to_owned())),
            _ => CallToolResult::success(text("fact_sales, old_1, old_2".to_owned())),
        };
        Ok(result.into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Catalog
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
