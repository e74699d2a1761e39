//! Agents that behave as clients do: they run the calls of an answer, send the results with the whole
//! conversation, and stop when an answer ends its turn.

use serde_json::{Value, json};

use crate::place::Place;

/// How the tool answers.
pub(crate) type Tool = fn(&Value) -> String;

/// An agent that speaks the Messages API.
pub(crate) struct MessagesAgent {
    pub(crate) messages: Vec<Value>,
    pub(crate) session: &'static str,
    pub(crate) stream: bool,
    pub(crate) tool: Tool,
}

impl MessagesAgent {
    pub(crate) fn new(session: &'static str, stream: bool, tool: Tool) -> Self {
        Self {
            messages: Vec::new(),
            session,
            stream,
            tool,
        }
    }

    /// A user writes; the agent works until its turn ends, at most `most` requests. Returns the words
    /// of its last answer and how many requests it took.
    pub(crate) async fn work(
        &mut self,
        place: &Place,
        words: &str,
        most: usize,
    ) -> (String, usize) {
        self.messages
            .push(json!({"role": "user", "content": words}));
        for request in 1..=most {
            let answer = self.ask(place).await;
            let content = answer["content"].as_array().expect("content").clone();
            self.messages
                .push(json!({"role": "assistant", "content": content}));
            let calls = content.iter().filter(|block| block["type"] == "tool_use");
            let results: Vec<Value> = calls.map(|call| self.result(call)).collect();
            assert_eq!(
                answer["stop_reason"] == "tool_use",
                !results.is_empty(),
                "the end of an answer fits its calls: {answer}"
            );
            if results.is_empty() {
                let words = content
                    .iter()
                    .map(|block| block["text"].as_str().unwrap_or_default());
                return (words.collect::<Vec<_>>().join("\n"), request);
            }
            self.messages
                .push(json!({"role": "user", "content": results}));
        }
        panic!("the agent was not stopped in {most} requests");
    }

    fn result(&self, call: &Value) -> Value {
        json!({"type": "tool_result", "tool_use_id": call["id"], "content": (self.tool)(&call["input"])})
    }

    pub(crate) fn body(&self) -> Value {
        json!({
            "model": "claude-test", "stream": self.stream, "system": "be good", "max_tokens": 100,
            "tools": [{"name": "Bash"}], "messages": self.messages,
        })
    }

    /// One request; the answer in one piece.
    pub(crate) async fn ask(&self, place: &Place) -> Value {
        let request = place.client.post(place.url("/anthropic/v1/messages"));
        let request = request.header("x-claude-code-session-id", self.session);
        let request = request.header("x-api-key", "canary-key").json(&self.body());
        let response = request.send().await.expect("an answer");
        let status = response.status();
        let text = response.text().await.expect("a whole answer");
        assert_eq!(status, 200, "{text}");
        if !self.stream {
            return serde_json::from_str(&text).expect("an answer in JSON");
        }
        message_of(&text)
    }
}

/// The data of the events of a stream.
pub(crate) fn events(stream: &str) -> Vec<Value> {
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).expect("an event in JSON"))
        .collect()
}

/// Puts a streamed message together, as strictly as the official SDKs do.
pub(crate) fn message_of(stream: &str) -> Value {
    let mut message = Value::Null;
    let mut open: Option<(usize, String)> = None;
    let mut is_over = false;
    for event in events(stream) {
        assert!(!is_over, "nothing follows the end: {event}");
        let index = event["index"]
            .as_u64()
            .and_then(|at| usize::try_from(at).ok());
        match event["type"].as_str().expect("a type") {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                let content = message["content"].as_array_mut().expect("a start");
                assert_eq!(index, Some(content.len()), "blocks come in order");
                assert!(open.is_none(), "one block at a time");
                content.push(event["content_block"].clone());
                open = Some((content.len() - 1, String::new()));
            }
            "content_block_delta" => {
                let (at, json) = open.as_mut().expect("an open block");
                assert_eq!(index, Some(*at));
                let block = &mut message["content"][*at];
                let delta = &event["delta"];
                for name in ["text", "thinking", "signature"] {
                    if let Some(more) = delta[name].as_str() {
                        let old = block[name].as_str().unwrap_or_default();
                        block[name] = json!(format!("{old}{more}"));
                    }
                }
                json.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            "content_block_stop" => {
                let (at, json) = open.take().expect("an open block");
                assert_eq!(index, Some(at));
                if !json.is_empty() {
                    let input = serde_json::from_str(&json).expect("arguments in JSON");
                    message["content"][at]["input"] = input;
                }
            }
            "message_delta" => message["stop_reason"] = event["delta"]["stop_reason"].clone(),
            "message_stop" => is_over = true,
            _ => {}
        }
    }
    assert!(is_over && open.is_none(), "a whole answer: {stream}");
    message
}

/// An agent that speaks the Responses API; `keeps`: the provider keeps the answers.
pub(crate) struct ResponsesAgent {
    pub(crate) items: Vec<Value>,
    pub(crate) previous: Option<String>,
    pub(crate) keeps: bool,
    pub(crate) stream: bool,
    pub(crate) tool: Tool,
}

