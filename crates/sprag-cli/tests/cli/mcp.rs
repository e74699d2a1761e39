//! `sprag mcp`: the wrapper and the wrapper in clients' settings, as a person would start them.

use crate::sandbox::{Sandbox, feed};

/// A server that answers every call with the same text.
const SERVER: &str = r#"while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"asset still exists"}],"isError":true}}\n' "$id"
done"#;

fn delete(id: u32) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"delete_asset\",\"arguments\":{{\"asset_id\":\"fact_sales\"}}}}}}\n"
    )
}

fn wrapped<'a>(options: &[&'a str], server: &'a str) -> Vec<&'a str> {
    [&["mcp"], options, &["--", "sh", "-c", server]].concat()
}

/// The same call three times, one after the other, as a client would wait for each.
#[test]
fn a_loop_over_two_servers_is_one_loop() {
    let sandbox = Sandbox::new();
    let run = |name: &str, input: String| {
        let args = wrapped(&["--session", "s1", "--name", name], SERVER);
        let output = feed(sandbox.command(&args), input.as_bytes());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        run("one", delete(1)),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"asset still exists\"}],\"isError\":true}}\n"
    );
    assert!(run("two", delete(2)).contains("[sprag]"));
    let third = run("one", delete(3));
    assert!(
        third.contains("session_killed: loop_detected, 3 deletes on asset_id=fact_sales"),
        "{third}"
    );
    let sessions = sandbox.run(&["sessions", "list"]);
    assert!(
        sessions.contains("s1") && sessions.contains("killed"),
        "{sessions}"
    );
    sandbox.run(&["sessions", "reset", "s1", "--why", "mended"]);
    assert!(run("one", delete(4)).contains("asset still exists"));
}

#[test]
fn a_private_guard_keeps_nothing() {
    let sandbox = Sandbox::new();
    let args = wrapped(&["--private"], SERVER);
    insta::assert_snapshot!(sandbox.run_with(&args, delete(1)), @r#"
    exit 0
    --- stdout
    {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"asset still exists"}],"isError":true}}
    "#);
    assert!(!sandbox.path().join(".local").exists());
}

#[test]
fn what_cannot_be_started_is_told_as_a_shell_tells_it() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["mcp", "--private", "--", "no-such-server"]), @"
    exit 127
    --- stderr
    sprag mcp: can't start the server `no-such-server`: No such file or directory (os error 2)
    ");
    sandbox.file("not-a-program", "x");
    insta::assert_snapshot!(sandbox.run(&["mcp", "--private", "--", "./not-a-program"]), @"
    exit 126
    --- stderr
    sprag mcp: can't start the server `./not-a-program`: Permission denied (os error 13)
    ");
    insta::assert_snapshot!(sandbox.run(&["mcp"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <SERVER>...

    Usage: sprag mcp -- <SERVER>...

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(&["mcp", "--session", "a\u{7}b", "--", "true"]), @"
    exit 2
    --- stderr
    error: --session: an id must not hold control characters (found one at byte 1)
    ");
}

#[test]
fn without_a_store_the_fail_mode_decides() {
    let sandbox = Sandbox::new();
    sandbox.file("store/file", "x");
    let open = wrapped(&["--db", "store", "--session", "s1"], SERVER);
    insta::assert_snapshot!(sandbox.run_with(&open, delete(1)), @r#"
    exit 0
    --- stdout
    {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"asset still exists"}],"isError":true}}
    --- stderr
    sprag mcp: the guard does not answer: store: opening it: Is a directory (os error 21); calls go on unguarded (--fail open)
    "#);
    let closed = wrapped(
        &["--db", "store", "--session", "s1", "--fail", "closed"],
        SERVER,
    );
    insta::assert_snapshot!(sandbox.run_with(&closed, delete(1)), @r#"
    exit 0
    --- stdout
    {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"The loop guard can't be reached, and nothing may run without it here (--fail closed). Stop and tell the user."}],"isError":true}}
    --- stderr
    sprag mcp: the guard does not answer: store: opening it: Is a directory (os error 21); calls are refused (--fail closed)
    "#);
}

const SETTINGS: &str = r#"{
  "mcpServers": {
    "catalog": { "command": "sh", "args": ["catalog.sh"] },
    "far": { "type": "http", "url": "https://example.org/mcp" }
  }
}
"#;

