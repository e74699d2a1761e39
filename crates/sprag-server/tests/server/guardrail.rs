//! The generic guardrail of LiteLLM's proxy, asked as the proxy asks.

use serde_json::{Value, json};
use sprag::Role;

use crate::test_server::TestServer;

const PATH: &str = "/beta/litellm_basic_guardrail_api";

struct Proxy {
    server: TestServer,
    token: String,
}

impl Proxy {
    fn start() -> Self {
        let server = TestServer::start();
        let token = format!("authorization: Bearer {}\r\n", server.token(Role::Hook));
        Self { server, token }
    }

    fn ask(&self, mut body: Value) -> Value {
        body["request_headers"] = json!({"x-litellm-session-id": "s1"});
        self.ask_as_it_is(&body)
    }

    fn ask_as_it_is(&self, body: &Value) -> Value {
        let answer = self
            .server
            .send("POST", PATH, &self.token, &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    /// The model's answer with one delete, then the request with its result.
    fn delete(&self, number: u32) -> (Value, Value) {
        let id = format!("call_{number}");
        let call = json!({"id": id, "type": "function",
            "function": {"name": "delete_asset", "arguments": "{\"asset_id\":\"fact_sales\"}"}});
        let answer = self.ask(json!({"input_type": "response", "tool_calls": [call]}));
        let result = self.ask(json!({"input_type": "request", "structured_messages": [
            {"role": "user", "content": "clean up"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": "asset still exists"},
        ]}));
        (answer, result)
    }
}

#[test]
fn the_third_delete_is_blocked_and_so_is_every_request_after_it() {
    let proxy = Proxy::start();
    let opening = json!({"input_type": "request", "structured_messages": [{"role": "user", "content": "clean up"}]});
    assert_eq!(proxy.ask(opening.clone()), json!({"action": "NONE"}));
    let (answer, result) = proxy.delete(1);
    assert_eq!(
        (answer, result),
        (json!({"action": "NONE"}), json!({"action": "NONE"}))
    );

    let (answer, result) = proxy.delete(2);
    assert_eq!(answer, json!({"action": "NONE"}));
    assert_eq!(result["action"], "GUARDRAIL_INTERVENED");
    let told = result["structured_messages"][2]["content"]
        .as_str()
        .unwrap();
    assert!(
        told.starts_with("asset still exists\n\nsprag: 2 deletes on asset_id=fact_sales"),
        "{told}"
    );

    let (answer, result) = proxy.delete(3);
    assert_eq!(answer["action"], "BLOCKED");
    let why = answer["blocked_reason"].as_str().unwrap();
    assert!(why.starts_with("sprag: session_killed"), "{why}");
    assert_eq!(result["action"], "BLOCKED");
    assert_eq!(proxy.ask(opening)["action"], "BLOCKED");
    let state = proxy
        .server
        .operator("GET", "/v1/sessions/litellm-s1", "")
        .json();
    assert_eq!(state["state"], "killed");
}

#[test]
fn without_a_session_calls_are_refused_and_nobody_is_killed() {
    let proxy = Proxy::start();
    let call = json!({"input_type": "response", "request_data": {"user_api_key_hash": "k"}, "tool_calls": [
        {"id": "c", "function": {"name": "delete_asset", "arguments": "{\"asset_id\":\"a\"}"}}]});
    for _ in 0..2 {
        assert_eq!(proxy.ask_as_it_is(&call)["action"], "NONE");
    }
    assert_eq!(proxy.ask_as_it_is(&call)["action"], "BLOCKED");
    let state = proxy
        .server
        .operator("GET", "/v1/sessions/litellm-key-k", "")
        .json();
    assert_eq!(state["state"], "active");
}

#[test]
fn what_is_no_question_is_told_so() {
    let proxy = Proxy::start();
    for body in ["{}", "[]", "null", r#"{"input_type":"sideways"}"#] {
        let answer = proxy.server.send("POST", PATH, &proxy.token, body);
        assert_eq!(answer.status, 400, "{body}");
    }
    let odd = json!({"input_type": "request", "structured_messages": [7, null, {"role": "tool"}, {"role": "user"}]});
    assert_eq!(proxy.ask(odd), json!({"action": "NONE"}));
}
