//! Events from the wire: what is read, and what is refused in which words.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use proptest::prelude::*;
use serde_json::{Value, json};
use sprag_core::{
    DigestKey, Digester, Event, EventError, Hints, Identity, MAX_EVENT_BYTES, Message, MessageKind,
    Observation, Observed, Policy, Source, Timestamp,
};

const AT: Timestamp = Timestamp(1_760_000_000_000);

fn observe(event: &Event) -> Result<Observation, EventError> {
    Digester::new(DigestKey::fixed()).observe(event, AT, &Policy::default())
}

fn observed(event: Value) -> Observed {
    observe(&Event::from_value(&event).unwrap()).unwrap().what
}

fn parse_error(text: &str) -> String {
    Event::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_message_keeps_every_field() {
    let event = json!({
        "type": "message", "at": 7, "from": "1", "to": "2", "flow": "f", "conversation": "c9",
        "agent": "planner", "to_agent": "coder", "content": {"any": ["json"]}, "kind": "spawn",
        "source": "scheduler", "unblock": true, "generation": 3, "identity": "shared", "use_id": "toolu_1",
        "something": "else",
    });
    let Observed::Message(message) = observed(event.clone()) else {
        panic!("not a message");
    };
    let id = |text: &str| Some(text.parse().unwrap());
    let expected = Message {
        from: id("1"),
        to: "2".parse().unwrap(),
        source: Source::Scheduler,
        flow: id("f"),
        conversation: id("c9"),
        agent: id("planner"),
        to_agent: id("coder"),
        content: message.content,
        wording: None,
        kind: MessageKind::Spawn,
        unblock: true,
        generation: Some(3),
        identity: Identity::Shared,
        use_id: id("toolu_1"),
        task: None,
        family: None,
    };
    assert!(message.content.is_some());
    assert_eq!(message, expected);
    let event = Event::from_value(&event).unwrap();
    assert_eq!(event.at(), Some(Timestamp(7)));
    assert_eq!(event.session().as_str(), "1");
}

#[test]
fn a_message_without_a_sender_is_its_receivers() {
    let event = Event::from_value(&json!({"type": "message", "from": null, "to": "2"})).unwrap();
    assert_eq!(event.session().as_str(), "2");
    assert_eq!(event.at(), None);
}

#[test]
fn events_survive_the_wire() {
    for event in [
        json!({"type": "message", "at": 7, "from": "1", "to": "2", "content": "hi", "kind": "return"}),
        json!({"type": "call", "session": "s1", "agent": "a", "flow": "f", "id": "t1", "use_id": "u",
            "server": "catalog", "tool": "x", "args": {"a": [1, null]},
            "hints": {"read_only": false, "destructive": true}, "generation": 2, "identity": "shared"}),
        json!({"type": "step", "session": "s1", "id": "t1", "result": "no", "is_error": true}),
        json!({"type": "step", "session": "s1", "approach": "print(1)", "result": 1}),
        json!({"type": "usage", "session": "s1", "input_tokens": 1200, "output_tokens": 300,
            "cost_usd": 0.012}),
        json!({"type": "kill", "session": "s1", "by": "ops@host", "why": "loop"}),
        json!({"type": "reset", "session": "s1"}),
        json!({"type": "dispatch_start", "session": "2", "flow": "abc123"}),
        json!({"type": "dispatch_end", "session": "2"}),
    ] {
        let read = Event::from_value(&event).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), event);
        let observation = observe(&read).unwrap();
        let kept = serde_json::to_string(&observation).unwrap();
        assert_eq!(
            serde_json::from_str::<Observation>(&kept).unwrap(),
            observation
        );
    }
}

#[test]
fn events_can_be_built() {
    let mut event: Event = Event::call("s1", "delete_asset")
        .unwrap()
        .server("catalog")
        .unwrap()
        .hints(Hints::default())
        .args(json!({"asset_id": "x"}))
        .into();
    event.set_at(AT);
    let wire = json!({"type": "call", "at": AT, "session": "s1", "server": "catalog",
        "tool": "delete_asset", "args": {"asset_id": "x"}});
    assert_eq!(serde_json::to_value(&event).unwrap(), wire);

    let step: Event = Event::step("s1").unwrap().approach("ls").result("a").into();
    let message: Event = Event::message("2")
        .unwrap()
        .from("1")
        .unwrap()
        .content("hi")
        .into();
    let usage: Event = Event::usage("s1")
        .unwrap()
        .tokens(1, 2)
        .cost_usd(0.5)
        .unwrap()
        .into();
    for (event, session) in [(step, "s1"), (message, "1"), (usage, "s1")] {
        assert_eq!(event.session().as_str(), session);
    }
    let error = Event::call("", "x").unwrap_err();
    assert_eq!(error.to_string(), "session: an id must not be empty");
}

#[test]
fn debug_output_holds_no_payload() {
    let event: Event = Event::call("s", "t")
        .unwrap()
        .args(json!({"password": "hunter2"}))
        .into();
    assert!(!format!("{event:?}").contains("hunter2"));
}

