//! Answers on their way to the client.

use crate::gate_fixture::{GateFixture, call, text_result};

/// The same call with the same answer, until the guard has a word on it.
fn until_warned(fixture: &GateFixture, answer: impl Fn(u32) -> String) -> String {
    for id in 1..4 {
        fixture.up(&call(id, "read_page", "{}"));
        fixture.down(&answer(id));
    }
    fixture.up(&call(4, "read_page", "{}"));
    fixture.worded(&answer(4))
}

#[test]
fn a_warning_stands_next_to_the_real_result() {
    let fixture = GateFixture::new();
    let worded = until_warned(&fixture, |id| text_result(id, "nothing new"));
    insta::assert_snapshot!(worded, @r#"{"result":{"content":[{"type":"text","text":"nothing new"},{"type":"text","text":"[sprag] `read_page` gave the same answer 4 times in a row (3/5 before block). The very same call again counts twice. Change the approach, or say what is missing."}]},"jsonrpc":"2.0","id":4}"#);
}

#[test]
fn structured_content_stays_as_it_is() {
    let fixture = GateFixture::new();
    let worded = until_warned(&fixture, |id| {
        format!(r#"{{"id":{id},"result":{{"structuredContent":{{"content":[]}},"content":[ ]}}}}"#)
    });
    assert!(worded.starts_with(r#"{"id":4,"result":{"structuredContent":{"content":[]},"content":[ {"type":"text","text":"[sprag]"#), "{worded}");
}

#[test]
fn a_protocol_error_is_an_outcome_too() {
    let fixture = GateFixture::new();
    let worded = until_warned(&fixture, |id| {
        format!(
            r#"{{"id":{id},"error":{{"code":-32602,"message":"no such tool","x":12345678901234567890}}}}"#
        )
    });
    assert!(
        worded.starts_with(r#"{"id":4,"error":{"code":-32602,"message":"no such tool [sprag] "#),
        "{worded}"
    );
    assert!(
        worded.ends_with(r#"","x":12345678901234567890}}"#),
        "{worded}"
    );
}

#[test]
fn a_session_that_goes_on_is_blocked_by_its_next_call_and_keeps_its_results() {
    let fixture = GateFixture::new();
    until_warned(&fixture, |id| text_result(id, "nothing new"));
    for id in 5..6 {
        fixture.up(&call(id, "read_page", "{}"));
        fixture.worded(&text_result(id, "nothing new"));
    }
    let why = fixture.refused(&call(6, "read_page", "{}"));
    assert!(why.contains("blocked"), "{why}");
}

#[test]
fn a_request_of_the_server_is_not_taken_for_an_answer() {
    let fixture = GateFixture::new();
    fixture.up(&call(1, "ask", "{}"));
    fixture.down(r#"{"id":1,"method":"sampling/createMessage","params":{"messages":[]}}"#);
    fixture.down(
        r#"{"id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}"#,
    );
    fixture.up(r#"{"id":1,"result":{"action":"accept","content":{}}}"#);
    assert_eq!(fixture.records().len(), 1);
    fixture.down(&text_result(1, "done"));
    assert_eq!(fixture.records().len(), 2);
    fixture.down(&text_result(1, "nobody asked"));
    assert_eq!(fixture.records().len(), 2);
}

#[test]
fn an_id_is_known_again_however_it_is_written() {
    let fixture = GateFixture::new();
    for (asked, answered) in [
        ("1", "1.0"),
        (r#""a/b""#, r#""\u0061\/b""#),
        ("null", "null"),
        ("-0.5e1", "-5"),
    ] {
        let before = fixture.records().len();
        fixture.up(&format!(
            r#"{{"id":{asked},"method":"tools/call","params":{{"name":"x{before}"}}}}"#
        ));
        fixture.down(&format!(r#"{{"id":{answered},"result":{{"content":[]}}}}"#));
        assert_eq!(fixture.records().len(), before + 2, "{asked}");
    }
    fixture.up(&call(7, "y", "{}"));
    fixture.down(r#"{"id":"7","result":{"content":[]}}"#);
    assert_eq!(fixture.records().len(), 9);
}

#[test]
fn a_batch_of_answers_gets_its_words_one_by_one() {
    let fixture = GateFixture::new();
    let batch: Vec<String> = (1..6).map(|id| call(id, "read_page", "{}")).collect();
    fixture.up(&format!("[{}]", batch.join(",")));
    let answers: Vec<String> = (1..6).map(|id| text_result(id, "same")).collect();
    let worded = fixture.worded(&format!("[ {} ]", answers.join(" , ")));
    let read: serde_json::Value = serde_json::from_str(&worded).unwrap();
    let lengths: Vec<usize> = (0..5)
        .map(|n| read[n]["result"]["content"].as_array().unwrap().len())
        .collect();
    assert_eq!(lengths, [1, 1, 1, 2, 2]);
}

#[test]
fn a_call_that_the_client_gave_up_is_an_outcome_and_its_word_comes_with_the_next_answer() {
    let fixture = GateFixture::new();
    for id in 1..5 {
        fixture.up(&call(id, "slow", "{}"));
        fixture.up(&format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id},"reason":"timeout"}}}}"#));
        fixture.down(&text_result(id, "too late"));
    }
    fixture.up(&call(9, "other", "{}"));
    let worded = fixture.worded(&text_result(9, "fresh"));
    assert!(worded.contains("[sprag]"), "{worded}");
}

#[test]
fn what_the_server_says_out_of_turn_passes() {
    let fixture = GateFixture::new();
    fixture.up(&call(1, "a", "{}"));
    for message in [
        "starting up…",
        "",
        "{",
        "[]",
        "[7]",
        r#"{"id":1}"#,
        r#"{"result":{}}"#,
        r#"{"method":"notifications/progress","params":{}}"#,
        r#"{"id":99,"result":{}}"#,
        r#"{"id":1,"id":1,"result":{}}"#,
    ] {
        fixture.down(message);
    }
}
