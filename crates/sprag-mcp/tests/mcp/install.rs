//! The wrapper in clients' settings: in, out, and every other byte as it was.

use sprag_mcp::install::{McpClient, Wrapper, entries, install, uninstall};

fn wrapper() -> Wrapper {
    Wrapper {
        program: "/usr/bin/sprag".to_owned(),
        options: vec!["--agent".to_owned(), "a".to_owned()],
    }
}

const CURSOR: &str = r#"{
  // ours
  "mcpServers": {
    "catalog": {
      "command": "npx",
      "args": [
        "-y",   // no questions
        "catalog-server",
      ],
      "env": { "TOKEN": "x" }
    },
    "bare": { "command": "./serve it" },
    "lines": {
      "command": "serve"
    },
    "empty": { "args": [], "command": "e" },
    "far": { "url": "https://example.org/mcp" },
    "odd": { "command": "x", "args": ["a", 7] }
  },
  "other": [1, 2.50, "é"]
}
"#;

const ZED: &str = r#"{
    "theme": "One", // mine
    "context_servers": {
        "old": { "command": { "path": "node", "args": ["server.js"], "env": null } },
        "new": { "source": "custom", "command": "node", "args": ["server.js"] }
    }
}"#;

const CODEX: &str = r#"model = "m" # mine

[mcp_servers.catalog]
command = "npx" # fetches it
args = ["-y", "catalog-server"]
[mcp_servers.catalog.env]
TOKEN = "x"

[mcp_servers.bare]
command = 'serve'

[mcp_servers]
inline = { command = "i" }

[mcp_servers.far]
url = "https://example.org/mcp"
"#;

