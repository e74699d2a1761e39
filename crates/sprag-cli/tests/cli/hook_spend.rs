//! What hooks report as spent is what the client's transcript says: each answer once, whatever happens to the file.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, feed};

const HOOK: [&str; 3] = ["hook", "--client", "claude"];

/// A session of Claude Code that is followed.
struct Session {
    sandbox: Sandbox,
    calls: u32,
}

impl Session {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        Self { sandbox, calls: 0 }
    }

    fn transcript(&self) -> PathBuf {
        self.sandbox.path().join("s1.jsonl")
    }

    fn payload(&self, event: &str, more: Value) -> String {
        let mut payload = json!({"hook_event_name": event, "session_id": "s1", "transcript_path": self.transcript()});
        for (key, value) in more.as_object().unwrap() {
            payload[key] = value.clone();
        }
        payload.to_string()
    }

    fn hook(&self, event: &str, more: Value) -> String {
        self.sandbox.run_with(&HOOK, self.payload(event, more))
    }

    fn start(&self) -> String {
        self.hook("SessionStart", json!({}))
    }

    fn call(&mut self) -> String {
        self.calls += 1;
        let id = format!("toolu_{:016}", self.calls);
        let input = json!({"command": format!("ls {}", self.calls)});
        let call = json!({"tool_name": "Bash", "tool_input": input, "tool_use_id": id});
        self.hook("PreToolUse", call)
    }

    /// An answer of two blocks: two lines, each with the tokens of the whole.
    fn answer(&self, id: &str, output: u64) {
        let line = line(id, output, false);
        append(self.transcript(), &format!("{line}\n{line}\n"));
    }

    /// Input, output, cache read and cache write of a session, as the log has them.
    fn spent(&self, session: &str) -> [u64; 4] {
        let log = self.sandbox.run(&["log", "tail", "--json"]);
        let records = log
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let usage = records.map(|record| record["event"].clone());
        let usage = usage.filter(|event| event["type"] == "usage" && event["session"] == session);
        usage.fold([0; 4], |[input, output, read, write], event| {
            let of = |key: &str| event[key].as_u64().unwrap_or(0);
            let fresh = of("tokens") - of("output_tokens") - of("cache_write_tokens");
            [
                input + fresh,
                output + of("output_tokens"),
                read + of("cache_read_tokens"),
                write + of("cache_write_tokens"),
            ]
        })
    }
}