/// The path of the binary differs from machine to machine.
fn masked(text: &str) -> String {
    text.replace(env!("CARGO_BIN_EXE_sprag"), "/bin/sprag")
}

#[test]
fn install_shows_what_it_does_and_uninstall_undoes_it() {
    let sandbox = Sandbox::new();
    sandbox.file(".mcp.json", SETTINGS);
    insta::assert_snapshot!(masked(&sandbox.run(&["mcp", "install", "claude", "--dry-run"])), @r#"
    exit 0
    --- stdout
    far is reached over the network or started in a way that is not known: it stays as it is
    --- ~/.mcp.json
    +++ ~/.mcp.json
    @@ -1,5 +1,5 @@
     {
       "mcpServers": {
    -    "catalog": { "command": "sh", "args": ["catalog.sh"] },
    +    "catalog": { "command": "/bin/sprag", "args": ["mcp", "--name", "catalog", "--agent", "claude", "--", "sh", "catalog.sh"] },
         "far": { "type": "http", "url": "https://example.org/mcp" }
       }
    nothing was written
    "#);
    assert_eq!(sandbox.read(".mcp.json"), SETTINGS);
    insta::assert_snapshot!(masked(&sandbox.run(&["mcp", "install", "claude"])), @r#"
    exit 2
    --- stdout
    far is reached over the network or started in a way that is not known: it stays as it is
    --- ~/.mcp.json
    +++ ~/.mcp.json
    @@ -1,5 +1,5 @@
     {
       "mcpServers": {
    -    "catalog": { "command": "sh", "args": ["catalog.sh"] },
    +    "catalog": { "command": "/bin/sprag", "args": ["mcp", "--name", "catalog", "--agent", "claude", "--", "sh", "catalog.sh"] },
         "far": { "type": "http", "url": "https://example.org/mcp" }
       }
    --- stderr
    error: nobody is there to ask; nothing was changed
    next: look at the difference above, then say --yes
    "#);
    assert_eq!(sandbox.read(".mcp.json"), SETTINGS);
    let yes = masked(&sandbox.run(&["mcp", "install", "claude", "--yes"]));
    assert!(yes.contains("written to ~/.mcp.json"), "{yes}");
    assert_eq!(sandbox.backups(), [SETTINGS]);
    insta::assert_snapshot!(masked(&sandbox.run(&["mcp", "install", "claude", "--yes"])), @"
    exit 0
    --- stdout
    catalog goes through Sprag already
    far is reached over the network or started in a way that is not known: it stays as it is
    there is nothing to change in ~/.mcp.json
    ");
    sandbox.run(&["mcp", "uninstall", "claude", "--yes"]);
    assert_eq!(sandbox.read(".mcp.json"), SETTINGS);
    assert!(sandbox.backups().is_empty());
}

/// Claude Code's own file: servers of the user, and of each project.
const CLAUDE: &str = r#"{
  "numStartups": 3,
  "mcpServers": { "notes": { "command": "notes" } },
  "projects": {
    "/home/user/shop": { "allowedTools": [], "mcpServers": { "catalog": { "command": "sh", "args": ["c.sh"] } } },
    "/home/user/empty": { "mcpServers": {} }
  }
}
"#;

#[test]
fn the_servers_of_claude_code_are_found_wherever_it_names_them() {
    let sandbox = Sandbox::new();
    sandbox.file("claude-home/.claude.json", CLAUDE);
    sandbox.file(".mcp.json", SETTINGS);
    let run = |args: &[&str]| {
        let mut command = sandbox.command(args);
        command.env("CLAUDE_CONFIG_DIR", sandbox.path().join("claude-home"));
        sandbox.show(&feed(command, b""))
    };
    run(&["mcp", "install", "claude", "--yes"]);
    let changed = masked(&sandbox.read("claude-home/.claude.json"));
    let wrapped = |name: &str| format!("[\"mcp\", \"--name\", \"{name}\"");
    assert!(changed.contains(&wrapped("notes")), "{changed}");
    assert!(changed.contains(&wrapped("catalog")), "{changed}");
    assert!(sandbox.read(".mcp.json").contains(&wrapped("catalog")));
    run(&["mcp", "uninstall", "claude", "notes", "--yes"]);
    let changed = sandbox.read("claude-home/.claude.json");
    assert!(!changed.contains(&wrapped("notes")), "{changed}");
    assert!(changed.contains(&wrapped("catalog")), "{changed}");
    let told = run(&["mcp", "install", "claude", "nobody", "--yes"]);
    assert!(
        told.contains("error: claude has no MCP server `nobody`\nnext: its servers are catalog, far, notes, catalog\n"),
        "{told}"
    );
    run(&["mcp", "uninstall", "claude", "--yes"]);
    assert_eq!(sandbox.read("claude-home/.claude.json"), CLAUDE);
    assert_eq!(sandbox.read(".mcp.json"), SETTINGS);
}

#[test]
fn install_says_what_is_missing() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["mcp", "install", "codex"]), @"
    exit 2
    --- stderr
    error: codex has no settings at ~/.codex/config.toml
    next: name the file with --file
    ");
    insta::assert_snapshot!(sandbox.run(&["mcp", "install", "emacs"]), @r#"
    exit 2
    --- stderr
    error: invalid value 'emacs' for '<CLIENT>': there is no client "emacs"; known are claude-desktop, claude, cursor, vscode, codex, gemini, copilot, opencode, zed

    For more information, try '--help'.
    "#);
    sandbox
        .file(".mcp.json", "{}")
        .file("odd.json", "{\"mcpServers\": 7}");
    insta::assert_snapshot!(sandbox.run(&["mcp", "install", "claude"]), @"
    exit 2
    --- stderr
    error: ~/.mcp.json names no MCP servers
    next: they stand under `mcpServers`; --file names another file
    ");
    insta::assert_snapshot!(sandbox.run(&["mcp", "install", "claude", "--file", "odd.json"]), @"
    exit 2
    --- stderr
    error: odd.json: `mcpServers` does not hold servers by name
    ");
    sandbox.file(".mcp.json", SETTINGS);
    insta::assert_snapshot!(sandbox.run(&["mcp", "install", "claude", "nobody"]), @"
    exit 2
    --- stderr
    error: claude has no MCP server `nobody`
    next: its servers are catalog, far
    ");
}

#[test]
fn inspect_names_what_counts_as_destructive_and_raise_allows_more_of_it() {
    let sandbox = Sandbox::new();
    sandbox.file(".mcp.json", SETTINGS);
    sandbox.file(
        "catalog.sh",
        r#"read -r line; echo '{"id":1,"result":{"protocolVersion":"2025-06-18"}}'
read -r line; read -r line
echo 'not a message'
echo '{"id":2,"result":{"tools":[{"name":"delete_asset"},{"name":"dropTable"},{"name":"list_assets"}]}}'
read -r line"#,
    );
    let looked = sandbox.run(&["mcp", "install", "claude", "--dry-run", "--inspect"]);
    let after = looked.split("nothing was written\n").nth(1).unwrap();
    insta::assert_snapshot!(after, @"
    catalog: delete_asset, dropTable count as destructive
    3 of them in 60s kill the session; to allow more: sprag policy set destructive.max_calls N --agent claude
    ");
    let raised = sandbox.run(&["mcp", "install", "claude", "--yes", "--raise", "50"]);
    let after = raised.lines().rev().take(2).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(after, @"
    written to ~/.config/sprag/policy.toml
    destructive.max_calls for agent claude: not set → 50
    ");
    insta::assert_snapshot!(sandbox.read(".config/sprag/policy.toml"), @r#"
    [[override]]
    agent = "claude"
    destructive.max_calls = 50
    "#);
}

#[test]
fn a_wrapped_server_does_not_get_the_secrets_of_the_guard() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["mcp", "--private", "--", "sh", "-c", "env >&2"]);
    command.env("SPRAG_REDIS_PASSWORD", "hunter2");
    command.env("SPRAG_WEBHOOK_SECRET", "hunter3");
    command.env("SPRAG_AGENT_TOKEN", "hunter4");
    command.env("SPRAG_OPERATOR_TOKEN", "hunter5");
    command.env("OTHER", "kept");
    let shown = sandbox.show(&feed(command, b""));
    assert!(shown.contains("OTHER=kept"), "{shown}");
    assert!(!shown.contains("hunter"), "{shown}");
}
