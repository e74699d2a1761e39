//! What people look for across sessions: groups of stops, spending, agents, flows, and stops that were wrong.

use serde_json::{Value, json};
use sprag::Role;

use crate::test_server::TestServer;

/// Three deletes of one thing: the third is a kill.
fn runs_away(server: &TestServer, session: &str, agent: &str) {
    spends(server, session, agent, 1_000, 0.25);
    for _ in 0..3 {
        let call = json!({"type": "call", "session": session, "agent": agent, "tool": "delete_asset", "args": {"id": "fact_sales"}});
        server.check(&call.to_string());
    }
}

fn spends(server: &TestServer, session: &str, agent: &str, tokens: u64, cost: f64) {
    let usage = json!({"type": "usage", "session": session, "agent": agent, "model": "m-1", "input_tokens": tokens, "output_tokens": 10, "cost_usd": cost});
    server.check(&usage.to_string());
}

/// What a route answers, once the server has counted what happened.
fn counted(server: &TestServer, path: &str, is_there: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..2_000 {
        let answer = server.operator("GET", path, "");
        assert_eq!(answer.status, 200, "{answer:?}");
        let answer = answer.json();
        if is_there(&answer) {
            return answer;
        }
        std::thread::yield_now();
    }
    panic!("{path}: {:?}", server.operator("GET", path, ""));
}

#[test]
fn equal_stops_are_one_group_with_a_count_and_what_they_had_spent() {
    let server = TestServer::start();
    for session in ["nightly-1", "nightly-2", "nightly-3"] {
        runs_away(&server, session, "cleaner");
    }
    runs_away(&server, "other", "janitor");
    let page = counted(&server, "/v1/stops", |page| page["stops"] == 4);
    assert_eq!(page["total"], 2, "{page}");
    let page = counted(&server, "/v1/stops?agent=cleaner", |page| {
        page["stops"] == 3
    });
    let group = &page["items"][0];
    let told = [&group["count"], &group["sessions"], &group["still_stopped"]];
    assert_eq!(told, [3, 3, 3].map(Value::from).each_ref(), "{group}");
    assert_eq!(group["newest"]["rule"], "destructive.volume");
    assert_eq!(group["spent"]["cost_usd"], 0.75, "{group}");
    assert!(group["first"].as_u64() <= group["last"].as_u64());
    for (query, stops) in [
        ("rule=flow.depth", 0),
        ("q=NIGHTLY-2", 1),
        ("shadow=true", 0),
        ("to=1", 0),
        ("sort=cost&limit=1", 4),
    ] {
        let page = counted(&server, &format!("/v1/stops?{query}"), |_| true);
        assert_eq!(page["stops"], stops, "{query}: {page}");
    }
    let path = format!("/v1/stops/{}", group["group"].as_str().unwrap());
    let detail = counted(&server, &path, |_| true);
    assert_eq!(detail["items"].as_array().unwrap().len(), 3, "{detail}");
    assert_eq!(detail["items"][0]["state"], "killed");
}

