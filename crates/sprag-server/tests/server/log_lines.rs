//! Every rule and every note has its line, word by word.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sprag::{Millis, RuleId};
use sprag_server::log_lines::line;

use crate::guard_fixture::GuardFixture;

fn said(from: &str, to: &str) -> Value {
    json!({"type": "message", "from": from, "to": to, "flow": "f"})
}

fn call(session: &str, tool: &str, args: Value) -> Value {
    json!({"type": "call", "session": session, "tool": tool, "args": args})
}

fn step(tool: &str, args: Value, result: &str, is_error: bool) -> Value {
    json!({"type": "step", "session": "s1", "tool": tool, "args": args, "result": result, "is_error": is_error})
}

/// A policy and what happens under it.
struct Scene {
    policy: &'static str,
    play: Box<dyn Fn(&GuardFixture)>,
}

fn scene(policy: &'static str, play: impl Fn(&GuardFixture) + 'static) -> Scene {
    Scene {
        policy,
        play: Box::new(play),
    }
}

fn chain(fixture: &GuardFixture, sessions: &[&str]) {
    for pair in sessions.windows(2) {
        fixture.tell(said(pair[0], pair[1]));
    }
}

fn flow_scenes() -> Vec<Scene> {
    vec![
        scene("", |fixture| {
            fixture.tell(json!({"type": "message", "from": "1", "to": "2"}));
            fixture.tell(said("1", "1"));
            chain(fixture, &["a", "b", "c", "d", "1", "2"]);
        }),
        scene("flow.max_sessions = 3", |fixture| {
            for to in ["2", "3", "4"] {
                fixture.tell(said("1", to));
            }
        }),
        scene("", |fixture| {
            for _ in 0..3 {
                fixture.tell(said("1", "2"));
                fixture.clock.advance(Millis(199_000));
            }
        }),
        scene("flow.max_calls_per_minute = 2", |fixture| {
            chain(fixture, &["1", "2", "1", "2"]);
        }),
        scene("flow.max_calls = 2", |fixture| {
            chain(fixture, &["1", "2", "1", "2"])
        }),
        scene(
            "rules = { \"flow.revisits\" = \"enforce\", \"flow.chatter\" = \"off\" }",
            |fixture| {
                for _ in 0..6 {
                    chain(fixture, &["1", "2", "1"]);
                }
            },
        ),
        scene("flow.chatter = 2", |fixture| {
            chain(fixture, &["1", "2", "1"])
        }),
    ]
}

fn message_scenes() -> Vec<Scene> {
    vec![
        scene(
            "flow.echo = { warn = 2, deny = 3 }\nrules = { \"flow.chatter\" = \"off\" }",
            |fixture| {
                for _ in 0..3 {
                    let mut said = said("1", "2");
                    said["content"] = "again".into();
                    fixture.tell(said);
                }
            },
        ),
        scene("flow.max_unattended = 1", |fixture| {
            chain(fixture, &["1", "2", "1", "2"])
        }),
        scene("inbox.max_messages_per_minute = 2", |fixture| {
            for from in ["1", "2", "3"] {
                fixture.tell(said(from, "4"));
            }
        }),
        scene("conversation.max_messages = 1", |fixture| {
            for _ in 0..2 {
                let mut said = said("1", "2");
                said["conversation"] = "c9".into();
                fixture.tell(said);
            }
        }),
    ]
}

const ASKS: &str = "rules.\"access.denied\" = \"ask\"\naccess.deny = [\"rm_*\"]";

/// A call that is asked about, and one that would answer by itself.
fn ask_and_approve(fixture: &GuardFixture) {
    fixture.tell(call("s1", "rm_all", json!({})));
    fixture.tell(call("s1", "Bash", json!({"command": "sprag approve x"})));
    fixture.tell(call("s1", "Bash", json!({"command": "dropdb shop"})));
}

