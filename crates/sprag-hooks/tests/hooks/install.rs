//! Settings as people write them: our entries go in and come out, and nothing else moves.

use sprag::FailMode;
use sprag_hooks::Client;
use sprag_hooks::install::{
    HookCommand, HookServer, InstallError, events, install, installed_hooks, uninstall,
};

/// Settings that a parser who writes back would spoil.
const ODD: [&str; 10] = [
    "{}\n",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\n\t\"model\": \"opus\", // the big one\n\t/* nothing else */\n}",
    "{ \"model\" : \"opus\" }",
    "{\"model\":\"opus\",\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"lint\"}]}]}}",
    "{\r\n  \"permissions\": {\r\n    \"allow\": [\"Bash\"]\r\n  }\r\n}\r\n",
    "// mine\n{\n    // before\n    \"hooks\": {\n        \"PostToolUse\": [\n            { \"matcher\": \"Edit|Write\", \"hooks\": [ { \"type\": \"command\", \"command\": \"prettier --write\" } ] }, // format\n        ],\n        \"Stop\": [\n            { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] }\n        ]\n    },\n    \"z\": 1.50,\n    \"a\": 1e3,\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"*\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"audit\" }\n        ]\n      }\n      // the end\n    ]\n  }\n}\n",
    "{\n  \"big\": 12345678901234567890123,\n  \"text\": \"\\u00e9 \\/ \\\"hooks\\\"\",\n  \"hooks\": {\n    \"UserPromptSubmit\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"date\" } ] } ]\n  }\n}\n",
    "{\n  \"version\": 1,\n  \"hooks\": {\n    \"preToolUse\": [{ \"command\": \"./audit.sh\" }]\n  }\n}\n",
];

fn line() -> HookCommand {
    HookCommand {
        binary: "/usr/local/bin/sprag".to_owned(),
        project: false,
        shadow: false,
        fail: FailMode::Open,
        server: None,
    }
}

fn posted(token: &str) -> HookCommand {
    HookCommand {
        server: Some(HookServer {
            url: "http://127.0.0.1:7727".to_owned(),
            token: token.to_owned(),
        }),
        ..line()
    }
}

const EDITED: [Client; 4] = [
    Client::Claude,
    Client::Codex,
    Client::Gemini,
    Client::Cursor,
];

#[test]
fn what_is_put_in_comes_out_to_the_byte() {
    for client in EDITED {
        for before in ODD {
            let with = install(client, Some(before), &line()).unwrap();
            let hooks = installed_hooks(client, &with).unwrap();
            assert_eq!(hooks.len(), events(client).len(), "{client}: {with}");
            assert!(
                hooks
                    .iter()
                    .all(|hook| hook.program == "/usr/local/bin/sprag")
            );
            let after = uninstall(client, &with, None).unwrap();
            assert_eq!(
                after.as_deref(),
                Some(before),
                "{client}, with hooks:\n{with}"
            );
        }
    }
}

#[test]
fn doing_it_twice_changes_nothing() {
    for client in Client::ALL {
        let once = install(client, None, &line()).unwrap();
        let twice = install(client, Some(&once), &line()).unwrap();
        assert_eq!(once, twice, "{client}");
    }
    for client in EDITED {
        for before in ODD {
            let once = install(client, Some(before), &line()).unwrap();
            assert_eq!(install(client, Some(&once), &line()).unwrap(), once);
        }
    }
}

#[test]
fn another_way_to_run_them_takes_the_place_of_the_old_one() {
    let shadow = HookCommand {
        shadow: true,
        ..line()
    };
    for client in EDITED {
        for before in ODD {
            let old = install(client, Some(before), &line()).unwrap();
            let new = install(client, Some(&old), &shadow).unwrap();
            assert_eq!(
                installed_hooks(client, &new).unwrap().len(),
                events(client).len()
            );
            assert!(
                installed_hooks(client, &new)
                    .unwrap()
                    .iter()
                    .all(|hook| hook.command.contains(" --shadow;"))
            );
            assert_eq!(
                uninstall(client, &new, None).unwrap().as_deref(),
                Some(before)
            );
        }
    }
}

