//! Short histories, each of which ends in a message of the guard: about messages, calls and
//! sessions.

use serde_json::{Value, json};

/// A history that ends in a message.
#[derive(Clone)]
pub(crate) struct History {
    pub(crate) name: &'static str,
    pub(crate) policy: Value,
    pub(crate) events: Vec<Value>,
}

pub(crate) fn history(name: &'static str, policy: Value, events: Vec<Value>) -> History {
    History {
        name,
        policy,
        events,
    }
}

/// `count` times what `event` makes of each number, joined.
pub(crate) fn times(count: u64, event: impl Fn(u64) -> Vec<Value>) -> Vec<Value> {
    (0..count).flat_map(event).collect()
}

pub(crate) fn said(from: &str, to: &str, text: &str) -> Value {
    json!({"type": "message", "from": from, "to": to, "flow": "f", "content": text})
}

/// A message whose content nobody reports.
fn unread(from: &str, to: &str) -> Value {
    json!({"type": "message", "from": from, "to": to, "flow": "f"})
}

pub(crate) fn call(n: u64, tool: &str, args: Value) -> Value {
    json!({"type": "call", "session": "s1", "id": format!("c{n}"), "tool": tool, "args": args})
}

/// A call with its result.
pub(crate) fn step(n: u64, tool: &str, args: Value, result: &str) -> Vec<Value> {
    let done = json!({"type": "step", "session": "s1", "id": format!("c{n}"), "result": result});
    vec![call(n, tool, args), done]
}

pub(crate) fn failed(n: u64, tool: &str, args: Value, result: &str) -> Vec<Value> {
    let mut events = step(n, tool, args, result);
    events[1]["is_error"] = json!(true);
    events
}

pub(crate) fn delete(n: u64, target: &str) -> Vec<Value> {
    vec![call(n, "delete_asset", json!({ "asset_id": target }))]
}

pub(crate) fn usage(tokens: u64) -> Vec<Value> {
    vec![json!({"type": "usage", "session": "s1", "input_tokens": tokens, "cost_usd": 0.5})]
}

pub(crate) fn user() -> Value {
    json!({"type": "message", "to": "s1", "content": "go on", "unblock": true})
}

pub(crate) fn same(n: u64) -> Vec<Value> {
    step(n, "Read", json!({"file_path": "src/a.rs"}), "fn a() {}")
}

pub(crate) fn blocked_then(mut more: Vec<Value>) -> Vec<Value> {
    let mut events = times(5, same);
    events.append(&mut more);
    events
}

/// Each session hands a task to the next.
fn chain(count: u64) -> Vec<Value> {
    let ends = |n: u64| (n.to_string(), (n + 1).to_string());
    times(count, |n| vec![unread(&ends(n).0, &ends(n).1)])
}

fn talk(count: u64) -> Vec<Value> {
    times(count, |_| vec![unread("1", "2")])
}

/// A policy under which of the rules on messages only `rule` is on.
fn only(rule: &str, limits: Value) -> Value {
    let mut policy =
        json!({"rules": {"flow.*": "off", "inbox.rate": "off", "conversation.length": "off"}});
    policy["rules"][rule] = json!("enforce");
    for (key, value) in limits.as_object().into_iter().flatten() {
        policy[key] = value.clone();
    }
    policy
}

fn read(n: u64) -> Value {
    call(n, "Read", json!({"file_path": "a"}))
}

/// Reads two seconds apart.
fn apart(count: u64) -> Vec<Value> {
    times(count, |n| {
        let mut event = read(n);
        event["at"] = json!(1_760_000_000_000_u64 + n * 2_000);
        vec![event]
    })
}

fn killed(more: Value) -> Vec<Value> {
    [times(3, |n| delete(n, "fact_sales")), vec![more]].concat()
}

fn on_messages_a() -> Vec<History> {
    let none = json!({});
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
    ]
}

fn on_messages_b() -> Vec<History> {
    vec![
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
    ]
}

fn on_messages_c() -> Vec<History> {
    vec![
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
            times(3, |_| {
                vec![
                    json!({"type": "message", "from": "1", "to": "2", "flow": "f", "conversation": "c"}),
                ]
            }),
        ),
    ]
}

