//! Repetition that the protocol asks for, and that is no loop.

use crate::gate_fixture::{GateFixture, call, text_result};

fn next_round(id: u32, state: &str) -> String {
    format!(
        r#"{{"id":{id},"method":"tools/call","params":{{"name":"delete_asset","arguments":{{"id":"a"}},"inputResponses":{{"ok":{{"action":"accept"}}}},"requestState":"{state}"}}}}"#
    )
}

fn asks(id: u32, state: &str) -> String {
    format!(
        r#"{{"id":{id},"result":{{"resultType":"input_required","inputRequests":{{"ok":{{"method":"elicitation/create"}}}},"requestState":"{state}"}}}}"#
    )
}

#[test]
fn a_call_that_the_server_asks_back_about_is_one_call() {
    let fixture = GateFixture::new();
    fixture.up(&call(1, "delete_asset", r#"{"id":"a"}"#));
    for round in 1..20 {
        fixture.down(&asks(round, &format!("r{round}")));
        fixture.up(&next_round(round + 1, &format!("r{round}")));
    }
    assert_eq!(fixture.records().len(), 1);
    fixture.down(r#"{"id":20,"result":{"resultType":"complete","content":[]}}"#);
    assert_eq!(fixture.records().len(), 2);
}

#[test]
fn a_call_that_only_says_to_be_the_next_round_counts() {
    let fixture = GateFixture::new();
    fixture.up(&next_round(1, "made up"));
    fixture.down(&text_result(1, "x"));
    fixture.up(&next_round(2, "made up"));
    fixture.refused(&next_round(3, "made up"));
}

#[test]
fn a_server_that_asks_back_without_end_is_not_followed_without_end() {
    let fixture = GateFixture::new();
    fixture.up(&call(1, "delete_asset", r#"{"id":"a"}"#));
    for round in 1..40 {
        fixture.down(&asks(round, "same"));
        fixture.up(&next_round(round + 1, "same"));
    }
    assert!(fixture.records().len() > 1);
}

#[test]
fn a_task_of_2025_is_one_call_however_often_it_is_looked_after() {
    let fixture = GateFixture::new();
    fixture.up(r#"{"id":1,"method":"tools/call","params":{"name":"slow","arguments":{},"task":{"ttl":60000}}}"#);
    fixture.down(r#"{"id":1,"result":{"task":{"taskId":"t1","status":"working"}}}"#);
    for id in 2..40 {
        fixture.up(&format!(
            r#"{{"id":{id},"method":"tasks/get","params":{{"taskId":"t1"}}}}"#
        ));
        fixture.down(&format!(
            r#"{{"id":{id},"result":{{"taskId":"t1","status":"working"}}}}"#
        ));
    }
    assert_eq!(fixture.records().len(), 1);
    fixture.up(r#"{"id":50,"method":"tasks/result","params":{"taskId":"t1"}}"#);
    fixture.down(r#"{"id":50,"result":{"content":[{"type":"text","text":"done"}]}}"#);
    assert_eq!(fixture.records().len(), 2);
}

#[test]
fn a_task_of_2026_brings_its_result_when_it_is_looked_after() {
    let fixture = GateFixture::new();
    for run in 0..4 {
        let base = run * 10;
        fixture.up(&call(base + 1, "slow", "{}"));
        fixture.down(&format!(
            r#"{{"id":{},"result":{{"resultType":"task","taskId":"t{run}","status":"working"}}}}"#,
            base + 1
        ));
        fixture.up(&format!(
            r#"{{"id":{},"method":"tasks/get","params":{{"taskId":"t{run}"}}}}"#,
            base + 2
        ));
        fixture.down(&format!(
            r#"{{"id":{},"result":{{"taskId":"t{run}","status":"working"}}}}"#,
            base + 2
        ));
        fixture.up(&format!(
            r#"{{"id":{},"method":"tasks/get","params":{{"taskId":"t{run}"}}}}"#,
            base + 3
        ));
        let done = format!(
            r#"{{"id":{},"result":{{"resultType":"complete","taskId":"t{run}","status":"completed","result":{{"content":[{{"type":"text","text":"three rows, as before"}}]}}}}}}"#,
            base + 3
        );
        if run < 3 {
            fixture.down(&done);
        } else {
            let worded = fixture.worded(&done);
            assert!(worded.contains(r#""result":{"content":[{"type":"text","text":"three rows, as before"},{"type":"text","text":"[sprag]"#), "{worded}");
        }
    }
}

#[test]
fn listing_tools_again_and_again_is_nobodys_business() {
    let fixture = GateFixture::new();
    for id in 0..100 {
        fixture.up(&format!(r#"{{"id":{id},"method":"tools/list"}}"#));
        fixture.down(&format!(r#"{{"id":{id},"result":{{"tools":[]}}}}"#));
    }
    assert!(fixture.records().is_empty());
}

#[test]
fn the_same_call_many_times_at_once_is_not_refused() {
    let fixture = GateFixture::new();
    let batch: Vec<String> = (0..20)
        .map(|id| call(id, "read", r#"{"path":"a"}"#))
        .collect();
    fixture.up(&format!("[{}]", batch.join(",")));
}