fn call_scenes() -> Vec<Scene> {
    let delete = |session: &str| call(session, "delete_asset", json!({"asset_id": "fact_sales"}));
    vec![
        scene("", move |fixture| {
            for _ in 0..3 {
                fixture.clock.advance(Millis(5_000));
                fixture.tell(delete("s1"));
            }
            fixture.tell(call("s1", "read", json!({})));
            fixture.tell(said("2", "s1"));
            fixture.tell(json!({"type": "message", "to": "s1"}));
            fixture.tell(
                json!({"type": "reset", "session": "s1", "by": "ops@host", "why": "looked at it"}),
            );
            let mut old = call("s1", "read", json!({}));
            old["generation"] = 0.into();
            fixture.tell(old);
        }),
        scene("destructive.max_same_target = 100", |fixture| {
            for n in 0..3 {
                fixture.tell(call("s1", "drop_table", json!({"table": format!("t{n}")})));
            }
        }),
        scene(
            "access.deny = [\"write_*\"]\nsession.max_refused = 2",
            |fixture| {
                for n in 0..5 {
                    let mut event = call("s1", "write_file", json!({ "n": n }));
                    event["server"] = "fs".into();
                    fixture.tell(event);
                }
            },
        ),
        scene(ASKS, ask_and_approve),
        scene("call.max_identical = 2\ncall.repeat = 2", |fixture| {
            for _ in 0..3 {
                fixture.tell(call("s1", "search", json!({"q": "x"})));
            }
        }),
        scene("budget.actions = 5\nbudget.strict = true", |fixture| {
            for n in 0..11 {
                fixture.tell(call("s1", "read", json!({ "n": n })));
            }
        }),
        scene(
            "budget.tokens = { session = 100 }\nbudget.cost_usd = { session = 1.5 }\nbudget.time = { session = \"20s\" }",
            |fixture| {
                fixture.tell(json!({"type": "usage", "session": "s1", "input_tokens": 60, "output_tokens": 30}));
                fixture.tell(json!({"type": "usage", "session": "s1", "input_tokens": 60}));
                fixture.tell(json!({"type": "usage", "session": "s2", "cost_usd": 1.6}));
                fixture.tell(call("s3", "read", json!({})));
                fixture.clock.advance(Millis(30_000));
                fixture.tell(call("s3", "read", json!({})));
            },
        ),
    ]
}

fn progress_scenes() -> Vec<Scene> {
    vec![
        scene("", |fixture| {
            for _ in 0..6 {
                fixture.tell(step(
                    "read_file",
                    json!({"path": "a"}),
                    "the same text",
                    false,
                ));
            }
            fixture.tell(call("s1", "read_file", json!({"path": "b"})));
        }),
        scene("progress.stuck = { warn = 2, block = 3 }", |fixture| {
            for n in 0..6 {
                let host = json!({"host": format!("h{n}")});
                fixture.tell(step("connect", host, "connection refused", true));
            }
        }),
        scene("progress.recurrence = { warn = 2, block = 3 }", |fixture| {
            for n in 0..6 {
                fixture.tell(step(
                    "run_tests",
                    json!({}),
                    "3 tests failed: no such module",
                    true,
                ));
                let page = format!("page {n} tells something else: {}", "word ".repeat(n + 1));
                fixture.tell(step(
                    "read_file",
                    json!({"path": format!("p{n}")}),
                    &page,
                    false,
                ));
            }
        }),
        scene("progress.churn = { warn = 2, block = 3 }", |fixture| {
            for n in 0..5 {
                let change = json!({"path": "a", "text": "x"});
                fixture.tell(step(
                    "edit_file",
                    change,
                    &format!("file has now {n} more lines than before"),
                    false,
                ));
            }
        }),
    ]
}

/// A run that reads an item and fails to make it.
fn run(fixture: &GuardFixture, session: &str) {
    fixture.tell(json!({"type": "message", "to": session, "content": "Work on the next item"}));
    for (id, command, result) in [
        ("1", "cat item.json", "item 7: open"),
        ("2", "make item-7", "error: missing key K7"),
    ] {
        let args = json!({"command": command});
        fixture.tell(
            json!({"type": "call", "session": session, "id": id, "tool": "Bash", "args": args}),
        );
        fixture.tell(json!({"type": "step", "session": session, "id": id, "result": result}));
    }
    fixture.clock.advance(Millis(120_000));
}

