//! The tools of the demo's agents: the only thing here that is not real.

use std::time::Duration;

use serde_json::{Value, json};
use sprag::{Decision, Verdict};

use super::client::{DemoClient, agent};

/// A tool call of an agent.
pub(super) struct ToolCall {
    pub(super) server: &'static str,
    pub(super) name: &'static str,
    pub(super) args: Value,
}

/// What a tool gave back.
pub(super) struct ToolResult {
    pub(super) result: String,
    pub(super) is_error: bool,
}

impl ToolResult {
    pub(super) fn good(result: impl Into<String>) -> Self {
        Self {
            result: result.into(),
            is_error: false,
        }
    }

    pub(super) fn bad(result: impl Into<String>) -> Self {
        Self {
            result: result.into(),
            is_error: true,
        }
    }
}

/// One agent at work.
pub(super) struct DemoAgent<'a> {
    pub(super) client: &'a DemoClient,
    pub(super) session: &'a str,
    calls: u32,
}

impl<'a> DemoAgent<'a> {
    pub(super) fn new(client: &'a DemoClient, session: &'a str) -> Self {
        Self {
            client,
            session,
            calls: 0,
        }
    }

    /// Asks whether it may, does it, and tells what came of it. None where it was refused.
    pub(super) async fn run(&mut self, tool: ToolCall, gave: ToolResult) -> Option<Verdict> {
        self.calls += 1;
        // The model was asked what to do next, with all that was said before.
        self.spends(1_100 + self.calls * 420, 85).await;
        let id = format!("call-{}", self.calls);
        let asked = self.client.check(json!({
            "type": "call",
            "session": self.session,
            "agent": agent(self.session),
            "id": id,
            "server": tool.server,
            "tool": tool.name,
            "args": tool.args,
        }));
        if asked.await.decision.refuses() {
            return None;
        }
        think(600).await;
        let told = self.client.check(json!({
            "type": "step",
            "session": self.session,
            "id": id,
            "result": gave.result,
            "is_error": gave.is_error,
        }));
        Some(told.await)
    }

    /// The same, where only going on matters: whether the agent may.
    pub(super) async fn does(&mut self, tool: ToolCall, gave: ToolResult) -> bool {
        let verdict = self.run(tool, gave).await;
        verdict.is_some_and(|verdict| verdict.decision < Decision::Block)
    }

    /// Tells what the model cost.
    pub(super) async fn spends(&self, input: u32, output: u32) {
        let (model, input_price, output_price) = match agent(self.session) {
            "poller" | "researcher" | "courier" => ("claude-haiku-4-5", 1e-6, 5e-6),
            _ => ("claude-sonnet-4-5", 3e-6, 15e-6),
        };
        let cost = f64::from(input) * input_price + f64::from(output) * output_price;
        let usage = json!({
            "type": "usage",
            "session": self.session,
            "agent": agent(self.session),
            "model": model,
            "input_tokens": input,
            "output_tokens": output,
            "cost_usd": cost,
        });
        self.client.check(usage).await;
    }
}

/// A model needs its time.
pub(super) async fn think(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
