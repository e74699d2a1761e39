//! Who may speak for whom.

use serde_json::json;
use sprag::Role;
use sprag_server::TokenFile;

use super::agent_server::AgentServer;
use super::relay_server::{HttpAnswer, RelayServer};

async fn say(server: &RelayServer, token: Option<&str>, body: serde_json::Value) -> (u16, String) {
    let request = server.client.post(server.url("/api/sessions/2/messages"));
    let request = match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let answer = request.json(&body).send().await.unwrap();
    HttpAnswer::of(answer).await.told()
}

const NOT_A_USER: &str = "a message without fromSession is a user's: send it with a token of role relay, which `sprag token add` makes";

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_on_this_machine_can_not_play_the_user_without_a_token() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.strict_relay());
    let user = json!({"prompt": "hi"});
    let agent = json!({"prompt": "hi", "fromSession": "1", "correlationId": "f"});
    let file = TokenFile::beside(&server.test_server.home.path().join("sprag.db"));
    let token = |role| {
        file.add(&format!("a-{role}"), role, server.guard().now())
            .unwrap()
    };

    assert_eq!(
        say(&server, None, user.clone()).await,
        (403, NOT_A_USER.into())
    );
    assert_eq!(say(&server, None, agent.clone()).await.0, 200);
    let agents = token(Role::Agent);
    assert_eq!(say(&server, Some(&agents), user.clone()).await.0, 403);
    for role in [Role::Relay, Role::Hook, Role::Operator] {
        let token = token(role);
        assert_eq!(
            say(&server, Some(&token), user.clone()).await.0,
            200,
            "{role}"
        );
    }
    assert_eq!(
        server.post("/api/sessions/2/idle", json!({})).await.status,
        403
    );
    assert_eq!(say(&server, Some("wrong"), user).await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_machine_is_trusted_a_token_of_an_agent_still_is_an_agents() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    let file = TokenFile::beside(&server.test_server.home.path().join("sprag.db"));
    let token = file.add("a", Role::Agent, server.guard().now()).unwrap();
    let user = json!({"prompt": "hi"});
    assert_eq!(say(&server, None, user.clone()).await.0, 200);
    let refused = say(&server, Some(&token), user).await;
    assert_eq!(refused, (403, NOT_A_USER.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_can_not_be_meant_is_a_problem_that_names_the_field() {
    let agents = AgentServer::start().await;
    let server = RelayServer::open(agents.relay());
    for (body, status, detail) in [
        (
            "{",
            400,
            "the body: EOF while parsing an object at line 1 column 1",
        ),
        (
            "[]",
            400,
            "the body: invalid type: sequence, expected a JSON object at line 1 column 0",
        ),
        (
            r#"{"fromSession":1}"#,
            400,
            "fromSession: it must be a string",
        ),
        (
            r#"{"source":"agent"}"#,
            400,
            "source: an agent's message names its session in fromSession",
        ),
    ] {
        let request = server.client.post(server.url("/api/sessions/2/messages"));
        let request = request.header("content-type", "application/json");
        let answer = HttpAnswer::of(request.body(body).send().await.unwrap()).await;
        assert_eq!(answer.told(), (status, detail.to_owned()), "{body}");
    }
    let plain = server.client.post(server.url("/api/sessions/2/messages"));
    let answer = HttpAnswer::of(plain.body("{}").send().await.unwrap()).await;
    assert_eq!(
        answer.told(),
        (415, "send `Content-Type: application/json`".into())
    );
}
