//! From the wire to observations, just well enough for the vectors.
//!
//! Canonical form is `serde_json`'s with its sorted keys; what it can't tell apart (`1.0` and `1`)
//! the vectors of the rules don't use.

use serde_json::Value;
use sprag_core::{
    Approach, Call, Digest, DigestKey, Field, Id, Message, Observation, Observed, Outcome, Step,
    Timestamp, Tone, ToolKind, Usage,
};

/// The observation of a wire event.
pub(crate) fn observe(event: &Value) -> Observation {
    let at = Timestamp(event["at"].as_u64().expect("a time"));
    let what = match event["type"].as_str().expect("a type") {
        "message" => Observed::Message(message(event)),
        "call" => Observed::Call(call(event)),
        "step" => Observed::Step(step(event)),
        "usage" => Observed::Usage(usage(event)),
        "kill" => Observed::Kill(part(event)),
        "reset" => Observed::Reset(part(event)),
        "dispatch_start" => Observed::DispatchStart(part(event)),
        "dispatch_end" => Observed::DispatchEnd(part(event)),
        other => panic!("no such event: {other}"),
    };
    Observation { at, what }
}

/// What an observation keeps of an event under the same names.
fn part<T: serde::de::DeserializeOwned>(event: &Value) -> T {
    T::deserialize(event).expect("the fields of the event")
}

/// The event with its payload replaced by what was made of it.
fn with(event: &Value, payload: &[&str], made: &[(&str, Value)]) -> Value {
    let mut event = event.as_object().expect("an object").clone();
    event.retain(|key, _| !payload.contains(&key.as_str()));
    event.extend(
        made.iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone())),
    );
    Value::Object(event)
}

fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("plain data")
}

fn message(event: &Value) -> Message {
    let content = event.get("content").map(|content| json(digest(content)));
    let made: Vec<_> = content
        .into_iter()
        .map(|content| ("content", content))
        .collect();
    part(&with(event, &["content"], &made))
}

fn call(event: &Value) -> Call {
    let approach = approach(event).expect("a call names a tool");
    part(&with(event, &["approach"], &[("approach", json(approach))]))
}

fn step(event: &Value) -> Step {
    let mut made = vec![("outcome", json(outcome(event)))];
    made.extend(approach(event).map(|approach| ("approach", json(approach))));
    part(&with(event, &["approach", "outcome"], &made))
}

fn usage(event: &Value) -> Usage {
    let count = |key: &str| event.get(key).and_then(Value::as_u64).unwrap_or(0);
    let tokens = count("input_tokens") + count("output_tokens");
    part(&with(event, &[], &[("tokens", json(tokens))]))
}

fn approach(event: &Value) -> Option<Approach> {
    let name = |key: &str| event.get(key).and_then(Value::as_str);
    let id = |text: &str| Id::new(text).expect("an id");
    let tool = name("tool");
    let exact = match tool {
        Some(tool) => digest(&json((name("server"), tool, &event["args"]))),
        None => digest(event.get("approach")?),
    };
    Some(Approach {
        server: name("server").map(id),
        tool: tool.map(id),
        exact,
        normal: exact,
        kind: ToolKind::default(),
        fields: fields(&event["args"]),
        oversized: false,
    })
}

fn outcome(event: &Value) -> Outcome {
    let result = event
        .get("outcome")
        .or(event.get("result"))
        .unwrap_or(&Value::Null);
    let is_error = event["is_error"].as_bool().unwrap_or(false);
    let exact = digest(&json((result, is_error)));
    Outcome {
        exact,
        normal: exact,
        is_error,
        tone: Tone::default(),
        shape: 0,
        oversized: false,
    }
}

fn digest(value: &Value) -> Digest {
    DigestKey::fixed().digest(&[value.to_string().as_bytes()])
}

fn fields(args: &Value) -> Vec<Field> {
    let Some(args) = args.as_object() else {
        return Vec::new();
    };
    let mut fields = Vec::new();
    for (name, value) in args {
        let values = value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice);
        let scalars = values
            .iter()
            .filter(|value| !value.is_object() && !value.is_array());
        fields.extend(scalars.map(|value| Field {
            name: name.as_str().into(),
            digest: digest(value),
            text: None,
        }));
    }
    fields
}