fn storm_scenes() -> Vec<Scene> {
    vec![
        scene(
            "flow.spawns = { root_warn = 2, root_deny = 3 }",
            |fixture| {
                for to in ["a1", "a2", "a3", "a4"] {
                    fixture.tell(json!({"type": "message", "kind": "spawn", "from": "r", "to": to, "flow": "f"}));
                }
            },
        ),
        scene("session.rerun = 2", |fixture| {
            for session in ["n1", "n2", "n3", "n4"] {
                run(fixture, session);
            }
        }),
        scene("progress.probe = { warn = 2, block = 3 }", |fixture| {
            for n in 0..5 {
                let said = format!("s{n}");
                let args = json!({"command": format!("echo {said}")});
                fixture.tell(step("Bash", args, &said, false));
            }
        }),
        scene("", |fixture| {
            for _ in 0..3 {
                fixture.tell(json!({"type": "output", "session": "s1", "text": "I am done."}));
            }
            fixture
                .tell(json!({"type": "output", "session": "s2", "text": "over and ".repeat(99)}));
        }),
        scene("", |fixture| {
            fixture.guard.panic("ops@host", "a key leaked").unwrap();
            fixture.tell(call("s1", "read", json!({})));
            fixture.guard.calm("ops@host", "it was revoked").unwrap();
        }),
    ]
}

fn other_scenes() -> Vec<Scene> {
    vec![
        scene("rules = { \"*\" = \"shadow\" }", |fixture| {
            chain(fixture, &["a", "b", "c", "d", "1", "2"]);
            for _ in 0..3 {
                fixture.tell(call(
                    "s1",
                    "delete_asset",
                    json!({"asset_id": "fact_sales"}),
                ));
            }
        }),
        scene("", |fixture| {
            let order = |kind, by: Option<&str>| json!({"type": kind, "session": "s1", "by": by, "why": "it sent\nmail"});
            fixture.tell(order("kill", Some("ops@host")));
            fixture.tell(order("reset", None));
            let guard = &fixture.guard;
            guard
                .pause(Millis::HOUR, "ops@host", Some("release"))
                .unwrap();
            guard.resume("ops@host").unwrap();
            guard.pause(Millis::HOUR, "ops@host", None).unwrap();
            fixture.clock.advance(Millis::HOUR);
            assert!(guard.paused().unwrap().is_none());
        }),
        scene("access.deny = [\"*\"]", |fixture| {
            let name = format!("s\u{202e}{}", "x".repeat(200));
            fixture.tell(call(&name, "rm\u{2028}-rf", json!({})));
        }),
    ]
}

/// The lines of a scene, and the rules that they tell of.
fn play(scene: &Scene, rules: &mut BTreeSet<RuleId>) -> Vec<String> {
    let fixture = GuardFixture::new(scene.policy);
    (scene.play)(&fixture);
    let lines = fixture.records();
    let lines = lines.iter().filter_map(|record| line(record));
    lines
        .map(|line| {
            assert!(!line.text.contains('\n'));
            rules.extend(line.fields.rule.filter(|_| !line.fields.shadow));
            format!("{:5} {}", line.level, line.text)
        })
        .collect()
}

#[test]
fn every_rule_verdict_and_order_has_its_line() {
    let mut rules = BTreeSet::new();
    let mut all = Vec::new();
    for scenes in [
        flow_scenes(),
        message_scenes(),
        call_scenes(),
        progress_scenes(),
        storm_scenes(),
        other_scenes(),
    ] {
        for scene in scenes {
            all.push(format!("# {}", scene.policy.replace('\n', "; ")));
            all.extend(play(&scene, &mut rules));
        }
    }
    insta::assert_snapshot!(all.join("\n"));
    let known: BTreeSet<RuleId> = RuleId::ALL.iter().copied().collect();
    assert_eq!(rules, known, "a rule without a line");
}
