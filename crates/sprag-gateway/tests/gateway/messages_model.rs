//! A model behind the Messages API that makes its calls again and again.

use serde_json::{Value, json};

use crate::upstream::{Answer, Asked, messages_error};

/// An answer of the model: thinking, a text, and calls with these arguments.
pub(crate) fn answer(asked: &Asked, id: usize, text: &str, calls: &[(&str, Value)]) -> Answer {
    let stop = if calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let usage = json!({"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100});
    let mut content = vec![
        json!({"type": "thinking", "thinking": "hm", "signature": "signed:hm"}),
        json!({"type": "text", "text": text}),
    ];
    for (at, (name, input)) in calls.iter().enumerate() {
        let id = format!("toolu_{id}_{at}");
        content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    let message = json!({"id": format!("msg_{id}"), "type": "message", "role": "assistant",
        "model": "claude-test", "content": content, "stop_reason": stop, "usage": usage});
    if asked.json()["stream"] != true {
        return Answer::json(200, &message);
    }
    let mut start = message;
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events = vec![(
        "message_start",
        json!({"type": "message_start", "message": start}),
    )];
    for (index, block) in content.iter().enumerate() {
        events.extend(block_events(index, block));
        events.push(("ping", json!({"type": "ping"})));
    }
    events.push((
        "message_delta",
        json!({"type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 5}}),
    ));
    events.push(("message_stop", json!({"type": "message_stop"})));
    Answer::events(&events)
}

fn block_events(index: usize, block: &Value) -> Vec<(&'static str, Value)> {
    let delta = |delta: Value| {
        (
            "content_block_delta",
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
        )
    };
    let (start, deltas) = match block["type"].as_str().unwrap() {
        "text" => (
            json!({"type": "text", "text": ""}),
            vec![delta(json!({"type": "text_delta", "text": block["text"]}))],
        ),
        "thinking" => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                delta(json!({"type": "thinking_delta", "thinking": block["thinking"]})),
                delta(json!({"type": "signature_delta", "signature": block["signature"]})),
            ],
        ),
        _ => {
            let mut start = block.clone();
            start["input"] = json!({});
            let text = block["input"].to_string();
            let (one, two) = text.split_at(text.len() / 2);
            let part =
                |json: &str| delta(json!({"type": "input_json_delta", "partial_json": json}));
            (start, vec![part(one), part(two)])
        }
    };
    let mut events = vec![(
        "content_block_start",
        json!({"type": "content_block_start", "index": index, "content_block": start}),
    )];
    events.extend(deltas);
    events.push((
        "content_block_stop",
        json!({"type": "content_block_stop", "index": index}),
    ));
    events
}

/// A model that makes the same call as long as it is asked, and holds requests to the API's rules.
pub(crate) fn stubborn(
    calls: fn(usize) -> Vec<(&'static str, Value)>,
) -> impl Fn(&Asked) -> Answer + Send + Sync {
    move |asked| {
        let body = asked.json();
        if let Some(why) = messages_error(&body) {
            return Answer::json(400, &json!({"type": "error", "error": {"message": why}}));
        }
        let turn = body["messages"].as_array().unwrap().len();
        answer(asked, turn, "I look again.", &calls(turn))
    }
}
