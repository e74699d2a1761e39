//! What the digester makes of events: digests that are equal where the values are, and little else.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail by panicking"
)]

use serde_json::{Value, json};
use sprag_core::{
    Approach, Digest, DigestKey, Digester, Event, EventError, Field, Observation, Observed,
    Outcome, Policy, Timestamp, Tone,
};

const AT: Timestamp = Timestamp(1_760_000_000_000);

fn observe(event: &Event) -> Result<Observation, EventError> {
    Digester::new(DigestKey::fixed()).observe(event, AT, &Policy::default())
}

fn observed(event: Value) -> Observed {
    observe(&Event::from_value(&event).unwrap()).unwrap().what
}

fn approach(event: Value) -> Approach {
    match observed(event) {
        Observed::Call(call) => call.approach,
        Observed::Step(step) => step.approach.unwrap(),
        other => panic!("{other:?}"),
    }
}

fn call(tool: &str, args: Value) -> Approach {
    approach(json!({"type": "call", "session": "s", "tool": tool, "args": args}))
}

fn outcome(result: Value) -> Outcome {
    match observed(json!({"type": "step", "session": "s", "result": result})) {
        Observed::Step(step) => step.outcome,
        other => panic!("{other:?}"),
    }
}

fn names(fields: &[Field]) -> Vec<&str> {
    fields.iter().map(|field| &*field.name).collect()
}

