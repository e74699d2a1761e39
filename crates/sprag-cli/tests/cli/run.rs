//! `sprag run` and `sprag gateway env`: what a client is started with, and how both end.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::sandbox::Sandbox;

/// What the agent asks, each time; the upstream knows by its end that it is whole.
const BODY: &str = r#"{"model":"m","max_tokens":9,"tools":[{"name":"delete_asset"}],"messages":[{"role":"user","content":"tidy up"}]}"#;

/// An upstream that answers every request with one more call that deletes the same thing.
fn stubborn() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut asked = Vec::new();
            while !asked.ends_with(BODY.as_bytes()) {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                asked.extend(byte);
            }
            let body = json!({
                "id": format!("msg_{n}"), "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "tool_use", "id": format!("toolu_{n:024}"), "name": "delete_asset",
                    "input": {"asset_id": "a"}}],
                "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5},
            });
            let body = body.to_string();
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
            let length = body.len();
            write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        }
    });
    address
}

/// An agent that asks four times, whatever it is answered, and prints the last status.
fn agent(more: &[&str], end: &str) -> String {
    let sandbox = Sandbox::new();
    sandbox.file("body.json", BODY);
    let script = format!(
        "for n in 1 2 3 4; do code=$(curl -s -o answer.json -w '%{{http_code}}' $ANTHROPIC_BASE_URL/v1/messages \
         -H 'x-sprag-session: s1' -H 'x-api-key: k' -d @body.json); done; echo $code; {end}"
    );
    let args = [&["run", "--db", "s.db"], more, &["--", "sh", "-c", &script]].concat();
    let mut command = sandbox.command(&args);
    command.env("ANTHROPIC_BASE_URL", stubborn());
    sandbox.show(&command.output().unwrap())
}

#[test]
fn a_run_ends_as_its_client_and_says_what_was_seen_spent_and_stopped() {
    for code in ["exit 3", "exit 0"] {
        let shown = agent(&[], code);
        let (exit, told) = shown.split_once('\n').unwrap();
        assert_eq!(exit, code);
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @"
            --- stdout
            200
            --- stderr
            sprag: 4 requests, 3 calls, 0 refused, 1 warning, 2 stops; 30 tokens in, 15 out
            ");
        }
    }
}

#[test]
fn a_client_that_takes_a_stop_for_success_fails_if_asked_for() {
    for (end, code) in [("exit 0", "exit 1"), ("exit 3", "exit 3")] {
        let shown = agent(&["--stop", "error"], end);
        let (exit, told) = shown.split_once('\n').unwrap();
        assert_eq!(exit, code);
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @"
            --- stdout
            402
            --- stderr
            sprag: 4 requests, 3 calls, 0 refused, 1 warning, 2 stops; 30 tokens in, 15 out
            ");
        }
    }
}

#[test]
fn where_the_gateway_can_not_stand_nothing_is_started() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["run", "gemini"]), @"
    exit 2
    --- stderr
    error: Gemini CLI has no login here; set $GEMINI_API_KEY
    next: see docs/gateway.md for the logins that it can stand before
    ");
    insta::assert_snapshot!(sandbox.run(&["gateway", "env", "copilot"]), @"
    exit 2
    --- stderr
    error: the gateway can't stand in front of Copilot CLI with the login GitHub's own models; set a provider of your own ($COPILOT_PROVIDER_BASE_URL), or use its hooks: sprag install copilot
    next: see docs/gateway.md for the logins that it can stand before
    ");
    insta::assert_snapshot!(sandbox.run(&["gateway", "env", "claude"]), @"
    exit 0
    --- stdout
    export ANTHROPIC_BASE_URL=http://127.0.0.1:7729/anthropic
    export CLAUDE_CODE_GATEWAY_HINT_HEADERS=1
    ");
    let mut command = sandbox.command(&["run", "claude"]);
    command.env("CLAUDE_CODE_USE_BEDROCK", "1");
    insta::assert_snapshot!(sandbox.show(&command.output().unwrap()), @"
    exit 2
    --- stderr
    error: CLAUDE_CODE_USE_BEDROCK sends Claude Code to a cloud's own API, which the gateway does not speak
    next: see docs/gateway.md for the logins that it can stand before
    ");
}
