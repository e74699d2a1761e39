//! What a page costs, however much the server remembers: records read and events folded are bounded by the page or by
//! the session. `SPRAG_SESSIONS` is how many sessions there are; 100,000 make 300,000 records.

use serde_json::{Value, json};

use crate::test_server::TestServer;

/// How many sessions fill the store.
fn sessions() -> usize {
    let named = std::env::var_os("SPRAG_SESSIONS");
    named.map_or(2_000, |text| text.into_string().unwrap().parse().unwrap())
}

const BATCH: usize = 1_000;

/// Sessions of three records each, four of them by one agent; every hundredth runs away.
fn fill(server: &TestServer, sessions: usize, operator: &str) {
    for start in (0..sessions).step_by(BATCH) {
        let mut lines = String::new();
        for n in start..(start + BATCH).min(sessions) {
            let (session, agent) = (format!("run-{n}"), format!("agent-{}", n / 4));
            let runs_away = n % 100 == 0;
            let call = |id: usize| {
                let (tool, id) = match runs_away {
                    true => ("delete_asset", 7),
                    false => ("read_file", id),
                };
                json!({"type": "call", "session": session, "agent": agent, "tool": tool, "args": {"id": id}})
            };
            let usage = json!({"type": "usage", "session": session, "agent": agent, "flow": format!("flow-{}", n / 4), "input_tokens": 10, "cost_usd": 0.01});
            let told = match runs_away {
                true => vec![usage, call(1), call(2), call(3)],
                false => vec![usage, call(1), call(2)],
            };
            for event in told {
                lines += &format!("{event}\n");
            }
        }
        let headers = format!("content-type: application/x-ndjson\r\n{operator}");
        let answer = server.send("POST", "/v1/check/batch", &headers, &lines);
        assert_eq!(answer.status, 200, "{}", answer.head);
    }
}

#[test]
fn what_a_page_reads_and_folds_does_not_grow_with_what_the_server_remembers() {
    let sessions = sessions();
    let server = TestServer::start();
    let operator = format!(
        "authorization: Bearer {}\r\n",
        server.token(sprag::Role::Operator)
    );
    let ask = |path: &str| -> (Value, u64) {
        let before = server.guard.records_read();
        let answer = server.send("GET", path, &operator, "");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        (answer.json(), server.guard.records_read() - before)
    };
    fill(&server, sessions, &operator);
    let stops = u64::try_from(sessions.div_ceil(100)).unwrap();
    while ask("/v1/stops").0["stops"].as_u64().unwrap() < stops {
        std::thread::yield_now();
    }
    for path in [
        "/v1/stops?sort=cost",
        "/v1/stops?q=run-100",
        "/v1/agents",
        "/v1/agents/agent-3",
        "/v1/flows?q=flow-17",
        "/v1/spend?by=session",
        "/v1/spend?by=flow&limit=500",
        "/v1/sessions?sort=refused",
        "/v1/sessions/run-3",
        "/v1/stats",
    ] {
        let (answer, read) = ask(path);
        assert_eq!(read, 0, "{path} reads the log");
        let items = answer["items"].as_array().map_or(0, Vec::len);
        assert!(items <= 500, "{path}: {items}");
    }
    let (page, read) = ask("/v1/log?limit=50");
    assert_eq!((page["items"].as_array().unwrap().len(), read), (50, 50));
    let (_, read) = ask("/v1/sessions/run-100/events");
    assert!(read <= 5, "{read}");
    let (replay, _) = ask("/v1/sessions/run-3/replay");
    // Its own three, and what shares its flow and its agent with it.
    assert!(replay["folded"].as_u64().unwrap() <= 3 * 4 + 4, "{replay}");
    let (found, read) = ask("/v1/log?q=nothing-holds-this");
    let scanned = found["scanned"].as_u64().unwrap();
    assert!(scanned <= 20_000 && read <= 21_000, "{scanned} {read}");
}
