//! Agents that act through their tools, over MCP, with a real agent server between them.

mod scripted_agents;

use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use serde_json::json;
use sprag::Id;
use sprag_agents::{AgentTools, AgentToolsConfig, RelayAddress};
use sprag_server::{FieldNames, Url};

use scripted_agents::ScriptedAgents;

const REFUSED: &str =
    "Do not send it again. Go on with what you have, and say in your answer what is missing.";

/// What the agents heard as errors or warnings, each after its session.
async fn troubles(plan: &str) -> Vec<(String, String)> {
    let agents = ScriptedAgents::open().await;
    let answer = agents.user("1", plan).await;
    assert_eq!(answer.status, 200, "{plan}: {answer:?}");
    agents.nobody_was_told_a_flow();
    agents.everyone_rests();
    agents.troubles()
}

#[tokio::test(flavor = "multi_thread")]
async fn honest_ways_to_talk_give_no_trouble() {
    for plan in [
        "2",                     // simple delegation
        "2 1 2 1",               // oscillation
        "2 3 4 5",               // a long chain
        "2+3+4+5+6+7",           // parallel calls
        "x5:2 work x5:2",        // much talk, with work in between
        "x1:2 wait:360000 x1:2", // resumed after a break
        "new:coder",             // a session of its own
        "nowait:2",              // not waiting for the answer
    ] {
        assert_eq!(troubles(plan).await, [], "{plan}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_too_far_is_told_to_the_agent_that_did_it() {
    let again = "1 2 ".repeat(21);
    for (plan, session, told) in [
        (
            "2 3 4 5 6",
            "5",
            format!("Agent call rejected: effective call depth 6 exceeds limit (max 5)\n{REFUSED}"),
        ),
        (
            "1",
            "1",
            "Agent call rejected: self-calls not allowed\nDo it yourself, or write to another session.".into(),
        ),
        (
            "x1:2 wait:240000 x1:2 wait:60001 x1:2",
            "1",
            format!("Agent call rejected: flow timeout (max 5 minutes)\n{REFUSED}"),
        ),
        (
            "x6:2",
            "1",
            "Warning from the guard: rapid calls from session 1; whether work is done in between is not reported".into(),
        ),
    ] {
        assert_eq!(troubles(plan).await, [(session.to_owned(), told)], "{plan}");
    }
    // Unbounded oscillation: from the sixth message on there are warnings, and in the end it is refused.
    let told = troubles(&format!("2 {again}")).await;
    let refusals: Vec<_> = told
        .iter()
        .filter(|(_, told)| !told.starts_with("Warning"))
        .collect();
    let rate = "Message rejected: the inbox of session 2 got 19 messages within a minute (max 10/minute; 18 that said something new count half)\nWait 60 s before you send it again, or go on without it.";
    assert_eq!(refusals, [&("1".to_owned(), rate.to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_in_the_middle_changes_nothing_for_the_flow_that_runs() {
    let agents = ScriptedAgents::open().await;
    assert_eq!(agents.user("1", "x1:2 user x1:2").await.status, 200);
    assert_eq!(agents.troubles(), []);
    let flows = agents.arrivals("2");
    assert_eq!(flows.len(), 2);
    assert_eq!(flows[0], flows[1]);
    agents.nobody_was_told_a_flow();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_works_on_nothing_can_not_write_to_others() {
    let agents = ScriptedAgents::open().await;
    agents.act("9", "x1:2").await;
    let told = "Agent call rejected: correlation ID required for agent-initiated calls\nYou can write to others only while you work on a message. Say it in your answer instead.";
    assert_eq!(agents.troubles(), [("9".to_owned(), told.to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_agent_is_told_to_stop_and_others_to_leave_it_alone() {
    let agents = ScriptedAgents::open().await;
    agents
        .server
        .guard()
        .kill("2", "ops", "seen enough")
        .unwrap();
    assert_eq!(agents.user("1", "x1:2").await.status, 200);
    agents.act("2", "x1:3").await;
    let to = "Message rejected: session 2 was killed by an operator\nDo not write to it again. Go on without it, and say in your answer what is missing.";
    let from = "Session 2 was killed: by ops (seen enough). Stop now; only an operator can reset it.\nStop now, and send nothing more.";
    assert_eq!(
        agents.troubles(),
        [
            ("1".to_owned(), to.to_owned()),
            ("2".to_owned(), from.to_owned())
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_schema_knows_of_a_flow() {
    let agents = ScriptedAgents::open().await;
    let tools = agents.tools_of("1").await;
    let listed = serde_json::to_value(tools.list_all_tools().await.unwrap()).unwrap();
    let brief: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let properties = tool["inputSchema"]["properties"].as_object().unwrap();
            let names: Vec<_> = properties.keys().cloned().collect();
            (tool["name"].as_str().unwrap().to_owned(), names.join(" "))
        })
        .collect();
    assert_eq!(
        brief,
        [
            (
                "create_agent_session".to_owned(),
                "agent message".to_owned()
            ),
            (
                "send_agent_message".to_owned(),
                "message to wait".to_owned()
            ),
        ]
    );
    let text = listed.to_string().to_lowercase();
    assert!(
        !text.contains("correlation") && !text.contains("flow"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_is_not_there_is_an_error_that_says_so() {
    let tools = AgentTools::new(AgentToolsConfig {
        session: Id::new("1").unwrap(),
        relay: RelayAddress::Url(Url::parse("http://127.0.0.1:1").unwrap()),
        path: "/api/sessions".to_owned(),
        fields: FieldNames::default(),
        token: None,
    });
    let (here, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let serving = tools.unwrap().serve(there).await.unwrap();
        serving.waiting().await.unwrap();
    });
    let client = ().serve(here).await.unwrap();
    let arguments = json!({"to": "2", "message": "hi"});
    let call = CallToolRequestParams::new("send_agent_message")
        .with_arguments(arguments.as_object().unwrap().clone());
    let result = client.call_tool(call).await.unwrap();
    let result = serde_json::to_value(result).unwrap();
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("The message was not sent, because the relay can't be reached: "),
        "{text}"
    );
    assert!(
        text.ends_with("\nGo on without it, and say in your answer what is missing."),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_is_a_path_once_reached_another_route_of_the_agent_server() {
    let agents = ScriptedAgents::open().await;
    let tools = agents.tools_of("1").await;
    for to in [".", "..", ""] {
        let arguments = json!({"to": to, "message": "hi"});
        let call = CallToolRequestParams::new("send_agent_message")
            .with_arguments(arguments.as_object().unwrap().clone());
        let result = tools.call_tool(call).await.unwrap();
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(result["isError"], true, "{to}: {result}");
    }
    assert!(agents.arrivals("2").is_empty());
    assert!(agents.arrivals(".").is_empty());
}
