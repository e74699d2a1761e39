//! `sprag approvals`, `sprag approve` and `sprag decline`, and what a person has to confirm.

use crate::mask::mask;
use crate::sandbox::Sandbox;

const POLICY: &str = "[rules]\n\"access.denied\" = \"ask\"\n[access]\ndeny = [\"rm_*\"]\n";
const CALL: &str = r#"{"type":"call","session":"s1","agent":"cleaner","tool":"rm_all"}"#;

/// A store with one open question, and its code.
fn asked() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    sandbox.file(".config/sprag/policy.toml", POLICY);
    let told = sandbox.run_with(&["check"], CALL);
    let (_, rest) = told.split_once(r#""approval":""#).expect("it asks");
    let code = rest.split('"').next().expect("a code").to_owned();
    (sandbox, code)
}

#[test]
fn a_question_is_shown_and_approved_once() {
    let (sandbox, code) = asked();
    let shown = sandbox.run(&["approvals"]);
    let head =
        format!("exit 0\n--- stdout\n{code}  rm_all\n    session s1 (agent cleaner), open for ");
    assert!(shown.starts_with(&head), "{shown}");
    assert!(
        shown.contains("access.denied: Tool rm_all is not allowed by the policy"),
        "{shown}"
    );
    let json = sandbox.run(&["approvals", "--json"]);
    assert!(json.contains(&format!(r#""approval": "{code}""#)), "{json}");
    let approved = sandbox.run(&["approve", &code, "--yes", "--why", "its job"]);
    assert_eq!(
        approved,
        format!(
            "exit 0\n--- stdout\napproved {code}: rm_all of session s1\nthe agent may now make the same call again\n"
        )
    );
    assert!(
        sandbox
            .run_with(&["check"], CALL)
            .contains(r#""verdict":"allow""#)
    );
    assert!(
        sandbox
            .run(&["approvals"])
            .contains("nothing waits for an answer")
    );
    let again = sandbox.run(&["approve", &code, "--yes"]);
    assert!(again.contains("is not open"), "{again}");
    let log = sandbox.run(&["log", "tail", "--json"]);
    assert!(log.contains("(no terminal)"), "{log}");
}

#[test]
fn a_declined_call_is_refused_with_the_reason() {
    let (sandbox, code) = asked();
    let declined = sandbox.run(&["decline", &code, "--yes", "--why", "production"]);
    assert!(declined.contains(&format!("declined {code}")), "{declined}");
    let told = sandbox.run_with(&["check"], CALL);
    assert!(
        told.contains("(production)") && told.contains(r#""verdict":"deny""#),
        "{told}"
    );
}

#[test]
fn without_a_terminal_nothing_is_loosened_unless_somebody_says_yes() {
    let (sandbox, code) = asked();
    for args in [
        &["approve", &code][..],
        &["decline", &code],
        &["sessions", "reset", "s1", "--why", "x"],
        &["sessions", "kill", "s1", "--why", "x"],
        &["pause"],
        &["resume"],
        &["policy", "set", "flow.max_depth", "9"],
    ] {
        let told = sandbox.run_unconfirmed(args, "y\n");
        assert!(told.starts_with("exit 2"), "{args:?}: {told}");
        assert!(
            told.contains("there is no terminal to ask on"),
            "{args:?}: {told}"
        );
        assert!(told.contains("--yes"), "{args:?}: {told}");
    }
    assert!(sandbox.run(&["approvals"]).contains(&code));
    assert_eq!(sandbox.read(".config/sprag/policy.toml"), POLICY);
}

#[test]
fn a_code_that_nobody_asked_is_told_as_such() {
    let (sandbox, _) = asked();
    insta::assert_snapshot!(mask(&sandbox.run(&["approve", "k7f3", "--yes"])), @"
    exit 2
    --- stderr
    error: there is no approval k7f3
    next: `sprag approvals` shows what is open
    ");
}

#[test]
fn approved_for_a_project_the_command_is_in_the_policy() {
    let sandbox = Sandbox::new();
    let call = |root: &str| {
        format!(
            r#"{{"type":"call","session":"s1","tool":"Bash","root":"{root}","args":{{"command":"terraform destroy"}}}}"#
        )
    };
    let told = sandbox.run_with(&["check"], call("/srv/app"));
    let (_, rest) = told.split_once(r#""approval":""#).expect("it asks");
    let code = rest.split('"').next().expect("a code");
    let approved = sandbox.run(&["approve", code, "--scope", "project", "--yes"]);
    assert!(
        approved.ends_with("the policy now allows `terraform destroy` in /srv/app\n"),
        "{approved}"
    );
    insta::assert_snapshot!(sandbox.read(".config/sprag/policy.toml"), @r#"
    [destructive]
    allow = ["terraform destroy in /srv/app"]
    "#);
    let passes = sandbox.run_with(&["check"], call("/srv/app").replace("s1", "s2"));
    assert!(passes.contains(r#""verdict":"allow""#), "{passes}");
    let elsewhere = sandbox.run_with(&["check"], call("/srv/other").replace("s1", "s3"));
    assert!(elsewhere.contains(r#""verdict":"ask""#), "{elsewhere}");
}

#[test]
fn what_is_no_command_is_not_approved_for_good() {
    let (sandbox, code) = asked();
    insta::assert_snapshot!(mask(&sandbox.run(&["approve", &code, "--scope", "agent", "--yes"])), @"
    exit 2
    --- stderr
    error: no command of this call can be allowed for good: approve it for `once` or `session`
    ");
    assert!(sandbox.run(&["approvals"]).contains(&code));
}