#[test]
fn only_what_starts_a_server_changes() {
    insta::assert_snapshot!(install(McpClient::Cursor, CURSOR, &[], &wrapper()).unwrap(), @r#"
    {
      // ours
      "mcpServers": {
        "catalog": {
          "command": "/usr/bin/sprag",
          "args": [
            "mcp", "--name", "catalog", "--agent", "a", "--", "npx", "-y",   // no questions
            "catalog-server",
          ],
          "env": { "TOKEN": "x" }
        },
        "bare": { "command": "/usr/bin/sprag", "args": ["mcp", "--name", "bare", "--agent", "a", "--", "./serve it"] },
        "lines": {
          "command": "/usr/bin/sprag",
          "args": ["mcp", "--name", "lines", "--agent", "a", "--", "serve"]
        },
        "empty": { "args": ["mcp", "--name", "empty", "--agent", "a", "--", "e"], "command": "/usr/bin/sprag" },
        "far": { "url": "https://example.org/mcp" },
        "odd": { "command": "x", "args": ["a", 7] }
      },
      "other": [1, 2.50, "é"]
    }
    "#);
    insta::assert_snapshot!(install(McpClient::Zed, ZED, &[], &wrapper()).unwrap(), @r#"
    {
        "theme": "One", // mine
        "context_servers": {
            "old": { "command": { "path": "/usr/bin/sprag", "args": ["mcp", "--name", "old", "--agent", "a", "--", "node", "server.js"], "env": null } },
            "new": { "source": "custom", "command": "/usr/bin/sprag", "args": ["mcp", "--name", "new", "--agent", "a", "--", "node", "server.js"] }
        }
    }
    "#);
    insta::assert_snapshot!(install(McpClient::Codex, CODEX, &[], &wrapper()).unwrap(), @r#"
    model = "m" # mine

    [mcp_servers.catalog]
    command = "/usr/bin/sprag" # fetches it
    args = ["mcp", "--name", "catalog", "--agent", "a", "--", "npx", "-y", "catalog-server"]
    [mcp_servers.catalog.env]
    TOKEN = "x"

    [mcp_servers.bare]
    command = "/usr/bin/sprag"
    args = ["mcp", "--name", "bare", "--agent", "a", "--", 'serve']

    [mcp_servers]
    inline = { command = "/usr/bin/sprag", args = ["mcp", "--name", "inline", "--agent", "a", "--", "i"] }

    [mcp_servers.far]
    url = "https://example.org/mcp"
    "#);
}

#[test]
fn in_and_out_again_is_nothing_and_twice_in_is_once() {
    for (client, text) in [
        (McpClient::Cursor, CURSOR),
        (McpClient::Zed, ZED),
        (McpClient::Codex, CODEX),
    ] {
        let once = install(client, text, &[], &wrapper()).unwrap();
        assert_ne!(once, text);
        assert_eq!(
            install(client, &once, &[], &wrapper()).unwrap(),
            once,
            "{client}"
        );
        assert_eq!(uninstall(client, &once, &[]).unwrap(), text, "{client}");
        assert_eq!(uninstall(client, text, &[]).unwrap(), text, "{client}");
    }
}

#[test]
fn one_server_can_be_meant() {
    let names = ["catalog".to_owned()];
    let new = install(McpClient::Cursor, CURSOR, &names, &wrapper()).unwrap();
    assert_eq!(new.matches("/usr/bin/sprag").count(), 1);
    let nobody = install(
        McpClient::Cursor,
        CURSOR,
        &["nobody".to_owned()],
        &wrapper(),
    );
    assert_eq!(
        nobody.unwrap_err().to_string(),
        "there is no server `nobody`"
    );
}

#[test]
fn what_is_behind_the_wrapper_is_still_known() {
    let once = install(McpClient::Codex, CODEX, &[], &wrapper()).unwrap();
    let catalog = entries(McpClient::Codex, &once)
        .unwrap()
        .remove(0)
        .launch
        .unwrap();
    assert!(catalog.is_wrapped());
    assert_eq!(
        catalog.inner(),
        (
            "npx",
            ["-y".to_owned(), "catalog-server".to_owned()].as_slice()
        )
    );
    assert_eq!(catalog.env, [("TOKEN".to_owned(), "x".to_owned())]);
}

#[test]
fn what_is_not_settings_is_said_to_be_none() {
    for (client, text, error) in [
        (
            McpClient::Cursor,
            "{",
            "not JSON: Unterminated object on line 1 column 1",
        ),
        (
            McpClient::Cursor,
            "[]",
            "`mcpServers` does not hold servers by name",
        ),
        (
            McpClient::VsCode,
            r#"{"servers":7}"#,
            "`servers` does not hold servers by name",
        ),
        (
            McpClient::Codex,
            "mcp_servers = 7",
            "`mcp_servers` does not hold servers by name",
        ),
    ] {
        assert_eq!(entries(client, text).unwrap_err().to_string(), error);
    }
    assert!(
        entries(McpClient::Codex, "a = ")
            .unwrap_err()
            .to_string()
            .starts_with("not TOML: ")
    );
    assert_eq!(entries(McpClient::Cursor, "").unwrap(), []);
    assert_eq!(entries(McpClient::Zed, "{}").unwrap(), []);
}

#[test]
fn opencode_has_program_and_arguments_in_one_list() {
    const SETTINGS: &str = r#"{
  "mcp": {
    "catalog": { "type": "local", "command": ["node", "catalog.js"], "environment": { "A": "b" } },
    "bare": { "type": "local", "command": ["server"] }, // no arguments
    "far": { "type": "remote", "url": "https://example.org/mcp" }
  }
}
"#;
    let wrapped = install(McpClient::Opencode, SETTINGS, &[], &wrapper()).unwrap();
    let found = entries(McpClient::Opencode, &wrapped).unwrap();
    let inner: Vec<_> = found
        .iter()
        .filter_map(|entry| entry.launch.as_ref())
        .map(|launch| {
            (
                launch.is_wrapped(),
                launch.inner().0.to_owned(),
                launch.inner().1.len(),
            )
        })
        .collect();
    assert_eq!(
        inner,
        [(true, "node".to_owned(), 1), (true, "server".to_owned(), 0)]
    );
    let free = uninstall(McpClient::Opencode, &wrapped, &[]).unwrap();
    assert_eq!(free, SETTINGS);
}

/// People learn one name for a client.
#[test]
fn clients_have_the_names_that_their_hooks_have() {
    for name in ["claude", "codex", "gemini", "copilot", "cursor", "opencode"] {
        let client: McpClient = name.parse().unwrap();
        assert_eq!((client.as_str(), client.agent()), (name, name));
    }
}
