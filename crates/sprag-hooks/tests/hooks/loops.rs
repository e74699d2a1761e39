//! Whole runs through a real guard: what is warned of, what is stopped, and who lifts it.

use serde_json::{Value, json};
use sprag::{Decision, Event, Guard};
use sprag_hooks::{Client, HookOptions, answer};

const SESSION: &str = "7036c4c2-800d-4d59-8a3f-6e7273767254";

struct Run {
    guard: Guard,
    calls: u32,
}

impl Run {
    fn new() -> Self {
        Self {
            guard: Guard::in_memory().unwrap(),
            calls: 0,
        }
    }

    fn tell(&self, client: Client, payload: &Value) -> String {
        let text = payload.to_string();
        let options = HookOptions::default();
        let answered = answer(client, text.as_bytes(), &options, |role, event| {
            self.guard
                .check_as(role, event)
                .map_err(|error| error.to_string())
        });
        assert_eq!(answered.problem, None);
        answered.answer.stdout
    }

    fn claude(&self, event: &str, rest: Value) -> String {
        let mut payload = json!({
            "hook_event_name": event, "session_id": SESSION, "transcript_path": "t", "prompt_id": "p1",
        });
        payload
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        self.tell(Client::Claude, &payload)
    }

    /// A call and its result; what was said before and after.
    fn bash(&mut self, agent: Option<&str>, command: &str, stdout: &str) -> (String, String) {
        self.calls += 1;
        let id = format!("toolu_{:016}", self.calls);
        let mut call = json!({
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id,
        });
        if let Some(agent) = agent {
            call["agent_id"] = json!(agent);
            call["agent_type"] = json!("general-purpose");
        }
        let before = self.claude("PreToolUse", call.clone());
        if before.contains("deny") {
            return (before, String::new());
        }
        call["tool_response"] = json!({"stdout": stdout, "stderr": "", "interrupted": false});
        call["duration_ms"] = json!(self.calls * 7);
        (before, self.claude("PostToolUse", call))
    }
}

#[test]
fn eight_identical_calls_are_warned_of_and_then_refused() {
    let mut run = Run::new();
    run.claude("UserPromptSubmit", json!({"prompt": "go"}));
    let said: Vec<_> = (0..8)
        .map(|_| run.bash(None, "cat status.txt", "queued"))
        .collect();
    let silent = |text: &String| text.is_empty();
    assert!(
        said[..3]
            .iter()
            .all(|(before, after)| silent(before) && silent(after))
    );
    assert!(said[3].1.contains("additionalContext"), "{}", said[3].1);
    assert!(
        said[5].0.contains("\"permissionDecision\":\"deny\""),
        "{}",
        said[5].0
    );
    assert!(
        said[5].0.contains("never you, with: sprag "),
        "{}",
        said[5].0
    );
}

#[test]
fn a_poll_whose_output_changes_is_left_alone() {
    let mut run = Run::new();
    for n in 0..8 {
        let said = run.bash(None, "./tick", &format!("built {n} of 8 modules"));
        assert_eq!(said, (String::new(), String::new()), "poll {n}");
    }
}

fn blocked() -> Run {
    let mut run = Run::new();
    run.claude("UserPromptSubmit", json!({"prompt": "go"}));
    while run.bash(None, "cat status.txt", "queued").0.is_empty() {}
    run
}

#[test]
fn a_word_of_the_user_lifts_a_block() {
    let mut run = blocked();
    assert!(run.bash(None, "ls", "a").0.contains("deny"));
    run.claude("UserPromptSubmit", json!({"prompt": "try something else"}));
    assert_eq!(run.bash(None, "ls", "a").0, "");
}

#[test]
fn a_prompt_that_no_person_wrote_lifts_nothing() {
    let mut run = blocked();
    let note = "<task-notification>\n<task-id>a65b</task-id>\n</task-notification>";
    run.claude("UserPromptSubmit", json!({"prompt": note}));
    assert!(run.bash(None, "ls", "a").0.contains("deny"));
    run.claude(
        "UserPromptSubmit",
        json!({"prompt": "go on", "agent_id": "a65b"}),
    );
    assert!(run.bash(None, "ls", "a").0.contains("deny"));
}

#[test]
fn a_killed_session_refuses_prompts_and_its_sub_agents_calls() {
    let mut run = Run::new();
    run.bash(None, "ls", "a");
    run.guard.kill(SESSION, "ops", "enough").unwrap();
    let (said, _) = run.bash(Some("a65b"), "ls", "a");
    assert!(
        said.contains("\"continue\":false") && said.contains("\"permissionDecision\":\"deny\""),
        "{said}"
    );
    let said = run.claude("UserPromptSubmit", json!({"prompt": "hello?"}));
    assert!(said.contains("\"decision\":\"block\""), "{said}");
    assert!(said.contains("sprag sessions reset"), "{said}");
}

#[test]
fn a_call_that_hook_and_proxy_both_see_is_one() {
    let mut run = Run::new();
    for n in 1..=2 {
        let id = format!("toolu_{n:016}");
        let call = json!({"tool_name": "mcp__catalog__delete_asset", "tool_input": {"asset_id": format!("a{n}")}, "tool_use_id": id});
        run.claude("PreToolUse", call);
        let args = json!({"asset_id": format!("a{n}")});
        let seen = Event::call("other", "delete_asset")
            .unwrap()
            .server("catalog")
            .unwrap();
        let seen = seen.use_id(&id).unwrap().args(args);
        let verdict = run.guard.check(seen).unwrap();
        let expected = [Decision::Allow, Decision::Warn][n - 1];
        assert_eq!(verdict.decision, expected, "four sightings, two deletes");
    }
    let said = run.bash(None, "ls", "a").0;
    assert_eq!(said, "");
}

#[test]
fn twelve_sub_agents_that_do_the_same_are_twelve_sessions() {
    let mut run = Run::new();
    for n in 0..12 {
        let agent = format!("a{n}");
        run.claude(
            "SubagentStart",
            json!({"agent_id": agent, "agent_type": "general-purpose"}),
        );
        for _ in 0..2 {
            let said = run.bash(Some(&agent), "cat status.txt", "queued");
            assert_eq!(said, (String::new(), String::new()));
        }
        run.claude(
            "SubagentStop",
            json!({"agent_id": agent, "agent_type": "general-purpose"}),
        );
    }
}

#[test]
fn a_sub_agent_that_is_too_deep_may_not_start_another() {
    let mut run = Run::new();
    run.claude("UserPromptSubmit", json!({"prompt": "go"}));
    run.claude(
        "SubagentStart",
        json!({"agent_id": "d2", "agent_type": "general-purpose"}),
    );
    let mut refused_at = None;
    for depth in 2..8 {
        run.calls += 1;
        let own = format!("d{depth}");
        let id = format!("toolu_{:016}", run.calls);
        let mut call = json!({"agent_id": own, "agent_type": "general-purpose", "tool_name": "Agent", "tool_input": {"prompt": "go deeper", "n": depth}, "tool_use_id": id});
        if run.claude("PreToolUse", call.clone()).contains("deny") {
            refused_at = Some(depth);
            break;
        }
        let child = format!("d{}", depth + 1);
        run.claude(
            "SubagentStart",
            json!({"agent_id": child, "agent_type": "general-purpose"}),
        );
        call["tool_response"] = json!({"isAsync": true, "agentId": child});
        run.claude("PostToolUse", call);
    }
    assert_eq!(
        refused_at,
        Some(5),
        "the fifth in the chain may not start a sixth"
    );
}