#[test]
fn what_a_dead_session_is_refused_afterwards_is_not_another_stop() {
    let server = TestServer::start();
    runs_away(&server, "s", "cleaner");
    for _ in 0..5 {
        server.check(r#"{"type":"call","session":"s","tool":"look"}"#);
    }
    let agents = |page: &Value| page["items"][0]["refused"] == 6;
    let page = counted(&server, "/v1/agents", agents);
    assert_eq!(page["items"][0]["stops"], json!({"destructive.volume": 1}));
    assert_eq!(server.operator("GET", "/v1/stops", "").json()["stops"], 1);
}

#[test]
fn a_group_is_reset_as_a_whole_and_the_log_names_who_did_it() {
    let server = TestServer::start();
    for session in ["a", "b"] {
        runs_away(&server, session, "cleaner");
    }
    let page = counted(&server, "/v1/stops", |page| page["stops"] == 2);
    let group = page["items"][0]["group"].as_str().unwrap();
    let order =
        json!({"order": "reset", "group": group, "why": "the catalogue was down", "by": "maria"});
    let answer = server.operator("POST", "/v1/orders", &order.to_string());
    let answer = answer.json();
    assert_eq!(answer["done"], json!(["a", "b"]), "{answer}");
    assert_eq!(answer["by"], "maria (as operator)");
    let page = counted(&server, "/v1/stops", |_| true);
    assert_eq!(page["items"][0]["still_stopped"], 0);
    let killed = json!({"order": "kill", "sessions": ["a", "b", "a"], "why": "enough"});
    let answer = server.operator("POST", "/v1/orders", &killed.to_string());
    assert_eq!(answer.json()["done"], json!(["a", "b"]));
    for wrong in [
        json!({"order": "kill", "group": group, "why": "x"}),
        json!({"order": "reset", "sessions": [], "why": "x"}),
        json!({"order": "reset", "sessions": ["a"], "why": " "}),
        json!({"order": "reset", "group": "nothing", "why": "x"}),
    ] {
        let answer = server.operator("POST", "/v1/orders", &wrong.to_string());
        assert_eq!(answer.status, 400, "{wrong}: {answer:?}");
    }
}

#[test]
fn spend_adds_up_by_agent_session_model_flow_and_day() {
    let server = TestServer::start();
    spends(&server, "a-1", "a", 100, 0.5);
    spends(&server, "a-2", "a", 200, 0.25);
    spends(&server, "b-1", "b", 300, 1.5);
    let reserved = r#"{"type":"usage","session":"a-1","agent":"a","pending":true,"id":"r","input_tokens":9,"cost_usd":9}"#;
    server.operator("POST", "/v1/check", reserved);
    let flow = r#"{"type":"usage","session":"b-1","agent":"b","flow":"f","input_tokens":5,"cost_usd":0.25}"#;
    server.operator("POST", "/v1/check", flow);
    let all = counted(&server, "/v1/spend", |page| page["total"]["requests"] == 4);
    assert_eq!(all["total"]["cost_usd"], 2.5, "{all}");
    assert_eq!(all["items"][0]["name"], "b");
    assert_eq!(all["items"][0]["spend"]["cost_usd"], 1.75);
    let names = |by: &str| {
        let page = counted(&server, &format!("/v1/spend?by={by}"), |_| true);
        let rows = page["items"].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap_or("-").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("session"), ["b-1", "a-1", "a-2"]);
    assert_eq!(names("flow"), ["f"]);
    assert_eq!(names("model"), ["m-1", "-"]);
    assert_eq!((names("day").len(), names("hour").len()), (1, 1));
    let one = counted(&server, "/v1/spend?agent=a&by=session&limit=1", |_| true);
    assert_eq!(
        (&one["rows"], &one["total"]["cost_usd"]),
        (&json!(2), &json!(0.75))
    );
    let sessions = server.operator("GET", "/v1/sessions?q=a-2", "").json();
    assert_eq!(sessions["items"][0]["cost_usd"], 0.25, "{sessions}");
    assert_eq!(sessions["items"][0]["tokens"], 210);
}

#[test]
fn flows_and_agents_are_listed_and_searched() {
    let server = TestServer::start();
    let told = [
        r#"{"type":"message","to":"lead-1","to_agent":"lead","flow":"release"}"#,
        r#"{"type":"message","from":"lead-1","to":"docs-1","to_agent":"docs","flow":"release"}"#,
        r#"{"type":"message","to":"lead-2","to_agent":"lead","flow":"hotfix"}"#,
    ];
    for event in told {
        server.operator("POST", "/v1/check", event);
    }
    let page = counted(&server, "/v1/flows", |page| page["total"] == 2);
    assert_eq!(page["items"][0]["flow"], "hotfix", "{page}");
    for (query, flows) in [
        ("q=DOCS", 1),
        ("agent=lead", 2),
        ("refused=true", 0),
        ("from=99999999999999", 0),
    ] {
        let page = counted(&server, &format!("/v1/flows?{query}"), |_| true);
        assert_eq!(page["total"], flows, "{query}: {page}");
    }
    let release = counted(&server, "/v1/flows?q=release", |_| true);
    let row = &release["items"][0];
    assert_eq!(
        (&row["sessions"], &row["depth"], &row["root"]),
        (&json!(2), &json!(2), &json!("lead-1"))
    );
    let none = server.operator("GET", "/v1/agents/nobody", "").json();
    assert_eq!(none["events"], 0);
}

#[test]
fn what_happened_before_a_restart_is_counted_again_and_no_page_reads_the_log() {
    let server = TestServer::start();
    runs_away(&server, "s-1", "cleaner");
    let server = TestServer::over(server.end(), |_| {});
    let page = counted(&server, "/v1/stops", |page| page["ready"] == true);
    assert_eq!(page["stops"], 1, "{page}");
    assert_eq!(page["items"][0]["spent"]["cost_usd"], 0.25);
    assert_eq!(page["complete_since"], Value::Null);
    runs_away(&server, "s-2", "cleaner");
    let page = counted(&server, "/v1/stops", |page| page["stops"] == 2);
    assert_eq!(page["total"], 1, "{page}");
    let agent = counted(&server, "/v1/agents/cleaner", |agent| {
        agent["sessions"] == 2
    });
    assert_eq!(agent["spend"]["cost_usd"], 0.5);
}

#[test]
fn a_wrong_stop_is_kept_reset_and_answered_with_the_override_that_lets_it_pass() {
    let server = TestServer::start();
    runs_away(&server, "s-1", "cleaner");
    let page = counted(&server, "/v1/stops", |page| page["stops"] == 1);
    let seq = page["items"][0]["newest"]["seq"].as_u64().unwrap();
    let mark = json!({"session": "s-1", "seq": seq, "why": "the asset comes back by itself"});
    let made = server.operator("POST", "/v1/cases", &mark.to_string());
    assert_eq!(made.status, 200, "{made:?}");
    let made = made.json();
    assert_eq!(
        (&made["was_reset"], &made["passes"]),
        (&json!(true), &json!(false))
    );
    let proposal = &made["proposal"];
    assert_eq!(
        proposal["snippet"],
        "[[override]]\nagent = \"cleaner\"\ndestructive.max_calls = 4\ndestructive.max_same_target = 3",
        "{made}"
    );
    assert_eq!(
        server.operator("GET", "/v1/sessions/s-1", "").json()["state"],
        "active"
    );
    let again = server.operator("POST", "/v1/cases", &mark.to_string());
    assert_eq!(again.status, 409, "{again:?}");
    let other = json!({"session": "s-1", "seq": 1, "why": "x"});
    assert_eq!(
        server
            .operator("POST", "/v1/cases", &other.to_string())
            .status,
        404
    );
    let applied = json!({"text": proposal["text"], "why": "wrong stop"});
    assert_eq!(
        server
            .operator("PUT", "/v1/policy", &applied.to_string())
            .status,
        200
    );
    let path = format!("/v1/cases/c{seq}");
    assert_eq!(server.operator("GET", &path, "").json()["passes"], true);
    counted(&server, "/v1/agents/cleaner", |agent| agent["wrong"] == 1);
    let agent = server.operator("GET", "/v1/agents/cleaner", "").json();
    assert_eq!(agent["overrides"].as_array().unwrap().len(), 1, "{agent}");
    assert_eq!(
        server.operator("GET", "/v1/cases", "").json()["items"][0]["case"],
        format!("c{seq}")
    );
}

#[test]
fn a_person_with_a_token_of_their_own_is_named_in_the_log_and_a_viewer_changes_nothing() {
    let server = TestServer::start();
    server.check(r#"{"type":"call","session":"s","tool":"t"}"#);
    let tokens = sprag_server::TokenFile::beside(&server.home.path().join("sprag.db"));
    let now = server.guard.now();
    let login = |token: &str| {
        let body = json!({"token": token}).to_string();
        let answer = server.send("POST", "/v1/login", "", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        format!(
            "authorization: Bearer {}\r\n",
            answer.json()["token"].as_str().unwrap()
        )
    };
    let maria = login(&tokens.add("maria", Role::Operator, now).unwrap());
    let killed = server.send("POST", "/v1/sessions/s/kill", &maria, r#"{"why":"enough"}"#);
    let by = killed.json()["by"].as_str().unwrap().to_owned();
    assert!(by.starts_with("maria (as dashboard-"), "{by}");
    let viewer = login(&tokens.add("vera", Role::Viewer, now).unwrap());
    let me = server.send("GET", "/v1/me", &viewer, "").json();
    assert_eq!(
        (&me["role"], &me["person"]),
        (&json!("viewer"), &json!("vera"))
    );
    assert_eq!(server.send("GET", "/v1/sessions", &viewer, "").status, 200);
    let reset = server.send("POST", "/v1/sessions/s/reset", &viewer, r#"{"why":"x"}"#);
    assert_eq!(reset.status, 403, "{reset:?}");
    // A dashboard ends with the token that opened it.
    tokens.revoke("maria").unwrap();
    assert_eq!(server.send("GET", "/v1/sessions", &maria, "").status, 401);
}
