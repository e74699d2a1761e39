//! Every message of the guard in one file, so that a reader sees what agents and people are told.
//!
//! Each entry is a short history under a policy; what is shown is the last verdict with its message and
//! its hint.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sprag::{Decision, Event, Judge, Policy, Timestamp, Verdict};

/// A history that ends in a message.
pub(crate) struct History {
    name: &'static str,
    pub(crate) policy: Value,
    pub(crate) events: Vec<Value>,
}

fn history(name: &'static str, policy: Value, events: Vec<Value>) -> History {
    History {
        name,
        policy,
        events,
    }
}

/// `count` times what `event` makes of each number, joined.
fn times(count: u64, event: impl Fn(u64) -> Vec<Value>) -> Vec<Value> {
    (0..count).flat_map(event).collect()
}

fn said(from: &str, to: &str, text: &str) -> Value {
    json!({"type": "message", "from": from, "to": to, "flow": "f", "content": text})
}

fn call(n: u64, tool: &str, args: Value) -> Value {
    json!({"type": "call", "session": "s1", "id": format!("c{n}"), "tool": tool, "args": args})
}

/// A call with its result.
fn step(n: u64, tool: &str, args: Value, result: &str) -> Vec<Value> {
    let done = json!({"type": "step", "session": "s1", "id": format!("c{n}"), "result": result});
    vec![call(n, tool, args), done]
}

fn failed(n: u64, tool: &str, args: Value, result: &str) -> Vec<Value> {
    let mut events = step(n, tool, args, result);
    events[1]["is_error"] = json!(true);
    events
}

fn delete(n: u64, target: &str) -> Vec<Value> {
    vec![call(n, "delete_asset", json!({ "asset_id": target }))]
}

fn usage(tokens: u64) -> Vec<Value> {
    vec![json!({"type": "usage", "session": "s1", "input_tokens": tokens, "cost_usd": 0.5})]
}

fn user() -> Value {
    json!({"type": "message", "to": "s1", "content": "go on", "unblock": true})
}

fn same(n: u64) -> Vec<Value> {
    step(n, "Read", json!({"file_path": "src/a.rs"}), "fn a() {}")
}

fn blocked_then(mut more: Vec<Value>) -> Vec<Value> {
    let mut events = times(5, same);
    events.append(&mut more);
    events
}

fn on_messages() -> Vec<History> {
    let chain = |count: u64| {
        times(count, |n| {
            vec![said(
                &format!("{n}"),
                &format!("{}", n + 1),
                &format!("task {n}"),
            )]
        })
    };
    let talk = |count: u64| times(count, |n| vec![said("1", "2", &format!("task {n}"))]);
    let none = json!({});
    let quiet =
        json!({"rules": {"flow.*": "off", "inbox.rate": "off", "conversation.length": "off"}});
    let only = |rule: &str, limits: Value| {
        let mut policy = quiet.clone();
        policy["rules"][rule] = json!("enforce");
        for (key, value) in limits.as_object().unwrap() {
            policy[key] = value.clone();
        }
        policy
    };
    vec![
        history(
            "flow.correlation",
            none.clone(),
            vec![json!({"type": "message", "from": "1", "to": "2", "content": "hi"})],
        ),
        history("flow.self_call", none.clone(), vec![said("1", "1", "hi")]),
        history("flow.depth", none.clone(), chain(5)),
        history(
            "flow.sessions",
            only("flow.sessions", json!({"flow": {"max_sessions": 3}})),
            chain(3),
        ),
        history(
            "flow.duration",
            only("flow.duration", json!({})),
            times(4, |n| {
                let mut event = said("1", "2", &format!("task {n}"));
                event["at"] = json!(1_760_000_000_000_u64 + n * 150_000);
                vec![event]
            }),
        ),
        history("flow.rate", only("flow.rate", json!({})), talk(21)),
        history(
            "flow.total",
            only("flow.total", json!({"flow": {"max_calls": 5}})),
            talk(6),
        ),
        history(
            "flow.revisits",
            only("flow.revisits", json!({"flow": {"max_revisits": 1}})),
            times(3, |_| vec![said("1", "2", "a"), said("2", "1", "b")]),
        ),
        history("flow.chatter", only("flow.chatter", json!({})), talk(6)),
        history(
            "flow.echo, a warning",
            only("flow.echo", json!({})),
            times(3, |_| vec![said("1", "2", "again")]),
        ),
        history(
            "flow.echo, a warning that no refusal follows",
            only("flow.echo", json!({})),
            times(3, |n| {
                vec![
                    said("1", "2", "again"),
                    said("2", "1", &format!("answer {n}")),
                ]
            })[..5]
                .to_vec(),
        ),
        history(
            "flow.echo, a refusal",
            only("flow.echo", json!({})),
            times(5, |_| vec![said("1", "2", "again")]),
        ),
        history(
            "flow.unattended",
            only("flow.unattended", json!({"flow": {"max_unattended": 3}})),
            talk(4),
        ),
        history("inbox.rate", only("inbox.rate", json!({})), talk(11)),
        history(
            "conversation.length",
            only(
                "conversation.length",
                json!({"conversation": {"max_messages": 2}}),
            ),
            times(3, |n| {
                vec![
                    json!({"type": "message", "from": "1", "to": "2", "flow": "f", "conversation": "c", "content": format!("{n}")}),
                ]
            }),
        ),
    ]
}