fn line(id: &str, output: u64, is_sidechain: bool) -> Value {
    json!({
        "type": "assistant", "timestamp": "2099-01-01T00:00:00.000Z", "isSidechain": is_sidechain, "agentId": "x1",
        "message": {"id": id, "model": "claude-opus-5", "usage": {"input_tokens": 3, "output_tokens": output,
            "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 20}},
    })
}

fn append(path: PathBuf, text: &str) {
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, before + text).unwrap();
}

#[test]
fn the_sum_of_usage_is_what_the_transcript_says() {
    let mut session = Session::new();
    session.start();
    session.answer("m1", 100);
    session.call();
    session.call();
    session.answer("m2", 50);
    session.call();
    session.answer("m3", 7);
    session.hook("Stop", json!({}));
    assert_eq!(session.spent("s1"), [9, 157, 3000, 60]);
}

#[test]
fn what_sub_agents_of_gemini_spent_was_once_nobodys() {
    const GEMINI: [&str; 3] = ["hook", "--client", "gemini"];
    let sandbox = Sandbox::new();
    let main = sandbox.path().join("chats/session-s1.jsonl");
    let folder = sandbox.path().join("chats/s1");
    fs::create_dir_all(&folder).unwrap();
    let answer = |path: PathBuf, id: &str, output: u64| {
        let tokens = json!({"input": 30, "output": output, "cached": 10, "thoughts": 0, "tool": 0});
        let line = json!({"id": id, "type": "gemini", "timestamp": "2099-01-01T00:00:00.000Z", "tokens": tokens});
        append(path, &format!("{line}\n"));
    };
    let hook = |event: &str| {
        let payload = json!({"hook_event_name": event, "session_id": "s1", "transcript_path": main,
            "tool_name": "glob", "tool_input": {}, "timestamp": "2099-01-01T00:00:00.000Z"});
        sandbox.run_with(&GEMINI, payload.to_string())
    };
    hook("SessionStart");
    answer(main.clone(), "m1", 100);
    for (child, output) in [("c1", 7), ("c2", 5)] {
        answer(folder.join(format!("{child}.jsonl")), child, output);
    }
    hook("BeforeTool");
    answer(folder.join("c1.jsonl"), "again", 3);
    hook("AfterAgent");
    let session = Session { sandbox, calls: 0 };
    assert_eq!(session.spent("s1"), [80, 115, 40, 0]);
}

#[test]
fn a_resumed_session_does_not_count_its_old_transcript_again() {
    let mut session = Session::new();
    session.answer("old", 100_000);
    session.start();
    session.call();
    session.answer("m1", 5);
    session.call();
    // It goes on the next day, in the same file.
    session.start();
    session.call();
    assert_eq!(session.spent("s1"), [3, 5, 1000, 20]);
}

#[test]
fn hooks_at_the_same_time_count_the_same_part_once() {
    let session = Session::new();
    session.start();
    for n in 0..50 {
        session.answer(&format!("m{n}"), 1);
    }
    let running: Vec<_> = (0..6)
        .map(|_| {
            let command = session.sandbox.command(&HOOK);
            let payload = session.payload("Stop", json!({}));
            std::thread::spawn(move || feed(command, payload.as_bytes()))
        })
        .collect();
    for hook in running {
        assert!(hook.join().unwrap().status.success());
    }
    assert_eq!(session.spent("s1"), [150, 50, 50_000, 1000]);
}

#[test]
fn a_transcript_that_was_cut_or_replaced_counts_nothing_twice() {
    let mut session = Session::new();
    session.start();
    session.answer("m1", 10);
    session.call();
    let text = fs::read_to_string(session.transcript()).unwrap();
    fs::remove_file(session.transcript()).unwrap();
    session.call();
    fs::write(session.transcript(), text).unwrap();
    session.call();
    assert_eq!(session.spent("s1"), [3, 10, 1000, 20]);
}

#[cfg(unix)]
#[test]
fn a_transcript_that_is_a_pipe_or_a_link_holds_nobody() {
    let mut session = Session::new();
    session.start();
    let pipe = std::process::Command::new("mkfifo")
        .arg(session.transcript())
        .status();
    assert!(pipe.unwrap().success());
    assert_eq!(session.call(), "exit 0\n");
    fs::remove_file(session.transcript()).unwrap();
    let elsewhere = session.sandbox.path().join("elsewhere.jsonl");
    append(elsewhere.clone(), &format!("{}\n", line("m1", 5, false)));
    std::os::unix::fs::symlink(elsewhere, session.transcript()).unwrap();
    assert_eq!(session.call(), "exit 0\n");
    assert_eq!(session.spent("s1"), [0; 4]);
}

#[test]
fn a_sub_agent_s_transcript_counts_once_for_it_and_its_session() {
    let mut session = Session::new();
    session.sandbox.file(
        ".config/sprag/policy.toml",
        "[budget]\ntokens = { session = 200 }\n",
    );
    session.start();
    session.call();
    let folder = session.sandbox.path().join("s1/subagents");
    fs::create_dir_all(&folder).unwrap();
    append(
        folder.join("agent-x1.jsonl"),
        &format!("{}\n", line("m1", 177, true)),
    );
    let call = json!({"agent_id": "x1", "agent_type": "general-purpose", "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_use_id": "toolu_0000000000000100"});
    let said = session.hook("PreToolUse", call);
    assert_eq!(session.spent("s1/x1"), [3, 177, 1000, 20]);
    assert!(said.contains("deny"), "{said}");
    let said = session.call();
    assert!(
        said.contains("The budget of 200 tokens for this session is used up (200 tokens"),
        "{said}"
    );
}

#[test]
fn a_budget_of_one_dollar_stops_the_session_at_the_call_after() {
    let mut session = Session::new();
    session
        .sandbox
        .run(&["install", "claude", "--budget", "1usd", "--yes"]);
    let policy = session.sandbox.read(".config/sprag/policy.toml");
    assert!(policy.contains("cost_usd"), "{policy}");
    session.start();
    session.answer("m1", 10_000);
    assert_eq!(session.call(), "exit 0\n");
    session.answer("m2", 22_000);
    let said = session.call();
    assert!(
        said.contains("$0.80 of $1.00 for this session are used: claude-opus-5"),
        "{said}"
    );
    session.answer("m3", 8_000);
    let said = session.call();
    assert!(said.contains("\"permissionDecision\":\"deny\""), "{said}");
    assert!(
        said.contains(
            "The budget of $1.00 for this session is used up ($1.00: claude-opus-5 $1.00 for"
        ),
        "{said}"
    );
}