#[test]
fn what_is_not_one_object_is_refused_in_words() {
    for (text, error) in [
        (
            "",
            "not an event: EOF while parsing a value at line 1 column 0",
        ),
        (
            "[]",
            "not an event: invalid type: sequence, expected a JSON object at line 1 column 0",
        ),
        (
            r#"{"type":"step","session":"s","session":"t"}"#,
            "not an event: duplicate field `session` at line 1 column 43",
        ),
        (
            r#"{"type":"kill","session":"s"} x"#,
            "not an event: trailing characters at line 1 column 31",
        ),
        (
            r#"{"type":"kill","session":"s}"#,
            "not an event: session: EOF while parsing a string at line 1 column 28",
        ),
    ] {
        assert_eq!(parse_error(text), error, "{text}");
    }
}

#[test]
fn a_type_that_is_not_known_is_refused_with_the_nearest() {
    for (text, error) in [
        ("{}", "type: missing, and every event needs it"),
        (
            r#"{"type":"mesage"}"#,
            "type: unknown event type \"mesage\"; did you mean \"message\"?",
        ),
        (
            r#"{"type":"banana"}"#,
            "type: unknown event type \"banana\"; known types are message, call, step, usage, \
             output, kill, reset, dispatch_start, dispatch_end, approve, decline",
        ),
        (
            r#"{"type":5}"#,
            "type: expected a string, found 5 at line 1 column 9",
        ),
    ] {
        assert_eq!(parse_error(text), error, "{text}");
    }
}

#[test]
fn a_field_that_is_missing_or_ill_typed_is_named_with_its_place() {
    for (text, error) in [
        (
            r#"{"type":"call","session":"s"}"#,
            "tool: missing, and a call needs it",
        ),
        (
            r#"{"type":"message","to":null}"#,
            "to: missing, and a message needs it",
        ),
        (
            r#"{"type":"step","session":""}"#,
            "session: an id must not be empty",
        ),
        (
            "{\"type\":\"step\",\n \"session\":{}}",
            "session: expected a string, found an object at line 2 column 12",
        ),
        (
            r#"{"type":"message","to":"2","kind":"shout"}"#,
            "kind: expected \"say\", \"spawn\" or \"return\", found \"shout\" at line 1 column 35",
        ),
        (
            r#"{"type":"step","session":"s","generation":-1}"#,
            "generation: expected a whole number from 0 to 4294967295, found -1 at line 1 column 43",
        ),
        (
            r#"{"type":"step","session":"s","at":"now"}"#,
            "at: expected milliseconds since 1970 as a whole number, found \"now\" at line 1 column 35",
        ),
        (
            r#"{"type":"step","session":"s","is_error":"yes"}"#,
            "is_error: expected true or false, found \"yes\" at line 1 column 41",
        ),
        (
            r#"{"type":"step","session":"s","result":1,"outcome":2}"#,
            "result: a step has `result` or `outcome`, not both",
        ),
    ] {
        assert_eq!(parse_error(text), error, "{text}");
    }
}

#[test]
fn a_cost_that_nobody_has_is_refused() {
    for (text, error) in [
        (
            r#"{"type":"usage","session":"s","cost_usd":-0.5}"#,
            "cost_usd: expected 0 to 1000000 US dollars, found -0.5",
        ),
        (
            r#"{"type":"usage","session":"s","cost_usd":1e300}"#,
            "cost_usd: expected 0 to 1000000 US dollars, \
             found 1e300",
        ),
    ] {
        assert_eq!(parse_error(text), error, "{text}");
    }
    assert!(matches!(
        Event::usage("s").unwrap().cost_usd(f64::NAN),
        Err(EventError::Cost { .. })
    ));
}

#[test]
fn broken_text_is_refused_with_its_place() {
    let error = Event::parse(b"{\"type\":\"\xff\"}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "an event is UTF-8 text; byte 9 (counted from 0) is not"
    );
    let long = vec![b' '; MAX_EVENT_BYTES + 1];
    assert_eq!(
        Event::parse(&long).unwrap_err().to_string(),
        "an event has at most 67108864 bytes, this one has 67108865"
    );
}

#[test]
fn fields_of_other_types_are_as_unknown_as_any() {
    let text = r#"{"type":"call","session":"s","tool":"t","kind":5,"source":{},"by":[1]}"#;
    assert!(Event::parse(text.as_bytes()).is_ok());
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = Event::parse(&bytes);
    }

    #[test]
    fn no_payload_makes_it_panic(
        payload in "[\\[\\]{}\",:0-9eE.+\\-\\\\utrfalsn ]{0,30}",
        field in prop_oneof![Just("args"), Just("result"), Just("content"), Just("approach")],
        kind in prop_oneof![Just("call"), Just("step"), Just("message")],
    ) {
        let text = format!(
            r#"{{"type":"{kind}","session":"s","to":"t","tool":"delete_x","{field}":{payload}}}"#
        );
        if let Ok(event) = Event::parse(text.as_bytes()) {
            let _ = observe(&event);
        }
    }
}
