//! `sprag panic`, `sprag calm`, and the file `panic` beside the store.

use crate::sandbox::Sandbox;

const READ: &str = r#"{"type":"call","session":"s1","tool":"read"}"#;

/// The folder of the store, seen from the sandbox.
const STATE: &str = ".local/state/sprag";

fn started() -> Sandbox {
    let sandbox = Sandbox::new();
    assert!(is_allowed(&sandbox));
    sandbox
}

/// Whether a call in a process of its own is allowed; if it is not, a panic is the reason.
fn is_allowed(sandbox: &Sandbox) -> bool {
    let output = sandbox.run_with(&["check"], READ);
    let allowed = output.contains("\"verdict\":\"allow\"");
    assert!(allowed != output.contains("\"code\":\"panic\""), "{output}");
    allowed
}

#[test]
fn a_panic_refuses_what_agents_do_in_later_processes_until_it_is_ended() {
    let sandbox = started();
    insta::assert_snapshot!(sandbox.run(&["panic", "--why", "it deletes mail", "--yes"]), @"
    exit 0
    --- stdout
    everything that agents do is refused from now on; users' words pass
    `sprag calm --why …` ends it
    ");
    assert!(!is_allowed(&sandbox));
    insta::assert_snapshot!(sandbox.run(&["calm", "--why", "found it", "--yes"]), @"
    exit 0
    --- stdout
    calm: agents are judged by the rules again
    ");
    assert!(is_allowed(&sandbox));
    insta::assert_snapshot!(sandbox.run(&["calm", "--why", "again", "--yes"]), @"
    exit 0
    --- stdout
    there was no panic
    ");
}

#[test]
fn a_panic_without_a_person_to_confirm_it_or_a_reason_is_not_begun() {
    let sandbox = started();
    for args in [
        ["panic", "--why", "it deletes mail"].as_slice(),
        &["panic", "--yes"],
    ] {
        let output = sandbox.run(args);
        assert!(!output.starts_with("exit 0"), "{output}");
    }
    assert!(is_allowed(&sandbox));
}

#[test]
fn the_file_panic_beside_the_store_refuses_everything_and_outlives_calm() {
    let sandbox = started();
    sandbox.file(&format!("{STATE}/panic"), "the disk is full\n");
    assert!(!is_allowed(&sandbox));
    insta::assert_snapshot!(sandbox.run(&["calm", "--why", "trying", "--yes"]), @"
    exit 0
    --- stdout
    the file `panic` beside the store keeps the panic in force: remove it
    ");
    assert!(!is_allowed(&sandbox));
    std::fs::remove_file(sandbox.path().join(STATE).join("panic")).expect("it is there");
    assert!(is_allowed(&sandbox));
}