impl ResponsesAgent {
    pub(crate) async fn work(
        &mut self,
        place: &Place,
        words: &str,
        most: usize,
    ) -> (String, usize) {
        self.items.push(json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": words}]}));
        for request in 1..=most {
            let answer = self.ask(place).await;
            let output = answer["output"].as_array().expect("output").clone();
            if self.keeps {
                self.previous = answer["id"].as_str().map(str::to_owned);
                self.items.clear();
            } else {
                self.items.extend(output.clone());
            }
            let calls = output.iter().filter(|item| item["type"] == "function_call");
            let results: Vec<Value> = calls.map(|call| self.result(call)).collect();
            if results.is_empty() {
                let parts = output
                    .iter()
                    .filter_map(|item| item["content"][0]["text"].as_str());
                return (parts.collect::<Vec<_>>().join("\n"), request);
            }
            self.items.extend(results);
        }
        panic!("the agent was not stopped in {most} requests");
    }

    fn result(&self, call: &Value) -> Value {
        let args = serde_json::from_str(call["arguments"].as_str().expect("arguments"));
        let output = (self.tool)(&args.expect("arguments in JSON"));
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": output})
    }

    pub(crate) async fn ask(&self, place: &Place) -> Value {
        let mut body = json!({
            "model": "gpt-test", "stream": self.stream, "store": self.keeps, "instructions": "be good",
            "tools": [{"type": "function", "name": "exec_command"}], "input": self.items,
        });
        if let Some(previous) = &self.previous {
            body["previous_response_id"] = json!(previous);
        }
        let request = place.client.post(place.url("/openai/v1/responses"));
        let request = request
            .header("session-id", "codex-1")
            .header("user-agent", "codex_cli_rs/0.166.0");
        let response = request
            .bearer_auth("canary-key")
            .json(&body)
            .send()
            .await
            .expect("an answer");
        let status = response.status();
        let text = response.text().await.expect("a whole answer");
        assert_eq!(status, 200, "{text}");
        if !self.stream {
            return serde_json::from_str(&text).expect("an answer in JSON");
        }
        response_of(&text)
    }
}

/// Puts a streamed response together from its items, and holds it against what its end says.
pub(crate) fn response_of(stream: &str) -> Value {
    let events = events(stream);
    let done = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done");
    let items: Vec<Value> = done.map(|event| event["item"].clone()).collect();
    let added = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.added")
        .count();
    let last = events.last().expect("an event");
    assert_eq!(last["type"], "response.completed", "{stream}");
    assert_eq!(
        last["response"]["output"],
        json!(items),
        "the end names the items"
    );
    assert_eq!(added, items.len(), "each item is added and done");
    last["response"].clone()
}

/// An agent that speaks the Chat Completions API.
pub(crate) struct ChatAgent {
    pub(crate) messages: Vec<Value>,
    pub(crate) stream: bool,
    pub(crate) tool: Tool,
}

impl ChatAgent {
    pub(crate) async fn work(
        &mut self,
        place: &Place,
        words: &str,
        most: usize,
    ) -> (String, usize) {
        self.messages
            .push(json!({"role": "user", "content": words}));
        for request in 1..=most {
            let choice = self.ask(place).await;
            let message = choice["message"].clone();
            self.messages.push(message.clone());
            let calls = message["tool_calls"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            assert_eq!(
                choice["finish_reason"] == "tool_calls",
                !calls.is_empty(),
                "{choice}"
            );
            if calls.is_empty() {
                return (
                    message["content"].as_str().unwrap_or_default().to_owned(),
                    request,
                );
            }
            for call in calls {
                let args = serde_json::from_str(
                    call["function"]["arguments"].as_str().expect("arguments"),
                );
                let content = (self.tool)(&args.expect("arguments in JSON"));
                self.messages
                    .push(json!({"role": "tool", "tool_call_id": call["id"], "content": content}));
            }
        }
        panic!("the agent was not stopped in {most} requests");
    }

    pub(crate) async fn ask(&self, place: &Place) -> Value {
        let body = json!({
            "model": "gpt-test", "stream": self.stream, "messages": self.messages,
            "tools": [{"type": "function", "function": {"name": "bash"}}],
        });
        let request = place.client.post(place.url("/openai/v1/chat/completions"));
        let request = request
            .header("x-session-id", "open-1")
            .bearer_auth("canary-key");
        let response = request.json(&body).send().await.expect("an answer");
        let status = response.status();
        let text = response.text().await.expect("a whole answer");
        assert_eq!(status, 200, "{text}");
        if !self.stream {
            let whole: Value = serde_json::from_str(&text).expect("an answer in JSON");
            return whole["choices"][0].clone();
        }
        choice_of(&text)
    }
}

/// Puts the chunks of an answer together.
pub(crate) fn choice_of(stream: &str) -> Value {
    let body = stream
        .strip_suffix("data: [DONE]\n\n")
        .expect("a normal end");
    let mut content = String::new();
    let mut calls: Vec<Value> = Vec::new();
    let mut reason = Value::Null;
    for chunk in events(body) {
        let choice = &chunk["choices"][0];
        content.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        for part in choice["delta"]["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let at =
                usize::try_from(part["index"].as_u64().expect("an index")).expect("a small one");
            if at == calls.len() {
                calls.push(part.clone());
            } else {
                let more = part["function"]["arguments"].as_str().unwrap_or_default();
                let old = calls[at]["function"]["arguments"]
                    .as_str()
                    .unwrap_or_default();
                let grown = format!("{old}{more}");
                calls[at]["function"]["arguments"] = json!(grown);
            }
        }
        if !choice["finish_reason"].is_null() {
            reason = choice["finish_reason"].clone();
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({"message": message, "finish_reason": reason})
}
