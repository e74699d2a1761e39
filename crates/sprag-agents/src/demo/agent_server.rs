//! The agent server behind the demo's relay: it gets a message for a session and lets the agent there act.

use axum::extract::{Path, State};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::agents;
use super::client::DemoClient;

/// Serves until it is dropped.
pub(super) async fn serve(listener: TcpListener, client: DemoClient) {
    let routes = Router::new()
        .route("/api/sessions/{id}/messages", post(message))
        .with_state(client);
    // It accepts until it is dropped; a connection that breaks is not its end.
    let _ = axum::serve(listener, routes).await;
}

async fn message(
    State(client): State<DemoClient>,
    Path(session): Path<String>,
    Json(body): Json<Value>,
) -> Json<Value> {
    let prompt = body.get("prompt").and_then(Value::as_str);
    let reply = agents::act(&client, &session, prompt.unwrap_or_default()).await;
    Json(json!({ "reply": reply }))
}
