//! The server's relay, the agents' tools and the demo, as processes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A process that is ended with the test.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    pub(crate) fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut command = sandbox.command(args);
        // What a process that is killed leaves behind goes with the sandbox.
        command.env("TMPDIR", sandbox.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, lines }
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    fn send(&mut self, message: &Value) {
        let input = self.child.stdin.as_mut().expect("its input");
        writeln!(input, "{message}").expect("it reads");
    }

    fn ask(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer: Value = serde_json::from_str(&self.line()).expect("an answer");
        assert_eq!(answer["id"], id);
        answer["result"].clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_agents_tools_reach_the_relay_over_the_socket_and_tell_what_it_says() {
    let sandbox = Sandbox::new();
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--db",
        "trial.db",
        "--upstream",
        "http://127.0.0.1:9",
    ];
    let mut server = Running::start(&sandbox, &serve);
    assert!(server.line().starts_with("listening on 127.0.0.1:"));

    let tools = ["agent-tools", "--session", "1", "--db", "trial.db"];
    let mut tools = Running::start(&sandbox, &tools);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let hello = tools.ask(1, "initialize", hello);
    assert_eq!(hello["serverInfo"]["name"], "sprag-agent-tools");
    tools.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let call = json!({"name": "send_agent_message", "arguments": {"to": "2", "message": "hi"}});
    let result = tools.ask(2, "tools/call", call);
    assert_eq!(result["isError"], true);
    assert_eq!(
        result["content"][0]["text"],
        "Agent call rejected: correlation ID required for agent-initiated calls\n\
         You can write to others only while you work on a message. Say it in your answer instead."
    );
}

#[test]
fn the_demo_says_what_it_is_and_where() {
    let sandbox = Sandbox::new();
    let mut demo = Running::start(&sandbox, &["serve", "--demo", "--listen", "127.0.0.1:0"]);
    let mut text = Vec::new();
    while text
        .last()
        .is_none_or(|line: &String| line != "Nothing leaves this machine.")
    {
        text.push(demo.line());
        assert!(text.len() < 40, "{text:#?}");
    }
    assert!(
        text[2].starts_with("operator     http://127.0.0.1:"),
        "{text:#?}"
    );
    assert_eq!(
        text[5..7],
        [
            "This is a demo. Nine small stories play in it, through the API and the relay of this very server:",
            "honest work that is left alone, and agents that go wrong. Within a minute you have seen every verdict.",
        ]
    );
    assert_eq!(text[11], "  stop it      Ctrl-C");
}

#[test]
fn the_demo_keeps_what_its_agents_say_to_be_shown() {
    let sandbox = Sandbox::new();
    let mut demo = Running::start(&sandbox, &["serve", "--demo", "--listen", "127.0.0.1:0"]);
    let folder = loop {
        let line = demo.line();
        if let Some(rest) = line.strip_prefix("Everything is in ") {
            break rest.split_once(',').unwrap().0.to_owned();
        }
    };
    let db = format!("{folder}/demo.db");
    let mut tail = Running::start(
        &sandbox,
        &["log", "tail", "--follow", "--json", "--db", &db],
    );
    for _ in 0..200 {
        if tail.line().contains("\"captured\"") {
            return;
        }
    }
    panic!("nothing was captured");
}

#[test]
fn what_makes_no_sense_for_a_relay_is_told() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["serve", "--upstream", "localhost:9000"]), @"
    exit 2
    --- stderr
    error: invalid value 'localhost:9000' for '--upstream <URL>': localhost: is neither http: nor https:; write http://HOST:PORT

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(&["serve", "--relay-path", "/v1"]), @"
    exit 2
    --- stderr
    error: invalid value '/v1' for '--relay-path <PATH>': /v1 is the server's own

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(&["serve", "--relay-field", "form=x"]), @r#"
    exit 2
    --- stderr
    error: invalid value 'form=x' for '--relay-field <WHAT=NAME>': the relay reads no "form"; it reads content, correlation, from, source, agent, from_agent, conversation, session, generation

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(sandbox.run(&["serve", "--demo", "--db", "x.db"]), @"
    exit 2
    --- stderr
    error: the argument '--demo' cannot be used with '--db <FILE>'

    Usage: sprag serve --demo

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(&["agent-tools", "--session", ""]), @r#"
    exit 2
    --- stderr
    error: --session "": an id must not be empty
    "#);
    insta::assert_snapshot!(sandbox.run(&["agent-tools", "--session", "1"]), @"
    exit 2
    --- stderr
    error: no MCP client on the other side: connection closed: initialize request
    next: an MCP client starts this command and speaks to it; it is not for a terminal
    ");
}
