//! Answers on their way to the client.

use crate::setting::{Setting, call, text_result};

/// The same call with the same answer, until the guard has a word on it.
fn until_warned(setting: &Setting, answer: impl Fn(u32) -> String) -> String {
    for id in 1..4 {
        setting.up(&call(id, "read_page", "{}"));
        setting.down(&answer(id));
    }
    setting.up(&call(4, "read_page", "{}"));
    setting.worded(&answer(4))
}

#[test]
fn a_warning_stands_next_to_the_real_result() {
    let setting = Setting::new();
    let worded = until_warned(&setting, |id| text_result(id, "nothing new"));
    insta::assert_snapshot!(worded, @r#"{"result":{"content":[{"type":"text","text":"nothing new"},{"type":"text","text":"[sprag] `read_page` gave the same answer 4 times in a row (3/5 before block). Change the approach, or say what is missing."}]},"jsonrpc":"2.0","id":4}"#);
}

#[test]
fn structured_content_stays_as_it_is() {
    let setting = Setting::new();
    let worded = until_warned(&setting, |id| {
        format!(r#"{{"id":{id},"result":{{"structuredContent":{{"content":[]}},"content":[ ]}}}}"#)
    });
    assert!(worded.starts_with(r#"{"id":4,"result":{"structuredContent":{"content":[]},"content":[ {"type":"text","text":"[sprag]"#), "{worded}");
}

#[test]
fn a_protocol_error_is_an_outcome_too() {
    let setting = Setting::new();
    let worded = until_warned(&setting, |id| {
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
    let setting = Setting::new();
    until_warned(&setting, |id| text_result(id, "nothing new"));
    for id in 5..6 {
        setting.up(&call(id, "read_page", "{}"));
        setting.worded(&text_result(id, "nothing new"));
    }
    let why = setting.refused(&call(6, "read_page", "{}"));
    assert!(why.contains("blocked"), "{why}");
}

#[test]
fn a_request_of_the_server_is_not_taken_for_an_answer() {
    let setting = Setting::new();
    setting.up(&call(1, "ask", "{}"));
    setting.down(r#"{"id":1,"method":"sampling/createMessage","params":{"messages":[]}}"#);
    setting.down(
        r#"{"id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}"#,
    );
    setting.up(r#"{"id":1,"result":{"action":"accept","content":{}}}"#);
    assert_eq!(setting.records().len(), 1);
    setting.down(&text_result(1, "done"));
    assert_eq!(setting.records().len(), 2);
    setting.down(&text_result(1, "nobody asked"));
    assert_eq!(setting.records().len(), 2);
}

#[test]
fn an_id_is_known_again_however_it_is_written() {
    let setting = Setting::new();
    for (asked, answered) in [
        ("1", "1.0"),
        (r#""a/b""#, r#""\u0061\/b""#),
        ("null", "null"),
        ("-0.5e1", "-5"),
    ] {
        let before = setting.records().len();
        setting.up(&format!(
            r#"{{"id":{asked},"method":"tools/call","params":{{"name":"x{before}"}}}}"#
        ));
        setting.down(&format!(r#"{{"id":{answered},"result":{{"content":[]}}}}"#));
        assert_eq!(setting.records().len(), before + 2, "{asked}");
    }
    setting.up(&call(7, "y", "{}"));
    setting.down(r#"{"id":"7","result":{"content":[]}}"#);
    assert_eq!(setting.records().len(), 9);
}

#[test]
fn a_batch_of_answers_gets_its_words_one_by_one() {
    let setting = Setting::new();
    let batch: Vec<String> = (1..6).map(|id| call(id, "read_page", "{}")).collect();
    setting.up(&format!("[{}]", batch.join(",")));
    let answers: Vec<String> = (1..6).map(|id| text_result(id, "same")).collect();
    let worded = setting.worded(&format!("[ {} ]", answers.join(" , ")));
    let read: serde_json::Value = serde_json::from_str(&worded).unwrap();
    let lengths: Vec<usize> = (0..5)
        .map(|n| read[n]["result"]["content"].as_array().unwrap().len())
        .collect();
    assert_eq!(lengths, [1, 1, 1, 2, 2]);
}

#[test]
fn a_call_that_the_client_gave_up_is_an_outcome_and_its_word_comes_with_the_next_answer() {
    let setting = Setting::new();
    for id in 1..5 {
        setting.up(&call(id, "slow", "{}"));
        setting.up(&format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id},"reason":"timeout"}}}}"#));
        setting.down(&text_result(id, "too late"));
    }
    setting.up(&call(9, "other", "{}"));
    let worded = setting.worded(&text_result(9, "fresh"));
    assert!(worded.contains("[sprag]"), "{worded}");
}

#[test]
fn what_the_server_says_out_of_turn_passes() {
    let setting = Setting::new();
    setting.up(&call(1, "a", "{}"));
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
        setting.down(message);
    }
}
