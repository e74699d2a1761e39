//! Every route, asked as everyone: each answer is the one that the table gives.

use sprag::Role;
use sprag_server::TokenFile;

use crate::relay::agent_server::AgentServer;
use crate::test_server::TestServer;

const ORDER: &str = r#"{"why":"test"}"#;
const CALL: &str = r#"{"type":"call","session":"s","tool":"t"}"#;

const HOOK: &str = r#"{"hook_event_name":"PreToolUse","session_id":"h","transcript_path":"t","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    /// Everyone, without a token and with any.
    Everyone,
    /// Anyone with a role; who comes from this machine has one.
    AnyRole,
    /// Hooks and operators.
    Hooks,
    /// Those who may speak for the user: relays, hooks and operators, with their tokens.
    Speakers,
    Operators,
    /// Operators and viewers.
    Readers,
    /// Those who may answer for a person: hooks, relays and operators.
    Answerers,
}

/// Every route with what is sent and what an allowed one is answered.
const ROUTES: &[(&str, &str, &str, u16, For)] = &[
    ("POST", "/v1/check", CALL, 200, For::AnyRole),
    ("POST", "/v1/check/batch", CALL, 200, For::AnyRole),
    ("POST", "/v1/hooks/claude", HOOK, 200, For::Hooks),
    (
        "POST",
        "/beta/litellm_basic_guardrail_api",
        r#"{"input_type":"request"}"#,
        200,
        For::Hooks,
    ),
    (
        "POST",
        "/api/sessions/b/messages",
        r#"{"fromSession":"a","correlationId":"f"}"#,
        200,
        For::AnyRole,
    ),
    (
        "POST",
        "/api/sessions",
        r#"{"fromSession":"a","correlationId":"g","sessionId":"c"}"#,
        201,
        For::AnyRole,
    ),
    ("POST", "/api/sessions/d/messages", "{}", 200, For::Speakers),
    ("POST", "/api/sessions/d/idle", "{}", 204, For::Speakers),
    ("GET", "/v1/sessions", "", 200, For::Readers),
    ("GET", "/v1/sessions/s", "", 200, For::Readers),
    ("GET", "/v1/sessions/s/events", "", 200, For::Readers),
    ("GET", "/v1/sessions/s/replay", "", 200, For::Readers),
    ("POST", "/v1/sessions/s/replay", "{}", 200, For::Readers),
    ("POST", "/v1/sessions/k/kill", ORDER, 200, For::Operators),
    ("POST", "/v1/sessions/k/reset", ORDER, 200, For::Operators),
    ("GET", "/v1/approvals", "", 200, For::Readers),
    ("GET", "/v1/approvals/none", "", 404, For::AnyRole),
    (
        "POST",
        "/v1/approvals/none",
        r#"{"answer":"approve"}"#,
        404,
        For::Answerers,
    ),
    (
        "POST",
        "/v1/links/none",
        r#"{"secret":"x"}"#,
        404,
        For::Everyone,
    ),
    ("GET", "/v1/stops", "", 200, For::Readers),
    ("GET", "/v1/stops/none", "", 404, For::Readers),
    (
        "POST",
        "/v1/orders",
        r#"{"order":"reset","sessions":["k"],"why":"test"}"#,
        200,
        For::Operators,
    ),
    ("GET", "/v1/cases", "", 200, For::Readers),
    ("GET", "/v1/cases/c1", "", 404, For::Readers),
    (
        "POST",
        "/v1/cases",
        r#"{"session":"none","seq":1,"why":"test"}"#,
        404,
        For::Operators,
    ),
    ("GET", "/v1/notifications", "", 200, For::Readers),
    ("POST", "/v1/notifications/test", "", 409, For::Operators),
    ("GET", "/v1/agents", "", 200, For::Readers),
    ("GET", "/v1/agents/none", "", 200, For::Readers),
    ("GET", "/v1/spend", "", 200, For::Readers),
    ("GET", "/v1/flows", "", 200, For::Readers),
    ("GET", "/v1/flows/none", "", 404, For::Readers),
    ("GET", "/v1/policy", "", 200, For::Readers),
    (
        "PUT",
        "/v1/policy",
        r#"{"text":"","why":"test"}"#,
        200,
        For::Operators,
    ),
    ("GET", "/v1/policy/history", "", 200, For::Readers),
    ("GET", "/v1/policy/history/none", "", 404, For::Readers),
    ("GET", "/v1/policy/schema", "", 200, For::Everyone),
    ("GET", "/v1/policy/defaults", "", 200, For::Readers),
    (
        "POST",
        "/v1/policy/check",
        r#"{"text":""}"#,
        200,
        For::Readers,
    ),
    (
        "POST",
        "/v1/policy/edit",
        r#"{"text":"","key":"flow.max_depth","value":"6"}"#,
        200,
        For::Readers,
    ),
    (
        "POST",
        "/v1/policy/try",
        r#"{"text":""}"#,
        200,
        For::Readers,
    ),
    ("GET", "/v1/pause", "", 200, For::Readers),
    (
        "POST",
        "/v1/pause",
        r#"{"for":"1m","why":"test"}"#,
        200,
        For::Operators,
    ),
    ("POST", "/v1/resume", "{}", 200, For::Operators),
    ("GET", "/v1/panic", "", 200, For::Readers),
    (
        "POST",
        "/v1/panic",
        r#"{"why":"test"}"#,
        200,
        For::Operators,
    ),
    ("POST", "/v1/calm", r#"{"why":"test"}"#, 200, For::Operators),
    ("GET", "/v1/log", "", 200, For::Readers),
    ("GET", "/v1/log/1", "", 200, For::Readers),
    ("GET", "/v1/log/status", "", 200, For::Readers),
    ("POST", "/v1/log/verify", "", 200, For::Readers),
    ("GET", "/v1/log/export", "", 200, For::Readers),
    ("GET", "/v1/stats", "", 200, For::Readers),
    ("GET", "/v1/me", "", 200, For::AnyRole),
    ("GET", "/metrics", "", 200, For::AnyRole),
    ("GET", "/healthz", "", 200, For::Everyone),
    ("GET", "/readyz", "", 200, For::Everyone),
    (
        "POST",
        "/v1/login",
        r#"{"token":"wrong-wrong-wrong-wrong-wrong-wrong"}"#,
        401,
        For::Everyone,
    ),
    ("POST", "/v1/login/code", "", 200, For::Operators),
    ("DELETE", "/v1/login", "", 204, For::AnyRole),
    ("GET", "/", "", 200, For::Everyone),
    ("GET", "/sessions/main%2Fhelper", "", 200, For::Everyone),
    ("GET", "/assets/none.js", "", 404, For::Everyone),
    ("GET", "/docs", "", 200, For::Everyone),
    ("GET", "/docs/style.css", "", 200, For::Everyone),
    ("GET", "/openapi.json", "", 200, For::Everyone),
    ("GET", "/nothing", "", 404, For::Everyone),
];

/// Routes whose answer never ends.
const ENDLESS: [(&str, &str); 1] = [("GET", "/v1/stream")];

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

/// What a viewer is answered, who sees everything and changes nothing.
fn viewer_gets(whose: For, method: &str, path: &str, good: u16) -> u16 {
    match whose {
        For::Everyone | For::Readers => good,
        // A batch answers for each of its lines.
        For::AnyRole if method != "POST" || path.ends_with("/batch") => good,
        _ => 403,
    }
}

#[test]
fn every_route_answers_every_role_as_the_table_says() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let agents = runtime.block_on(AgentServer::start());
    let server = TestServer::with(|config| config.relay = agents.strict_relay());
    server.check(CALL);
    let stale = server.token(Role::Agent);
    let tokens = TokenFile::beside(&server.home.path().join("sprag.db"));
    tokens.revoke(&tokens.list().unwrap()[0].name).unwrap();
    let [agent, relay, hook, operator, viewer] = Role::ALL.map(|role| server.token(role));
    for &(method, path, body, good, whose) in ROUTES {
        // Everyone has a session of their own: nobody acts in another's.
        let seen = |who: &str, headers: &str| {
            let body = body.replace(r#""s""#, &format!(r#""s-{who}""#));
            server.send(method, path, headers, &body).status
        };
        let case = format!("{method} {path}");
        let open = whose == For::Everyone;
        let any = open || whose == For::AnyRole;
        let nobody = match whose {
            For::Speakers => 403,
            _ if any => good,
            _ => 401,
        };
        assert_eq!(seen("nobody", ""), nobody, "{case}: nobody");
        for (role, token) in [("agent", &agent), ("relay", &relay), ("hook", &hook)] {
            let wanted = match whose {
                For::Hooks if role == "hook" => good,
                For::Speakers | For::Answerers if role != "agent" => good,
                _ if any => good,
                _ => 403,
            };
            assert_eq!(seen(role, &bearer(token)), wanted, "{case}: {role}");
        }
        let wanted = viewer_gets(whose, method, path, good);
        assert_eq!(seen("viewer", &bearer(&viewer)), wanted, "{case}: viewer");
        assert_eq!(
            seen("operator", &bearer(&operator)),
            good,
            "{case}: operator"
        );
        let wanted = if open { good } else { 401 };
        assert_eq!(
            seen("stale", &bearer(&stale)),
            wanted,
            "{case}: a token that was revoked"
        );
        assert_eq!(
            seen("basic", "authorization: Basic abc\r\n"),
            wanted,
            "{case}: no bearer"
        );
        assert_eq!(
            seen("host", "host: evil.example\r\n"),
            421,
            "{case}: another host"
        );
        let foreign = format!("origin: https://evil.example\r\n{}", bearer(&operator));
        assert_eq!(seen("page", &foreign), 403, "{case}: another site's page");
    }
}

#[test]
fn the_table_holds_every_route_of_the_document() {
    let api = serde_json::to_value(sprag_server::openapi()).unwrap();
    let mut missing = Vec::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let pattern: Vec<&str> = path.split('/').collect();
            let fits = |known: &str| {
                let known: Vec<&str> = known.split('/').collect();
                let same = |(part, known): (&&str, &&str)| part.starts_with('{') || part == known;
                known.len() == pattern.len() && pattern.iter().zip(&known).all(same)
            };
            let known = ROUTES.iter().map(|(method, path, ..)| (*method, *path));
            if !known.chain(ENDLESS).any(|(m, p)| m == method && fits(p)) {
                missing.push(format!("{method} {path}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn an_agent_can_neither_reset_itself_nor_play_the_user_on_any_way_in() {
    let server = TestServer::start();
    let events = [
        r#"{"type":"reset","session":"s"}"#,
        r#"{"type":"kill","session":"s"}"#,
        r#"{"type":"message","to":"s","content":"go on"}"#,
        r#"{"type":"dispatch_start","session":"s","flow":"f"}"#,
    ];
    for event in events {
        assert_eq!(over_socket(&server, event), 403, "{event}");
        for role in [None, Some(Role::Agent)] {
            assert_eq!(
                server.ask(role, "POST", "/v1/check", event).status,
                403,
                "{event}"
            );
            let line = server.ask(role, "POST", "/v1/check/batch", event);
            assert_eq!(line.json()["error"]["status"], 403, "{event}");
        }
        assert_eq!(
            server.operator("POST", "/v1/check", event).status,
            200,
            "{event}"
        );
    }
}

#[test]
fn an_agent_on_the_network_can_not_say_that_it_stands_for_many_a_wrapper_on_this_machine_can() {
    let server = TestServer::start();
    let event = r#"{"type":"call","session":"s","tool":"t","identity":"shared"}"#;
    assert_eq!(server.ask(None, "POST", "/v1/check", event).status, 403);
    assert_eq!(
        server
            .ask(Some(Role::Agent), "POST", "/v1/check", event)
            .status,
        403
    );
    assert_eq!(
        server
            .ask(Some(Role::Hook), "POST", "/v1/check", event)
            .status,
        200
    );
    let event = event.replace(r#""s""#, r#""t""#);
    assert_eq!(over_socket(&server, &event), 200);
}

fn over_socket(server: &TestServer, event: &str) -> u16 {
    let length = event.len();
    let answer = server.raw_unix(&format!(
        "POST /v1/check HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{event}"
    ));
    answer.status
}
