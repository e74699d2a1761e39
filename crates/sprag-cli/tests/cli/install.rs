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
    insta::assert_snapshot!(mask(&install(&sandbox, &["claude", "--yes"])));
    assert_eq!(sandbox.backups(), [SETTINGS]);
    insta::assert_snapshot!(install(&sandbox, &["claude", "--yes"]));
    let said = sandbox.run(&["uninstall", "claude", "--yes"]);
    assert!(
        said.ends_with("Claude Code is no longer guarded: ~/.claude/settings.json\n"),
        "{said}"
    );
    assert_eq!(sandbox.read(".claude/settings.json"), SETTINGS);
    assert!(sandbox.backups().is_empty());
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
    next: fix it by hand, then try again
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
            // What was not there before is gone, but for the state of sprag itself.
            let left: Vec<_> = std::fs::read_dir(sandbox.path())
                .unwrap()
                .flatten()
                .collect();
            let left: Vec<_> = left.iter().map(std::fs::DirEntry::file_name).collect();
            assert_eq!(left, [".local"], "{client} {scope}");
            assert!(!sandbox.path().join(".local/state/sprag/backups").exists());
        }
    }
}

#[test]
fn a_hook_that_a_cargo_clean_would_remove_is_warned_of() {
    let sandbox = Sandbox::new();
    sandbox.file("built/.rustc_info.json", "{}");
    let install = |binary: &str| sandbox.run(&["install", "claude", "--yes", "--binary", binary]);
    let said = install("built/debug/sprag");
    assert!(
        said.contains("careful: ~/built/debug/sprag is the output of a build, and `cargo clean` removes it; better: `cargo install --path crates/sprag-cli`, then install again with that one\n"),
        "{said}"
    );
    let said = install("bin/sprag");
    assert!(!said.contains("careful:"), "{said}");
}

#[test]
fn an_installation_ends_with_what_a_scan_found() {
    let sandbox = Sandbox::new();
    let end = |said: &str| said.lines().last().unwrap().to_owned();
    assert_eq!(
        end(&install(&sandbox, &["claude", "--yes"])),
        "no earlier sessions are found here to scan"
    );
    let sandbox = crate::scan::with_history();
    insta::assert_snapshot!(end(&install(&sandbox, &["claude", "--yes"])), @"so far: 4 sessions, 2 loops in them; a guard would have saved 6 calls and 75 tokens; `sprag scan` shows them");
    sandbox.file(".config/sprag/policy.toml", "nonsense = 1");
    let said = install(&sandbox, &["codex", "--yes"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
}

#[test]
fn uninstall_all_takes_out_every_hook_and_every_wrapper() {
    let sandbox = Sandbox::new();
    let servers = r#"{"mcpServers": {"notes": {"command": "notes"}}}"#;
    sandbox
        .file(".claude/settings.json", SETTINGS)
        .file(".claude.json", servers)
        .file(".cursor/mcp.json", servers);
    install(&sandbox, &["claude", "--yes"]);
    install(&sandbox, &["codex", "--project", "--yes"]);
    sandbox.run(&["mcp", "install", "claude", "--yes"]);
    sandbox.run(&["mcp", "install", "cursor", "--yes"]);
    assert_ne!(sandbox.read(".claude.json"), servers);
    let said = sandbox.run(&["uninstall", "--all", "--yes"]);
    assert!(
        said.ends_with(
            "your log and policy stay; to remove them too: rm -r '~/.local/state/sprag'\n"
        ),
        "{said}"
    );
    assert_eq!(sandbox.read(".claude/settings.json"), SETTINGS);
    assert_eq!(sandbox.read(".claude.json"), servers);
    assert_eq!(sandbox.read(".cursor/mcp.json"), servers);
    assert!(!sandbox.path().join(".codex").exists());
    let said = sandbox.run(&["uninstall", "--all", "--yes"]);
    assert!(
        said.contains("no settings here have anything of sprag in them\n"),
        "{said}"
    );
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

#[cfg(unix)]
fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn a_copy_of_settings_keeps_their_mode_and_stays_out_of_the_repository() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    sandbox.file(
        "repo/.claude/settings.json",
        "{\"env\": {\"KEY\": \"secret\"}}\n",
    );
    let settings = sandbox.path().join("repo/.claude/settings.json");
    std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = sandbox.command(&["install", "claude", "--project", "--yes"]);
    command.current_dir(sandbox.path().join("repo"));
    let said = sandbox.show(&crate::sandbox::feed(command, b""));
    assert!(said.starts_with("exit 0\n"), "{said}");
    let beside = std::fs::read_dir(settings.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 1);
    let folder = sandbox.path().join(".local/state/sprag/backups");
    let copies: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(mode(&copies[0].path()), 0o600);
    assert_eq!(mode(&settings), 0o600);
}

#[cfg(unix)]
#[test]
fn the_token_of_posted_hooks_is_neither_printed_nor_readable_by_others() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".local/state/sprag/hook.token",
        "sprag-hook-0123456789abcdef\n",
    );
    sandbox.file(".claude/settings.json", "{}\n");
    let said = sandbox.run(&["install", "claude", "--http", "--yes"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    assert!(!said.contains("0123456789abcdef"), "{said}");
    assert!(
        sandbox
            .read(".claude/settings.json")
            .contains("0123456789abcdef")
    );
    assert_eq!(mode(&sandbox.path().join(".claude/settings.json")), 0o600);
    let said = sandbox.run(&["uninstall", "claude", "--yes"]);
    assert_eq!(sandbox.read(".claude/settings.json"), "{}\n", "{said}");
}

#[test]
fn all_clients_that_are_found_are_guarded_at_once() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(&["install", "--all", "--yes"]);
    assert!(said.contains("no agent CLI is found here"), "{said}");
    sandbox.file(".codex/config.toml", "");
    sandbox.file(".copilot/config.json", "{}");
    sandbox.file("bin/claude", "");
    let mut command = sandbox.command(&["install", "--all", "--yes"]);
    command.env("PATH", sandbox.path().join("bin"));
    let said = sandbox.show(&crate::sandbox::feed(command, b""));
    for title in ["Claude Code", "Codex CLI", "Copilot CLI"] {
        assert!(said.contains(&format!("{title} is guarded: ")), "{said}");
    }
    assert_eq!(said.matches(" is guarded: ").count(), 3, "{said}");
    let said = sandbox.run(&["uninstall", "--all", "--yes"]);
    assert_eq!(said.matches(" is no longer guarded: ").count(), 3, "{said}");
    let said = sandbox.run(&["uninstall", "--all", "--yes"]);
    assert_eq!(
        said,
        "exit 0\n--- stdout\nno settings here have anything of sprag in them\nyour log and policy stay; to remove them too: rm -r '~/.local/state/sprag'\n"
    );
}

#[test]
fn gemini_has_its_settings_where_its_own_variable_says() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["install", "gemini", "--yes"]);
    command.env("GEMINI_CLI_HOME", sandbox.path().join("elsewhere"));
    let said = sandbox.show(&crate::sandbox::feed(command, b""));
    assert!(said.contains("~/elsewhere/.gemini/settings.json"), "{said}");
    assert!(
        sandbox
            .read("elsewhere/.gemini/settings.json")
            .contains("BeforeTool")
    );
}

