//! What the dashboard asks of the server beyond what others do.

use serde_json::json;

use crate::test_server::TestServer;

fn seqs(page: &serde_json::Value) -> Vec<u64> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["seq"].as_u64().unwrap()).collect()
}

#[test]
fn a_table_of_sessions_jumps_to_any_place_and_knows_how_many_match() {
    let server = TestServer::start();
    for number in 0..10 {
        server.check(&format!(
            r#"{{"type":"call","session":"s{number}","tool":"t"}}"#
        ));
    }
    let ask = |query: &str| {
        let path = format!("/v1/sessions?sort=id&order=asc&{query}");
        server.operator("GET", &path, "").json()
    };
    let page = ask("offset=7&limit=2");
    assert_eq!(page["items"][0]["id"], "s7");
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    assert_eq!(page["total"], 10);
    assert_eq!(ask("offset=99")["items"], json!([]));
}

#[test]
fn sessions_are_found_by_the_rule_that_fired_last() {
    let server = TestServer::start();
    server.check(r#"{"type":"call","session":"calm","tool":"t"}"#);
    for _ in 0..3 {
        server.check(
            r#"{"type":"call","session":"wild","tool":"delete_asset","args":{"asset_id":"a"}}"#,
        );
    }
    let found = server
        .operator("GET", "/v1/sessions?rule=destructive.volume", "")
        .json();
    assert_eq!(
        (&found["items"][0]["id"], &found["total"]),
        (&"wild".into(), &1.into())
    );
    let wrong = server.operator("GET", "/v1/sessions?rule=no.rule", "");
    assert_eq!(
        (wrong.status, &wrong.json()["field"]),
        (400, &"rule".into())
    );
}

#[test]
fn the_log_is_searched_for_several_verdicts_and_types_at_once() {
    let server = TestServer::start();
    for _ in 0..3 {
        server.check(
            r#"{"type":"call","session":"s","tool":"delete_asset","args":{"asset_id":"a"}}"#,
        );
    }
    server.check(r#"{"type":"step","session":"s","approach":"a","outcome":"b"}"#);
    let found = |query: &str| {
        let path = format!("/v1/log?session=s&order=asc&{query}");
        seqs(&server.operator("GET", &path, "").json()).len()
    };
    assert_eq!(found("verdict=warn,kill"), 3);
    assert_eq!(found("verdict=warn"), 1);
    assert_eq!(found("type=step,reset"), 1);
    assert_eq!(found("verdict=kill&type=call"), 1);
    let wrong = server.operator("GET", "/v1/log?verdict=maybe", "");
    assert_eq!(
        (wrong.status, &wrong.json()["field"]),
        (400, &"verdict".into())
    );
}

#[test]
fn a_policy_is_checked_without_being_taken() {
    let server = TestServer::start();
    let check = |text: &str| {
        let body = json!({ "text": text }).to_string();
        server.operator("POST", "/v1/policy/check", &body)
    };
    let wrong = check("[flow]\nmax_dept = 3\n");
    assert_eq!(
        (wrong.status, &wrong.json()["errors"][0]["line"]),
        (422, &2.into())
    );
    let before = server.operator("GET", "/v1/policy", "").json()["digest"].clone();
    let right = check("[flow]\nmax_depth = 3\n");
    assert_eq!(right.status, 200);
    assert_ne!(right.json()["digest"], before);
    assert_eq!(
        server.operator("GET", "/v1/policy", "").json()["digest"],
        before
    );
}

#[test]
fn the_defaults_name_every_rule_and_what_trips_it() {
    let server = TestServer::start();
    let told = server.operator("GET", "/v1/policy/defaults", "").json();
    let rules = told["rules"].as_array().unwrap();
    assert_eq!(rules.len(), sprag::RuleId::ALL.len());
    assert!(
        rules
            .iter()
            .all(|rule| !rule["trips"].as_str().unwrap().is_empty())
    );
    assert!(told["text"].as_str().unwrap().contains("max_depth = 5"));
}

#[test]
fn who_asks_is_told_who_they_are() {
    let server = TestServer::start();
    let me = server.operator("GET", "/v1/me", "").json();
    assert_eq!(
        (&me["role"], &me["name"]),
        (&"operator".into(), &"operator".into())
    );
    let nobody = server.send("GET", "/v1/me", "", "").json();
    assert_eq!(nobody["role"], "agent");
}

#[test]
fn every_address_of_the_dashboard_answers_the_page_under_a_strict_policy() {
    let server = TestServer::start();
    for path in [
        "/",
        "/sessions",
        "/sessions/a%2Fb",
        "/flows/f",
        "/policy",
        "/log",
        "/login",
    ] {
        let page = server.send("GET", path, "", "");
        assert_eq!(page.status, 200, "{path}");
        let policy = page.header("content-security-policy").unwrap_or_default();
        assert!(
            policy.contains("require-trusted-types-for 'script'"),
            "{path}"
        );
        assert!(!policy.contains("unsafe"), "{path}");
    }
}