fn on_calls() -> Vec<History> {
    let none = json!({});
    let read = |n| call(n, "Read", json!({"file_path": "a"}));
    let deny = json!({"access": {"deny": ["Read"]}, "session": {"max_refused": 2}});
    let apart = |count: u64| {
        times(count, |n| {
            let mut event = read(n);
            event["at"] = json!(1_760_000_000_000_u64 + n * 2_000);
            vec![event]
        })
    };
    vec![
        history("access.denied", deny.clone(), vec![read(0)]),
        history("call.identical", json!({"call": {"max_identical": 3, "repeat": 99, "window": "1500ms"}}), times(4, |n| vec![{
            let mut event = read(n);
            event["at"] = json!(1_760_000_000_000_u64 + n * 100);
            event
        }])),
        history("call.repeat", none.clone(), times(4, |n| vec![read(n)])),
        history("call.repeat, in turn", none.clone(), times(4, |n| vec![read(2 * n), call(2 * n + 1, "Read", json!({"file_path": "b"}))])),
        history("destructive.volume, a warning", none.clone(), [delete(0, "a.tmp"), delete(1, "b.tmp")].concat()),
        history("destructive.volume, several targets", none.clone(), times(3, |n| delete(n, ["a.tmp", "b.tmp", "c.tmp"][usize::try_from(n).unwrap()]))),
        history("destructive.volume, one target", none.clone(), times(3, |n| delete(n, "fact_sales"))),
        history("destructive.volume, of an agent", none.clone(), times(3, |n| {
            let mut events = delete(n, "fact_sales");
            events[0]["agent"] = json!("bulk cleaner's");
            events
        })),
        history("destructive.target, a warning", json!({"destructive": {"max_calls": 50}}), times(2, |n| delete(n, "fact_sales"))),
        history("destructive.target, a kill", json!({"destructive": {"max_calls": 50}}), times(3, |n| delete(n, "fact_sales"))),
        history("session.defiance, a block", deny.clone(), apart(2)),
        history("session.defiance, then a refusal", json!({"session": {"max_refused": 2}, "override": [{"session": "s1", "access": {"deny": ["Read"]}}]}), [apart(2), vec![json!({"at": 1_760_000_004_500_u64, "type": "call", "session": "s1", "id": "z", "tool": "Write"})]].concat()),
        history("session.defiance, a kill", deny, apart(4)),
    ]
}

fn on_sessions() -> Vec<History> {
    let none = json!({});
    let kill = json!({"type": "kill", "session": "s1", "by": "ops@host", "why": "it sent mail"});
    let read = call(9, "Read", json!({"file_path": "b"}));
    let killed = |more: Value| [times(3, |n| delete(n, "fact_sales")), vec![more]].concat();
    vec![
        history(
            "session.blocked, a call",
            none.clone(),
            blocked_then(vec![read.clone()]),
        ),
        history(
            "session.blocked, the third call ends the turn",
            none.clone(),
            blocked_then(vec![read.clone(); 3]),
        ),
        history(
            "session.blocked, a step",
            none.clone(),
            blocked_then(vec![
                json!({"type": "step", "session": "s1", "tool": "x", "result": "y"}),
            ]),
        ),
        history(
            "a block that the user lifts",
            none.clone(),
            [vec![user()], times(5, same)].concat(),
        ),
        history(
            "session.blocked, where the user lifts it",
            none.clone(),
            [vec![user()], blocked_then(vec![read.clone()])].concat(),
        ),
        history(
            "session.killed, by a rule",
            none.clone(),
            killed(read.clone()),
        ),
        history(
            "session.killed, by an operator",
            none.clone(),
            vec![kill.clone(), read.clone()],
        ),
        history(
            "session.killed, a message to it",
            none.clone(),
            killed(said("2", "s1", "hi")),
        ),
        history(
            "session.killed, a message to one that an operator killed",
            none.clone(),
            vec![kill.clone(), said("2", "s1", "hi")],
        ),
        history(
            "session.killed, above",
            none.clone(),
            vec![
                kill,
                json!({"type": "call", "session": "s1/coder", "tool": "Read"}),
            ],
        ),
        history(
            "session.killed, an older generation",
            none.clone(),
            vec![
                json!({"type": "reset", "session": "s1"}),
                json!({"type": "call", "session": "s1", "generation": 1, "tool": "Read"}),
            ],
        ),
        history(
            "names that would mark up, hide or break out",
            none,
            times(4, |n| {
                vec![
                    json!({"type": "call", "session": "s 1; rm -rf ~ '\u{202e}", "id": format!("{n}"), "tool": "delete_`x`<b>\u{200b}", "args": {"asset_id": "[a](http://b)"}}),
                ]
            }),
        ),
    ]
}

