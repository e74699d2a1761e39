//! A call that a person has to approve: asked in the client's own form if it has one, else refused.

use serde_json::{Value, json};

use crate::gate_fixture::{GateFixture, call, options};

const POLICY: &str = "[rules]\n\"access.denied\" = \"ask\"\n[access]\ndeny = [\"rm_*\"]\n";

fn fixture() -> GateFixture {
    GateFixture::with(options(), POLICY)
}

fn hello(capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

/// Makes a call that must be asked about, and returns the question to the client.
fn question(gate: &GateFixture, message: &str) -> Value {
    let (onward, answer) = gate.stopped(message);
    assert_eq!(onward, None);
    serde_json::from_str(&answer.unwrap()).unwrap()
}

fn reply(question: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }).to_string()
}

#[test]
fn a_client_without_forms_gets_a_refusal_that_says_how_to_approve() {
    let gate = fixture();
    gate.up(&hello("{}"));
    let told = gate.refused(&call(1, "rm_all", "{}"));
    assert!(told.contains("sprag approve "), "{told}");
    assert!(told.contains("make the same call again"), "{told}");
}

#[test]
fn an_approved_call_goes_on_as_it_came() {
    let gate = fixture();
    gate.up(&hello(r#"{"elicitation":{}}"#));
    let message = call(1, "rm_all", r#"{"n":1.0}"#);
    let asked = question(&gate, &message);
    assert_eq!(asked["method"], "elicitation/create");
    let text = asked["params"]["message"].as_str().unwrap();
    assert!(
        text.contains("rm_all") && text.contains("not allowed by the policy"),
        "{text}"
    );
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let (onward, answer) = gate.stopped(&reply(&asked, &yes));
    assert_eq!((onward.as_deref(), answer), (Some(&*message), None));
    let kinds: Vec<String> = gate
        .records()
        .iter()
        .map(|record| record["event"]["type"].to_string())
        .collect();
    assert_eq!(kinds, [r#""call""#, r#""approve""#, r#""call""#]);
    // A question is answered once.
    gate.up(&reply(&asked, &yes));
}

#[test]
fn a_declined_call_is_refused_with_what_was_said() {
    for no in [
        json!({ "action": "decline" }),
        json!({ "action": "accept", "content": { "approve": false } }),
        json!({ "action": "accept" }),
    ] {
        let gate = fixture();
        gate.up(&hello(r#"{"elicitation":{"form":{}}}"#));
        let asked = question(&gate, &call(7, "rm_all", "{}"));
        let (onward, answer) = gate.stopped(&reply(&asked, &no));
        assert_eq!(onward, None, "{no}");
        let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
        assert_eq!(answer["id"], 7);
        let told = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(
            told.contains("Declined by the user of the MCP client"),
            "{told}"
        );
    }
}

#[test]
fn a_form_that_is_closed_leaves_the_question_open() {
    let gate = fixture();
    gate.up(&hello(r#"{"elicitation":{}}"#));
    let asked = question(&gate, &call(1, "rm_all", "{}"));
    let (onward, answer) = gate.stopped(&reply(&asked, &json!({ "action": "cancel" })));
    assert_eq!(onward, None);
    assert!(answer.unwrap().contains("sprag approve "));
}

#[test]
fn a_client_of_the_newest_revision_is_asked_for_input_and_the_server_sees_none_of_it() {
    let gate = fixture();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
    let message = |more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"rm_all","arguments":{{"b":1.0,"a":2}},{meta}{more}}}}}"#
        )
    };
    let asked = question(&gate, &message(""));
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert_eq!(
        asked["result"]["inputRequests"]["sprag"]["method"],
        "elicitation/create"
    );
    let state = &asked["result"]["requestState"];
    let yes = format!(
        r#","inputResponses":{{"sprag":{{"action":"accept","content":{{"approve":true}}}}}},"requestState":{state}"#
    );
    let (onward, answer) = gate.stopped(&message(&yes));
    assert_eq!((onward, answer), (Some(message("")), None));
}

#[test]
fn over_http_nobody_is_asked_because_anyone_could_answer() {
    let gate = fixture();
    let scope = sprag_mcp::RequestScope::exchange(sprag::Id::new("h").unwrap(), false);
    let action = gate
        .gate
        .from_client(&scope, hello(r#"{"elicitation":{}}"#).as_bytes());
    assert_eq!(action, sprag_mcp::ClientAction::Pass);
    let action = gate
        .gate
        .from_client(&scope, call(1, "rm_all", "{}").as_bytes());
    let sprag_mcp::ClientAction::Stop { answer, .. } = action else {
        panic!("it passed");
    };
    let answer: Value = serde_json::from_slice(&answer.unwrap()).unwrap();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}