/// What an event that is not read strictly is the same as.
#[test]
fn payloads_that_can_be_read_in_two_ways_are_reduced_and_judged() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let of = |args: &str| {
        let text = format!(r#"{{"type":"call","session":"s","tool":"t","args":{args}}}"#);
        match observe(&Event::parse(text.as_bytes()).unwrap())
            .unwrap()
            .what
        {
            Observed::Call(call) => call.approach,
            other => panic!("{other:?}"),
        }
    };
    for (odd, other) in [
        (r#"{"a":1,"a":2}"#, r#"{"a":3,"a":2}"#),
        (r#"{"n":1e999}"#, r#"{"n":-1e999}"#),
        (r#"{"x":"a\ud83d"}"#, r#"{"x":"b\ud83d"}"#),
        (deep.as_str(), "[]"),
    ] {
        assert_eq!(of(odd).exact, of(odd).exact);
        assert_ne!(of(odd).exact, of(other).exact, "{odd}");
    }
    // The last of two equal keys is what most tools take: it is the one that is looked into.
    assert_eq!(
        names(&of(r#"{"path":"a","path":"b"}"#).fields),
        ["path", "path\u{fffd}1"]
    );
}

#[test]
fn a_call_is_its_server_tool_and_arguments() {
    let plain = call("read", json!({"a": 1, "b": "x"}));
    assert_eq!(plain.exact, call("read", json!({"b": "x", "a": 1.0})).exact);
    assert_ne!(plain.exact, call("write", json!({"a": 1, "b": "x"})).exact);
    assert_ne!(plain.exact, call("read", json!({"a": 1, "b": "y"})).exact);
    let elsewhere = approach(
        json!({"type": "call", "session": "s", "server": "fs", "tool": "read",
        "args": {"a": 1, "b": "x"}}),
    );
    assert_ne!(plain.exact, elsewhere.exact);
    let step = approach(
        json!({"type": "step", "session": "t", "server": "fs", "tool": "read",
        "args": {"a": 1, "b": "x"}, "result": ""}),
    );
    assert_eq!(step.exact, elsewhere.exact);
    assert!(!plain.oversized);
}

#[test]
fn no_arguments_null_and_an_empty_object_are_one() {
    let absent = approach(json!({"type": "call", "session": "s", "tool": "t"}));
    assert_eq!(absent.exact, call("t", json!({})).exact);
    assert_eq!(absent.exact, call("t", Value::Null).exact);
    assert_ne!(absent.exact, call("t", json!([])).exact);
}

#[test]
fn a_nonce_changes_the_exact_digest_only() {
    let one = call("get", json!({"q": 1, "request_id": "a"}));
    let other = call("get", json!({"q": 1, "request_id": "b"}));
    assert_ne!(one.exact, other.exact);
    assert_eq!(one.normal, other.normal);
    let plain = call("get", json!({"q": 1}));
    assert_eq!(plain.exact, plain.normal);
}

#[test]
fn a_program_is_no_tool() {
    let program = approach(json!({"type": "step", "session": "s", "approach": "print(1)"}));
    assert_eq!((program.tool, program.server), (None, None));
    let other = approach(json!({"type": "step", "session": "s", "approach": "print(2)"}));
    assert_ne!(program.exact, other.exact);
}

#[test]
fn a_pin_a_pass_an_ssh_key_and_a_connection_string_are_not_digested_one_by_one() {
    let args = json!({"pin": 1234, "pass": "x", "ssh_key": "y", "connection_string": "z",
        "userPin": "5", "accountKey": "k", "sas": "s", "path": "p"});
    assert_eq!(names(&call("login", args).fields), ["path"]);
}

#[test]
fn scalars_are_named_and_secrets_are_not() {
    let args = json!({"path": "/x", "n": 1, "on": true, "none": null, "deep": {"a": 1},
        "tags": ["a", 2], "mixed": [1, []], "password": "x", "API-Key": "y", "maxTokens": 5});
    let fields = call("read", args).fields;
    assert_eq!(
        names(&fields),
        ["path", "maxTokens", "n", "on", "tags", "tags"]
    );
    assert!(fields.iter().all(|field| field.text.is_none()));
    let same = call("write", json!({"other": "/x"})).fields;
    assert_eq!(fields[0].digest, same[0].digest);
}

#[test]
fn at_most_16_names_are_kept_and_targets_come_first() {
    let mut args: serde_json::Map<String, Value> =
        (0..40).map(|n| (format!("a{n:02}"), n.into())).collect();
    args.insert("table".to_owned(), "t".into());
    let fields = call("read", Value::Object(args)).fields;
    assert_eq!(fields.len(), 16);
    assert_eq!(names(&fields)[..3], ["table", "a00", "a01"]);
}

#[test]
fn at_most_64_elements_of_an_array_are_kept() {
    let ids: Vec<u32> = (0..100).collect();
    assert_eq!(call("read", json!({"id": ids, "x": 1})).fields.len(), 65);
}

#[test]
fn only_targets_of_destructive_calls_are_kept_in_clear() {
    let long = "é".repeat(100);
    let args = json!({"asset_id": "a\nb", "table": long, "id": 1200, "note": "x"});
    let text = |tool| -> Vec<Option<String>> {
        let fields = call(tool, args.clone()).fields;
        fields
            .into_iter()
            .map(|field| field.text.map(String::from))
            .collect()
    };
    let cut = format!("{}…", "é".repeat(79));
    assert_eq!(
        text("deleteAsset"),
        [
            Some("a\u{fffd}b".to_owned()),
            Some("1200".to_owned()),
            Some(cut),
            None
        ]
    );
    assert_eq!(text("read"), [None, None, None, None]);
}

#[test]
fn a_target_is_kept_in_clear_if_any_override_makes_the_call_destructive() {
    let policy = Policy::from_toml(
        "[[override]]\nagent = \"purger\"\n\
         destructive = { tools = [\"purge_*\"], targets = [\"bucket\"] }\n\
         [[override]]\nsession = \"s-*\"\ndestructive.trust_hints = true\n",
    )
    .unwrap();
    let clear = |event: Value| -> Vec<String> {
        let event = Event::from_value(&event).unwrap();
        let digester = Digester::new(DigestKey::fixed());
        let Observed::Call(call) = digester.observe(&event, AT, &policy).unwrap().what else {
            panic!("not a call");
        };
        let fields = call.approach.fields.into_iter();
        fields
            .filter_map(|field| field.text.map(String::from))
            .collect()
    };
    let args = json!({"bucket": "b1", "id": "i1", "note": "x"});
    for tool in ["purge_bucket", "delete_bucket"] {
        let call = json!({"type": "call", "session": "other", "tool": tool, "args": args});
        assert_eq!(clear(call), ["b1", "i1"]);
    }
    let hinted = json!({"type": "call", "session": "other", "tool": "wipe", "args": args,
        "hints": {"destructive": true}});
    assert_eq!(clear(hinted), ["b1", "i1"]);
    let read = json!({"type": "call", "session": "s-1", "tool": "read", "args": args});
    assert!(clear(read).is_empty());
}

#[test]
fn an_outcome_is_its_result_and_whether_it_failed() {
    let text = outcome(json!("still there"));
    assert_eq!(text.exact, outcome(json!("still there")).exact);
    assert_ne!(text.exact, outcome(json!("gone")).exact);
    let Observed::Step(failed) = observed(
        json!({"type": "step", "session": "s", "outcome": "still there", "is_error": true}),
    ) else {
        panic!("not a step");
    };
    assert_ne!(text.exact, failed.outcome.exact);
    assert_eq!(failed.outcome.tone, Tone::Failure);
    assert_ne!(outcome(json!("1")).exact, outcome(json!(1)).exact);
    assert_eq!(
        outcome(json!({"a": 1, "took": 3})).normal,
        outcome(json!({"took": 4, "a": 1})).normal
    );
    assert_eq!(outcome(Value::Null).tone, Tone::Silent);
}

#[test]
fn what_is_too_long_is_digested_as_it_came() {
    let fits = "x".repeat(256 * 1024 - 2);
    let long = format!("{fits}xx");
    let arguments = call("write", json!({"path": "/a", "text": long}));
    assert!(arguments.oversized && arguments.fields.is_empty());
    assert_ne!(
        arguments.exact,
        call("write", json!({"path": "/b", "text": long})).exact
    );
    assert!(outcome(json!(long)).oversized);
    assert!(!outcome(json!(fits)).oversized);
}

#[test]
fn another_key_makes_other_digests() {
    let event: Event = Event::message("2").unwrap().content("hi").into();
    let content = |key: &[u8; 32]| -> Option<Digest> {
        let digester = Digester::new(DigestKey::new(key));
        match digester
            .observe(&event, AT, &Policy::default())
            .unwrap()
            .what
        {
            Observed::Message(message) => message.content,
            other => panic!("{other:?}"),
        }
    };
    assert_ne!(content(&[1; 32]), content(&[2; 32]));
    assert_eq!(content(&[1; 32]), content(&[1; 32]));
}

#[test]
fn tokens_are_added_and_money_is_rounded_to_millionths() {
    let event = json!({"type": "usage", "session": "s", "input_tokens": u64::MAX,
        "output_tokens": 1, "cost_usd": 0.000_000_6});
    let Observed::Usage(usage) = observed(event) else {
        panic!("not a usage");
    };
    assert_eq!((usage.tokens, usage.cost_micros), (u64::MAX, 1));
}

#[test]
fn an_empty_message_has_no_content_to_repeat() {
    let event =
        |content: &str| json!({"type": "message", "from": "1", "to": "2", "content": content});
    for (content, told) in [("", false), (" ", true), ("go on", true)] {
        let Observed::Message(message) = observed(event(content)) else {
            panic!("not a message");
        };
        assert_eq!(message.content.is_some(), told, "{content:?}");
    }
}