fn on_budgets() -> Vec<History> {
    let actions = json!({"budget": {"actions": 5, "strict": true}});
    let acts = |count: u64| {
        times(count, |n| {
            vec![call(n, "Read", json!({"file_path": format!("{n}")}))]
        })
    };
    let tokens = json!({"budget": {"tokens": {"session": 100}}});
    let cost = json!({"budget": {"cost_usd": {"session": 1.0}}});
    let time = json!({"budget": {"time": {"session": "3s"}}});
    vec![
        history("budget.actions, a warning", actions.clone(), acts(4)),
        history("budget.actions, a block", actions.clone(), acts(6)),
        history("budget.actions, then a refusal", actions.clone(), acts(7)),
        history("budget.actions, a kill", actions, acts(11)),
        history("budget.tokens, a warning", tokens.clone(), usage(80)),
        history("budget.tokens, a block", tokens.clone(), usage(120)),
        history(
            "budget.tokens, then a refusal",
            tokens,
            [usage(120), vec![call(0, "Read", json!({}))]].concat(),
        ),
        history("budget.cost, a block", cost, times(2, |_| usage(1))),
        history("budget.time, a block", time, acts(5)),
    ]
}

fn on_steps() -> Vec<History> {
    let none = json!({});
    let plain = json!({"progress": {"classifier": "plain"}});
    let word = |n: u64| crate::session::Numbers::new(n * 7 + 1).word();
    let page = "chapter one is about the history of the place ".repeat(6);
    let edit = |n: u64| {
        step(
            n,
            "Edit",
            json!({"file_path": "a.rs", "new_string": format!("x{n}")}),
            "edited",
        )
    };
    let test = |n: u64| {
        failed(
            n,
            "Bash",
            json!({"command": "cargo test"}),
            "FAILED: expected 3, got 4",
        )
    };
    vec![
        history(
            "progress.stagnation, a warning",
            none.clone(),
            times(4, same),
        ),
        history("progress.stagnation, a block", none.clone(), times(5, same)),
        history(
            "progress.stagnation, a round",
            none.clone(),
            times(9, |n| {
                step(n, "look", json!({"at": n % 2}), &format!("state {}", n % 2))
            }),
        ),
        history(
            "progress.stuck, a known failure",
            none.clone(),
            times(9, |n| {
                failed(
                    n,
                    "Bash",
                    json!({"command": format!("fetch {}", word(n))}),
                    "error: VPN is down",
                )
            }),
        ),
        history(
            "progress.stuck, one long answer",
            none.clone(),
            times(9, |n| step(n, "ask", json!({"query": word(n)}), &page)),
        ),
        history(
            "progress.stuck, nothing found",
            none.clone(),
            times(20, |n| {
                step(n, "Grep", json!({"pattern": word(n)}), "No matches found")
            }),
        ),
        history(
            "progress.stuck, nothing found, a warning about sweeps",
            none.clone(),
            times(15, |n| {
                step(n, "Read", json!({"file_path": word(n)}), "no such file")
            }),
        ),
        history(
            "progress.stuck, one short answer",
            none.clone(),
            times(16, |n| {
                step(n, "ask", json!({"query": word(n)}), "ask again later")
            }),
        ),
        history(
            "progress.stuck, nearly the same words",
            none.clone(),
            times(21, |n| {
                failed(
                    n,
                    "frob",
                    json!({"mode": word(n)}),
                    &format!("no mode called {} in this version", word(n)),
                )
            }),
        ),
        history(
            "progress.stuck, the last rung",
            none.clone(),
            times(400, |n| {
                step(
                    n,
                    "walk",
                    json!({"to": format!("{} {n}", word(n))}),
                    if n % 3 == 0 {
                        page.as_str()
                    } else {
                        "chapter two is about the people of the place and what they did there in the old days, when the town was small and the road was only a path"
                    },
                )
            }),
        ),
        history(
            "progress.recurrence, other work in between",
            none.clone(),
            times(40, |n| if n % 2 == 0 { test(n) } else { edit(n) }),
        ),
        history(
            "progress.recurrence, a habit",
            none.clone(),
            times(13, |n| {
                if n % 2 == 0 {
                    step(n, "Bash", json!({"command": "ls -l"}), "total 0")
                } else {
                    step(n, "Read", json!({"file_path": word(n)}), &word(n + 50))
                }
            }),
        ),
        history(
            "progress.recurrence, each run fails",
            none.clone(),
            times(12, |n| {
                failed(
                    n,
                    "Bash",
                    json!({"command": "./fuzz"}),
                    &format!("{} {}\nerror: crashed", word(n), word(n + 99)),
                )
            }),
        ),
        history(
            "progress.recurrence, only numbers differ",
            none.clone(),
            times(22, |n| {
                let result = format!("rolled {}", (n * 7919) % 1009);
                let mut events = step(n, "Bash", json!({"command": "./dice"}), &result);
                for event in &mut events {
                    event["at"] = json!(1_760_000_000_000_u64 + n * 5_000);
                }
                events
            }),
        ),
        history(
            "progress.recurrence, an answer comes back",
            none.clone(),
            times(40, |n| {
                if n % 2 == 0 {
                    step(
                        n,
                        "Bash",
                        json!({"command": "./e2e"}),
                        ["passed", "not passed"][usize::try_from(n / 2 % 2).unwrap()],
                    )
                } else {
                    step(n, "Read", json!({"file_path": word(n)}), &word(n + 50))
                }
            }),
        ),
        history(
            "progress.recurrence, a long round",
            none.clone(),
            times(1_200, |n| {
                step(
                    n,
                    "Read",
                    json!({"file_path": format!("{}", n % 300)}),
                    &format!("{} {}", word(n % 300), n % 300),
                )
            }),
        ),
        history(
            "progress.churn",
            none,
            times(7, |n| {
                step(
                    n,
                    "Edit",
                    json!({"file_path": "a.rs", "new_string": "x"}),
                    &format!("{n} lines now"),
                )
            }),
        ),
        history("plain, stagnation", plain.clone(), times(6, same)),
        history(
            "plain, stuck",
            plain,
            times(9, |n| {
                step(n, "Read", json!({"file_path": word(n)}), "nothing")
            }),
        ),
    ]
}

