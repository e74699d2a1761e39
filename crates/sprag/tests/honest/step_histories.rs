//! Short histories, each of which ends in a message about steps or budgets.

use serde_json::{Value, json};

use crate::histories::{History, call, failed, history, said, same, step, times, usage};

const PAGE: &str = "chapter one is about the history of the place ";

fn word(n: u64) -> String {
    crate::session::Numbers::new(n * 7 + 1).word()
}

fn edit(n: u64) -> Vec<Value> {
    let args = json!({"file_path": "a.rs", "new_string": format!("x{n}")});
    step(n, "Edit", args, "edited")
}

fn test(n: u64) -> Vec<Value> {
    failed(
        n,
        "Bash",
        json!({"command": "cargo test"}),
        "FAILED: expected 3, got 4",
    )
}

fn on_steps_a() -> Vec<History> {
    let none = json!({});
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
            "progress.recurrence, however it is called",
            none.clone(),
            times(24, |n| {
                if n.is_multiple_of(2) {
                    step(n, "Read", json!({"file_path": word(n)}), &word(n + 50))
                } else {
                    let command = format!("./gradlew build --{}", word(n));
                    failed(n, "Bash", json!({"command": command}), "error: no licence")
                }
            }),
        ),
    ]
}

fn on_steps_b() -> Vec<History> {
    let none = json!({});
    let page = PAGE.repeat(6);
    vec![
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
    ]
}

fn on_steps_c() -> Vec<History> {
    let none = json!({});
    let page = PAGE.repeat(6);
    vec![
        history(
            "progress.stuck, nearly the same words",
            none.clone(),
            times(31, |n| {
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
                    if n.is_multiple_of(3) {
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
            times(40, |n| {
                if n.is_multiple_of(2) {
                    test(n)
                } else {
                    edit(n)
                }
            }),
        ),
        history(
            "progress.recurrence, a habit",
            none.clone(),
            times(13, |n| {
                if n.is_multiple_of(2) {
                    step(n, "Bash", json!({"command": "ls -l"}), "total 0")
                } else {
                    step(n, "Read", json!({"file_path": word(n)}), &word(n + 50))
                }
            }),
        ),
    ]
}

fn on_steps_d() -> Vec<History> {
    let none = json!({});
    vec![
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
                if n.is_multiple_of(2) {
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
    ]
}

fn on_steps_e() -> Vec<History> {
    let none = json!({});
    let plain = json!({"progress": {"classifier": "plain"}});
    vec![
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

/// What is said depends on what could be seen, and on what stands above a session.
fn on_what_is_known() -> Vec<History> {
    let read = json!({"type": "step", "session": "2", "tool": "Read", "args": {}, "result": "a"});
    vec![
        history(
            "flow.echo, a warning if work could be seen",
            json!({}),
            [vec![read], times(3, |_| vec![said("1", "2", "again")])].concat(),
        ),
        history(
            "call.identical, in turn and without results",
            json!({"call": {"max_identical": 4, "repeat": 99}}),
            times(4, |n| {
                vec![
                    call(2 * n, "Read", json!({"file_path": "a"})),
                    call(2 * n + 1, "Read", json!({"file_path": "b"})),
                ]
            }),
        ),
        history(
            "session.killed, one of several above",
            json!({}),
            vec![
                json!({"type": "kill", "session": "s1/lead", "by": "ops@host"}),
                json!({"type": "call", "session": "s1/lead/coder", "tool": "Read"}),
            ],
        ),
    ]
}

/// All histories about steps and budgets.
pub(crate) fn histories() -> Vec<History> {
    let parts = [
        on_what_is_known(),
        on_budgets(),
        on_steps_a(),
        on_steps_b(),
        on_steps_c(),
        on_steps_d(),
        on_steps_e(),
    ];
    parts.into_iter().flatten().collect()
}