fn on_calls_a() -> Vec<History> {
    let none = json!({});
    let deny = json!({"access": {"deny": ["Read"]}, "session": {"max_refused": 2}});
    vec![
        history("access.denied", deny.clone(), vec![read(0)]),
        history(
            "call.identical",
            json!({"call": {"max_identical": 3, "repeat": 99, "window": "1500ms"}}),
            times(4, |n| {
                vec![{
                    let mut event = read(n);
                    event["at"] = json!(1_760_000_000_000_u64 + n * 100);
                    event
                }]
            }),
        ),
        history("call.repeat", none.clone(), times(4, |n| vec![read(n)])),
        history(
            "call.repeat, in turn",
            none.clone(),
            times(4, |n| {
                vec![
                    read(2 * n),
                    call(2 * n + 1, "Read", json!({"file_path": "b"})),
                ]
            }),
        ),
        history(
            "destructive.volume, a warning",
            none.clone(),
            [delete(0, "a.tmp"), delete(1, "b.tmp")].concat(),
        ),
    ]
}

fn on_calls_b() -> Vec<History> {
    let none = json!({});
    vec![
        history(
            "destructive.volume, several targets",
            none.clone(),
            times(3, |n| {
                delete(n, ["a.tmp", "b.tmp", "c.tmp"][usize::try_from(n).unwrap()])
            }),
        ),
        history(
            "destructive.volume, one target",
            none.clone(),
            times(3, |n| delete(n, "fact_sales")),
        ),
        history(
            "destructive.volume, of an agent",
            none.clone(),
            times(3, |n| {
                let mut events = delete(n, "fact_sales");
                events[0]["agent"] = json!("bulk cleaner's");
                events
            }),
        ),
        history(
            "destructive.target, a warning",
            json!({"destructive": {"max_calls": 50}}),
            times(2, |n| delete(n, "fact_sales")),
        ),
        history(
            "destructive.target, a kill",
            json!({"destructive": {"max_calls": 50}}),
            times(3, |n| delete(n, "fact_sales")),
        ),
    ]
}

fn on_calls_c() -> Vec<History> {
    let deny = json!({"access": {"deny": ["Read"]}, "session": {"max_refused": 2}});
    vec![
        history("session.defiance, a block", deny.clone(), apart(2)),
        history("session.defiance, then a refusal", json!({"session": {"max_refused": 2}, "override": [{"session": "s1", "access": {"deny": ["Read"]}}]}), [apart(2), vec![json!({"at": 1_760_000_004_500_u64, "type": "call", "session": "s1", "id": "z", "tool": "Write"})]].concat()),
        history("session.defiance, a kill", deny, apart(4)),
    ]
}

fn on_sessions_a() -> Vec<History> {
    let none = json!({});
    vec![
        history(
            "session.blocked, a call",
            none.clone(),
            blocked_then(vec![read(9)]),
        ),
        history(
            "session.blocked, the third call ends the turn",
            none.clone(),
            blocked_then(vec![read(9); 3]),
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
    ]
}

fn on_sessions_b() -> Vec<History> {
    let none = json!({});
    let kill = json!({"type": "kill", "session": "s1", "by": "ops@host", "why": "it sent mail"});
    vec![
        history(
            "session.blocked, where the user lifts it",
            none.clone(),
            [vec![user()], blocked_then(vec![read(9)])].concat(),
        ),
        history("session.killed, by a rule", none.clone(), killed(read(9))),
        history(
            "session.killed, by an operator",
            none.clone(),
            vec![kill.clone(), read(9)],
        ),
        history(
            "session.killed, a message to it",
            none.clone(),
            killed(said("2", "s1", "hi")),
        ),
    ]
}

fn on_sessions_c() -> Vec<History> {
    let none = json!({});
    let kill = json!({"type": "kill", "session": "s1", "by": "ops@host", "why": "it sent mail"});
    vec![
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

/// All of them but those about steps and budgets.
pub(crate) fn histories() -> Vec<History> {
    let parts = [
        on_messages_a(),
        on_messages_b(),
        on_messages_c(),
        on_calls_a(),
        on_calls_b(),
        on_calls_c(),
        on_sessions_a(),
        on_sessions_b(),
        on_sessions_c(),
    ];
    parts.into_iter().flatten().collect()
}