#[test]
fn hooks_that_are_posted_come_go_and_take_a_new_token() {
    for before in ODD {
        let commands = install(Client::Claude, Some(before), &line()).unwrap();
        let old = install(Client::Claude, Some(&commands), &posted("old")).unwrap();
        assert_eq!(
            install(Client::Claude, Some(&old), &posted("old")).unwrap(),
            old
        );
        let new = install(Client::Claude, Some(&old), &posted("new")).unwrap();
        let hooks = installed_hooks(Client::Claude, &new).unwrap();
        // Nothing can be posted at the start of a session.
        assert_eq!(hooks.len(), events(Client::Claude).len() - 1);
        for hook in hooks {
            assert_eq!(hook.authorization.as_deref(), Some("Bearer new"));
            let address = format!("http://127.0.0.1:7727/v1/hooks/claude?event={}", hook.event);
            assert_eq!(hook.command, address);
        }
        let after = uninstall(Client::Claude, &new, None).unwrap();
        assert_eq!(after.as_deref(), Some(before));
    }
}

#[test]
fn a_hook_of_ours_in_a_group_of_others_is_taken_out_alone() {
    let ours = "sprag hook --client claude --event PreToolUse";
    let before = format!(
        r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{{"command": "lint"}}, {{"command": "{ours}"}}]}}]}}}}"#
    );
    let after = uninstall(Client::Claude, &before, None).unwrap().unwrap();
    assert_eq!(
        after,
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "lint"}]}]}}"#
    );
}

#[test]
fn what_can_not_be_understood_is_not_touched() {
    for (client, text, message) in [
        (Client::Claude, "{\"hooks\": [", "it is not JSON: "),
        (
            Client::Claude,
            "[]",
            "`the whole of it` in it is not what it should be; nothing was changed",
        ),
        (
            Client::Claude,
            "{\"hooks\": []}",
            "`hooks` in it is not what it should be; nothing was changed",
        ),
        (
            Client::Cursor,
            "{\"hooks\": {\"preToolUse\": {}}}",
            "`preToolUse` in it is not what it should be; nothing was changed",
        ),
        (
            Client::Opencode,
            "export const Mine = 1;\n",
            "it was not written by sprag; nothing was changed",
        ),
    ] {
        let error: InstallError = install(client, Some(text), &line()).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn new_files_look_like_this() {
    let mut all = String::new();
    for client in [
        Client::Claude,
        Client::Gemini,
        Client::Copilot,
        Client::Cursor,
    ] {
        let text = install(client, None, &line()).unwrap();
        all += &format!("# {client}\n{text}\n");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_file_of_our_own_goes_as_a_whole() {
    for client in [Client::Copilot, Client::Opencode] {
        let text = install(client, None, &line()).unwrap();
        assert_eq!(uninstall(client, &text, None).unwrap(), None);
        assert!(!installed_hooks(client, &text).unwrap().is_empty());
    }
}

/// What was there before the hooks came stays when they go, also if it is empty.
#[test]
fn empty_hooks_and_a_mark_of_the_byte_order_stay() {
    for before in [
        "{\n  \"hooks\": {}\n}\n",
        "{\"hooks\": {\"PreToolUse\": [], \"BeforeTool\": [], \"preToolUse\": []}}",
        "\u{feff}{\n  \"model\": \"opus\"\n}\n",
        "\u{feff}{\"hooks\": {}}",
    ] {
        for client in EDITED {
            let with = install(client, Some(before), &line()).unwrap();
            assert_eq!(install(client, Some(&with), &line()).unwrap(), with);
            assert_eq!(with.starts_with('\u{feff}'), before.starts_with('\u{feff}'));
            let after = uninstall(client, &with, Some(before)).unwrap();
            assert_eq!(after.as_deref(), Some(before), "{client}");
        }
    }
}

#[test]
fn a_hook_that_was_narrowed_to_some_tools_is_found_out() {
    let text = install(Client::Claude, None, &line()).unwrap();
    let narrowed = text.replacen("\"matcher\":\"*\"", "\"matcher\":\"Bash\"", 1);
    assert_ne!(narrowed, text);
    let hooks = installed_hooks(Client::Claude, &narrowed).unwrap();
    let matchers: Vec<_> = hooks
        .iter()
        .filter_map(|hook| hook.matcher.as_deref())
        .collect();
    assert_eq!(matchers, ["Bash"]);
    assert_eq!(
        install(Client::Claude, Some(&narrowed), &line()).unwrap(),
        text
    );
}