#[test]
fn commands_survive_that_the_program_is_gone_and_a_session_starts_with_a_word_about_it() {
    for client in ["claude", "codex", "gemini", "copilot", "cursor"] {
        let sandbox = Sandbox::new();
        let program = sandbox.path().join("gone/sprag");
        let program = program.to_str().unwrap();
        sandbox.run(&["install", client, "--yes", "--binary", program]);
        let files = [
            ".claude/settings.json",
            ".codex/hooks.json",
            ".gemini/settings.json",
            ".copilot/hooks/sprag.json",
            ".cursor/hooks.json",
        ];
        let file = files.iter().find(|file| file.contains(client)).unwrap();
        let settings: serde_json::Value = serde_json::from_str(&sandbox.read(file)).unwrap();
        for (event, entries) in settings["hooks"].as_object().unwrap() {
            let entry = &entries[0];
            let hook = entry["hooks"].get(0).unwrap_or(entry);
            let command = hook["command"].as_str().or(hook["bash"].as_str()).unwrap();
            let output = std::process::Command::new("sh")
                .args(["-c", command])
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            assert!(output.status.success(), "{client} {event}");
            let said = String::from_utf8(output.stdout).unwrap();
            let starts = event.eq_ignore_ascii_case("SessionStart");
            assert_eq!(
                said.contains("nothing is checked"),
                starts,
                "{client} {event}: {said}"
            );
            if starts {
                serde_json::from_str::<serde_json::Value>(&said).unwrap();
            }
        }
    }
}

#[test]
fn the_doctor_follows_a_real_hook_into_the_store() {
    for client in ["claude", "gemini", "copilot", "cursor", "opencode"] {
        let sandbox = Sandbox::new();
        sandbox.run(&["install", client, "--yes"]);
        let said = sandbox.run(&["doctor"]);
        assert!(said.starts_with("exit 0\n"), "{client}: {said}");
        assert!(
            said.contains("a hook that was sent now reached the store"),
            "{client}: {said}"
        );
        assert!(said.contains("not used yet"), "{client}: {said}");
        let log = sandbox.run(&["log", "tail"]);
        assert!(log.contains("sprag-doctor-"), "{log}");
        // The store is a folder now: the hook can't get there.
        let db = sandbox.path().join(".local/state/sprag/sprag.db");
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", db.display()));
        }
        std::fs::create_dir(&db).unwrap();
        let said = sandbox.run(&["doctor"]);
        assert!(said.starts_with("exit 1\n"), "{client}: {said}");
        assert!(said.contains("did not reach the store"), "{client}: {said}");
    }
}

#[test]
fn the_doctor_sees_a_pause_shadow_and_narrowed_hooks() {
    let sandbox = Sandbox::new();
    sandbox.run(&["install", "claude", "--shadow", "--yes"]);
    let text = sandbox.read(".claude/settings.json");
    sandbox.run(&["install", "gemini", "--yes"]);
    let said = sandbox.run(&["doctor"]);
    assert!(
        said.contains("hooks in shadow: they stop nothing"),
        "{said}"
    );
    assert!(text.contains("\"matcher\":\"*\""), "{text}");
    sandbox.file(
        ".claude/settings.json",
        text.replacen("\"matcher\":\"*\"", "\"matcher\":\"Bash\"", 1),
    );
    let said = sandbox.run(&["pause", "--for", "10m", "--why", "test"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let said = sandbox.run(&["doctor"]);
    assert!(said.contains("that sees only `Bash`"), "{said}");
    assert!(
        said.contains("the guard is paused: it stops nothing"),
        "{said}"
    );
}

#[test]
fn problems_of_the_past_are_listed_once() {
    let sandbox = Sandbox::new();
    sandbox.run(&["install", "claude", "--yes"]);
    sandbox.run_with(
        &["hook", "--client", "claude", "--event", "PreToolUse"],
        "garbage",
    );
    let said = sandbox.run(&["doctor"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    assert!(
        said.contains("earlier, some could not be answered:"),
        "{said}"
    );
    let said = sandbox.run(&["doctor"]);
    assert!(!said.contains("earlier"), "{said}");
}
