//! `sprag install`, `uninstall` and `doctor` as a person runs them.

use crate::mask::mask;
use crate::sandbox::Sandbox;

const SETTINGS: &str = "{\n  // the big one\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }],\n  },\n}\n";

fn install(sandbox: &Sandbox, args: &[&str]) -> String {
    let all = [&["install"], args, &["--binary", "/usr/bin/sprag"]].concat();
    sandbox.run(&all)
}

#[test]
fn the_change_is_shown_and_the_file_before_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.file(".claude/settings.json", SETTINGS);
    insta::assert_snapshot!(install(&sandbox, &["claude", "--yes"]));
    assert_eq!(sandbox.read(".claude/settings.json.before-sprag"), SETTINGS);
    insta::assert_snapshot!(install(&sandbox, &["claude", "--yes"]));
    let said = sandbox.run(&["uninstall", "claude", "--yes"]);
    assert!(
        said.ends_with("Claude Code is no longer guarded: ~/.claude/settings.json\n"),
        "{said}"
    );
    assert_eq!(sandbox.read(".claude/settings.json"), SETTINGS);
    assert!(
        !sandbox
            .path()
            .join(".claude/settings.json.before-sprag")
            .exists()
    );
    let said = sandbox.run(&["uninstall", "claude", "--yes"]);
    assert_eq!(
        said,
        "exit 0\n--- stdout\nClaude Code: there are no hooks of sprag in ~/.claude/settings.json\n"
    );
}

#[test]
fn nothing_is_changed_where_nobody_can_be_asked() {
    let sandbox = Sandbox::new();
    sandbox.file(".claude/settings.json", SETTINGS);
    let said = install(&sandbox, &["claude"]);
    assert!(said.starts_with("exit 2\n"), "{said}");
    assert!(said.ends_with("error: nobody is there to ask; nothing was changed\nnext: look at the difference above, then say --yes\n"), "{said}");
    assert_eq!(sandbox.read(".claude/settings.json"), SETTINGS);
}

#[test]
fn settings_that_are_broken_stay_as_they_are() {
    let sandbox = Sandbox::new();
    sandbox.file(".gemini/settings.json", "{\"hooks\": 3}");
    insta::assert_snapshot!(install(&sandbox, &["gemini", "--yes"]), @"
    exit 2
    --- stderr
    error: can't use ~/.gemini/settings.json: `hooks` in it is not what it should be; nothing was changed
    next: mend it by hand, then try again
    ");
    assert_eq!(sandbox.read(".gemini/settings.json"), "{\"hooks\": 3}");
}

#[test]
fn every_client_can_be_guarded_and_freed() {
    for client in ["claude", "codex", "gemini", "copilot", "cursor", "opencode"] {
        for scope in ["--user", "--project"] {
            let sandbox = Sandbox::new();
            let said = install(&sandbox, &[client, scope, "--yes"]);
            assert!(said.starts_with("exit 0\n"), "{said}");
            let said = sandbox.run(&["uninstall", client, scope, "--yes"]);
            assert!(
                said.contains("no longer guarded"),
                "{client} {scope}: {said}"
            );
        }
    }
}

#[test]
fn the_doctor_finds_what_keeps_hooks_from_firing() {
    let sandbox = Sandbox::new();
    sandbox.file("bin/codex", "");
    install(&sandbox, &["claude", "--yes"]);
    install(&sandbox, &["codex", "--yes"]);
    sandbox.run(&["install", "gemini", "--yes"]);
    let text = sandbox.read(".gemini/settings.json");
    let text = text.replacen('{', "{ \"hooksConfig\": { \"enabled\": false },", 1);
    sandbox.file(
        ".gemini/settings.json",
        text.replace("BeforeAgent", "BeforeNothing"),
    );
    install(&sandbox, &["copilot", "--project", "--yes"]);
    insta::assert_snapshot!(mask(&sandbox.run(&["doctor"])));
}

#[test]
fn the_doctor_has_nothing_to_say_where_all_is_well() {
    let sandbox = Sandbox::new();
    sandbox.run(&["install", "claude", "--yes"]);
    let payload = r#"{"hook_event_name":"PreToolUse","session_id":"s1","transcript_path":"t","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    sandbox.run_with(&["hook", "--client", "claude"], payload);
    insta::assert_snapshot!(mask(&sandbox.run(&["doctor"])));
    let json = sandbox.run(&["doctor", "--json"]);
    assert!(json.contains("\"problems\": 0"), "{json}");
}

#[test]
fn a_client_that_is_not_guarded_is_told_how() {
    let sandbox = Sandbox::new();
    sandbox.file("bin/claude", "");
    let mut command = sandbox.command(&["doctor"]);
    command.env("PATH", sandbox.path().join("bin"));
    let said = sandbox.show(&crate::sandbox::feed(command, b""));
    assert!(said.contains("found here, and not guarded"), "{said}");
    assert!(said.contains("fix: sprag install claude"), "{said}");
}
