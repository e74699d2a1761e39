//! Approved for a project or for an agent: the policy says so from then on.

use serde_json::{Value, json};
use sprag::Role;

use crate::test_server::TestServer;

const POLICY: &str =
    "# ours\n[destructive]\nallow = [\"prisma migrate reset\"] # a test database\n";

fn server() -> TestServer {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("policy.toml"), POLICY).unwrap();
    TestServer::over(home, |_| {})
}

fn run(server: &TestServer, session: &str, root: &str) -> Value {
    let call = json!({"type": "call", "session": session, "agent": "infra", "tool": "Bash", "root": root,
        "args": {"command": "terraform destroy -auto-approve"}});
    server.check(&call.to_string())
}

fn asked(server: &TestServer, session: &str, root: &str) -> String {
    let verdict = run(server, session, root);
    assert_eq!(verdict["verdict"], "ask", "{verdict}");
    format!("/v1/approvals/{}", verdict["approval"].as_str().unwrap())
}

fn policy(server: &TestServer) -> String {
    std::fs::read_to_string(server.home.path().join("policy.toml")).unwrap()
}

#[test]
fn approved_for_a_project_the_command_runs_there_in_every_session_and_nowhere_else() {
    let server = server();
    let path = asked(&server, "s1", "/srv/app");
    let shown = server.operator("GET", &path, "").json();
    assert_eq!(shown["commands"], json!(["terraform destroy"]));
    assert_eq!(shown["root"], "/srv/app");
    let yes = server.operator("POST", &path, r#"{"answer":"approve","scope":"project"}"#);
    assert_eq!(yes.status, 200, "{yes:?}");
    insta::assert_snapshot!(policy(&server), @r#"
    # ours
    [destructive]
    allow = ["prisma migrate reset", "terraform destroy in /srv/app"] # a test database
    "#);
    assert_eq!(run(&server, "s1", "/srv/app")["verdict"], "allow");
    assert_eq!(run(&server, "s2", "/srv/app/")["verdict"], "allow");
    assert_eq!(run(&server, "s3", "/srv/application")["verdict"], "ask");
    assert_eq!(run(&server, "s4", "/srv/other")["verdict"], "ask");
    let history = server.operator("GET", "/v1/policy/history", "").json();
    let note = &history["items"][0]["note"];
    assert!(
        note["why"]
            .as_str()
            .unwrap()
            .contains("terraform destroy in /srv/app"),
        "{note}"
    );
}

#[test]
fn approved_for_an_agent_the_policy_gets_an_override_that_keeps_what_was_allowed() {
    let server = server();
    let path = asked(&server, "s1", "/srv/app");
    let yes = server.operator("POST", &path, r#"{"answer":"approve","scope":"agent"}"#);
    assert_eq!(yes.status, 200, "{yes:?}");
    insta::assert_snapshot!(policy(&server), @r#"
    # ours
    [destructive]
    allow = ["prisma migrate reset"] # a test database

    [[override]]
    agent = "infra"
    destructive.allow = ["prisma migrate reset", "terraform destroy"]
    "#);
    assert_eq!(run(&server, "s2", "/srv/other")["verdict"], "allow");
    let other = json!({"type": "call", "session": "s9", "agent": "web", "tool": "Bash", "root": "/srv/app",
        "args": {"command": "terraform destroy"}});
    assert_eq!(server.check(&other.to_string())["verdict"], "ask");
}

#[test]
fn an_override_with_a_list_of_its_own_gets_the_entry_too() {
    let server = server();
    let text =
        format!("{POLICY}[[override]]\nagent = \"infra\"\ndestructive.allow = [\"git push\"]\n");
    let put = json!({"text": text, "why": "test"}).to_string();
    assert_eq!(server.operator("PUT", "/v1/policy", &put).status, 200);
    let path = asked(&server, "s1", "/srv/app");
    let yes = server.operator("POST", &path, r#"{"answer":"approve","scope":"project"}"#);
    assert_eq!(yes.status, 200, "{yes:?}");
    assert!(
        policy(&server)
            .contains(r#"destructive.allow = ["git push", "terraform destroy in /srv/app"]"#)
    );
    assert_eq!(run(&server, "s2", "/srv/app")["verdict"], "allow");
}

#[test]
fn what_is_no_command_or_names_no_project_is_not_approved_for_good_and_stays_open() {
    let server = server();
    let call = json!({"type": "call", "session": "s1", "tool": "Bash", "args": {"command": "terraform destroy"}});
    let verdict = server.check(&call.to_string());
    let path = format!("/v1/approvals/{}", verdict["approval"].as_str().unwrap());
    for (scope, told) in [("project", "no project folder"), ("agent", "no agent")] {
        let body = format!(r#"{{"answer":"approve","scope":"{scope}"}}"#);
        let refused = server.operator("POST", &path, &body);
        assert_eq!(refused.status, 409, "{refused:?}");
        assert!(refused.body.contains(told), "{refused:?}");
    }
    assert_eq!(server.operator("GET", &path, "").json()["state"], "open");
    assert_eq!(policy(&server), POLICY);
}

#[test]
fn only_an_operator_changes_the_policy_by_an_approval() {
    let server = server();
    let path = asked(&server, "s1", "/srv/app");
    let body = r#"{"answer":"approve","scope":"project"}"#;
    assert_eq!(
        server.ask(Some(Role::Hook), "POST", &path, body).status,
        403
    );
    assert_eq!(policy(&server), POLICY);
    assert_eq!(server.operator("GET", &path, "").json()["state"], "open");
}