pub(crate) fn histories() -> Vec<History> {
    [
        on_messages(),
        on_calls(),
        on_sessions(),
        on_budgets(),
        on_steps(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The verdicts on `events`, which come a second apart where they do not say when; after a block or a
/// kill what is still told is told.
pub(crate) fn judge(policy: Policy, events: &[Value]) -> Vec<Verdict> {
    let mut judge = Judge::new(policy);
    let mut at = 1_760_000_000_000;
    events
        .iter()
        .map(|event| {
            let parsed = Event::parse(event.to_string().as_bytes())
                .unwrap_or_else(|error| panic!("{error}: {event}"));
            at = parsed.at().map_or(at + 1_000, |at| at.0);
            judge.judge(&parsed, Timestamp(at)).unwrap()
        })
        .collect()
}

pub(crate) fn policy(document: &Value) -> Policy {
    Policy::from_value(document).unwrap_or_else(|error| panic!("{error}: {document}"))
}

#[test]
fn every_message() {
    let mut text = String::new();
    for history in histories() {
        let verdicts = judge(policy(&history.policy), &history.events);
        // The last word of a stop is the one that stopped; of the rest, the last one.
        let stop = verdicts
            .iter()
            .position(|verdict| verdict.decision >= Decision::Block);
        let own = history.name.starts_with("progress") || history.name.starts_with("plain");
        let last = if own { stop } else { None }.or_else(|| {
            verdicts
                .iter()
                .rposition(|verdict| verdict.decision > Decision::Allow)
        });
        let Some(verdict) = last.map(|at| &verdicts[at]) else {
            panic!("{} says nothing", history.name);
        };
        let rule = verdict.rule.map_or("", |rule| rule.as_str());
        writeln!(text, "# {}\n{} {rule}", history.name, verdict.decision).unwrap();
        writeln!(text, "{}", verdict.message.as_deref().unwrap_or_default()).unwrap();
        if verdict.end_turn {
            writeln!(text, "(the turn is to be ended)").unwrap();
        }
        writeln!(
            text,
            "hint: {}\n",
            verdict.hint.as_deref().unwrap_or("none")
        )
        .unwrap();
    }
    insta::assert_snapshot!(text);
}
