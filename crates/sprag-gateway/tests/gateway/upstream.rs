//! A model API for tests: plays a script, keeps what it was asked, and refuses requests that the real
//! API refuses.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::{HeaderMap, Request, Response};
use serde_json::Value;
use sprag_http::{Handler, Listener, ListenerOptions};
use tokio::time::Sleep;

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Asked {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a request in JSON")
    }
}

/// What is answered: pieces, and how they end.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) media: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) pieces: Vec<Bytes>,
    pub(crate) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    Breaks,
    /// It goes on with the last piece for ever.
    Never,
    /// It says nothing more and does not end.
    Silent,
}

impl Answer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            media: "application/json",
            headers: vec![("request-id", "req_1".to_owned())],
            pieces: vec![body.to_string().into()],
            end: End::Whole,
        }
    }

    pub(crate) fn events(events: &[(&str, Value)]) -> Self {
        let event =
            |(name, data): &(&str, Value)| format!("event: {name}\ndata: {data}\n\n").into();
        Self {
            status: 200,
            media: "text/event-stream; charset=utf-8",
            headers: vec![("anthropic-ratelimit-requests-remaining", "7".to_owned())],
            pieces: events.iter().map(event).collect(),
            end: End::Whole,
        }
    }
}

type Script = dyn Fn(&Asked) -> Answer + Send + Sync;

/// The upstream.
pub(crate) struct Upstream {
    script: Box<Script>,
    asked: Mutex<Vec<Asked>>,
    /// Answers that were given up by whoever read them.
    dropped: Arc<Mutex<usize>>,
}

impl Upstream {
    /// Starts it on a free port; it ends with the runtime.
    pub(crate) fn start(
        script: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> (Arc<Self>, SocketAddr) {
        let upstream = Arc::new(Self {
            script: Box::new(script),
            asked: Mutex::default(),
            dropped: Arc::default(),
        });
        let listener = Listener::bind(&ListenerOptions {
            address: ([127, 0, 0, 1], 0).into(),
            behind_tls_proxy: false,
            connections: 1024,
        });
        let listener = listener.expect("a free port");
        let address = listener.address();
        tokio::spawn(listener.run(Arc::clone(&upstream), std::future::pending()));
        (upstream, address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }

    /// What was asked since this was last called.
    pub(crate) fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.asked.lock().expect("no panic"))
    }

    pub(crate) fn dropped(&self) -> usize {
        *self.dropped.lock().expect("no panic")
    }
}

impl Handler for Upstream {
    type Body = AnswerPieces;

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<AnswerPieces> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes();
        let asked = Asked {
            path: head.uri.to_string(),
            headers: head.headers,
            body,
        };
        let answer = (self.script)(&asked);
        self.asked.lock().expect("no panic").push(asked);
        let mut response = Response::builder()
            .status(answer.status)
            .header("content-type", answer.media);
        for (name, value) in answer.headers {
            response = response.header(name, value);
        }
        let body = AnswerPieces {
            pieces: answer.pieces.into(),
            end: answer.end,
            pause: None,
            dropped: Arc::clone(&self.dropped),
        };
        response.body(body).expect("a response")
    }
}

/// The body of an answer, piece by piece.
pub(crate) struct AnswerPieces {
    pieces: VecDeque<Bytes>,
    end: End,
    pause: Option<Pin<Box<Sleep>>>,
    dropped: Arc<Mutex<usize>>,
}

impl Body for AnswerPieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let again = (self.end == End::Never && self.pieces.len() == 1)
            .then(|| self.pieces.front().cloned())
            .flatten();
        let piece = again.or_else(|| self.pieces.pop_front());
        match (piece, self.end) {
            (Some(piece), _) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            (None, End::Silent) => Poll::Pending,
            (None, End::Breaks) => {
                // What came before must be on its way first.
                let sleep = || Box::pin(tokio::time::sleep(Duration::from_millis(300)));
                ready!(self.pause.get_or_insert_with(sleep).as_mut().poll(context));
                let gone = std::io::ErrorKind::ConnectionReset;
                Poll::Ready(Some(Err(gone.into())))
            }
            (None, _) => Poll::Ready(None),
        }
    }
}

impl Drop for AnswerPieces {
    fn drop(&mut self) {
        if self.end == End::Never {
            *self.dropped.lock().expect("no panic") += 1;
        }
    }
}

/// Why the Messages API would refuse this conversation.
pub(crate) fn messages_error(body: &Value) -> Option<String> {
    let messages = body["messages"].as_array().expect("messages");
    let blocks = |message: &Value, kind: &str| -> Vec<Value> {
        let all = message["content"].as_array().cloned().unwrap_or_default();
        all.into_iter()
            .filter(|block| block["type"] == kind)
            .collect()
    };
    for (at, message) in messages.iter().enumerate() {
        for thinking in blocks(message, "thinking") {
            let signed = format!(
                "signed:{}",
                thinking["thinking"].as_str().unwrap_or_default()
            );
            if thinking["signature"] != signed.as_str() {
                return Some(format!(
                    "messages.{at}: invalid signature in thinking block"
                ));
            }
        }
        let next = messages.get(at + 1).cloned().unwrap_or_default();
        let results = blocks(&next, "tool_result");
        for call in blocks(message, "tool_use") {
            if !results
                .iter()
                .any(|result| result["tool_use_id"] == call["id"])
            {
                return Some(format!("messages.{at}: tool_use without tool_result"));
            }
        }
        let before = at
            .checked_sub(1)
            .map(|at| blocks(&messages[at], "tool_use"));
        for result in blocks(message, "tool_result") {
            let calls = before.clone().unwrap_or_default();
            if !calls.iter().any(|call| call["id"] == result["tool_use_id"]) {
                return Some(format!("messages.{at}: tool_result without tool_use"));
            }
        }
        if message["content"].as_array().is_some_and(Vec::is_empty) {
            return Some(format!("messages.{at}: content is empty"));
        }
    }
    None
}

/// Why the Responses API would refuse this input. `kept` are the items that it keeps itself.
pub(crate) fn responses_error(body: &Value, kept: &[Value]) -> Option<String> {
    let input = match &body["input"] {
        Value::Array(items) => items.clone(),
        text => vec![serde_json::json!({"role": "user", "content": text})],
    };
    let items: Vec<&Value> = kept.iter().chain(&input).collect();
    for (at, item) in items.iter().enumerate() {
        let is_output = |other: &&&Value| other["type"] == "function_call_output";
        match item["type"].as_str().unwrap_or("message") {
            "function_call" => {
                let mut outputs = items.iter().filter(is_output);
                if !outputs.any(|output| output["call_id"] == item["call_id"]) {
                    return Some(format!(
                        "No tool output found for function call {}",
                        item["call_id"]
                    ));
                }
            }
            "function_call_output" => {
                let mut calls = items
                    .iter()
                    .filter(|other| other["type"] == "function_call");
                if !calls.any(|call| call["call_id"] == item["call_id"]) {
                    return Some(format!("No tool call found for {}", item["call_id"]));
                }
            }
            "reasoning" => {
                // The answer of a model is never of the guard's making.
                let next = items
                    .get(at + 1)
                    .map(|next| next.to_string())
                    .unwrap_or_default();
                if next.is_empty() || next.contains("[sprag]") {
                    return Some(
                        "reasoning was provided without its required following item".to_owned(),
                    );
                }
            }
            _ => {}
        }
    }
    None
}

/// Why Gemini would refuse this conversation.
pub(crate) fn gemini_error(body: &Value) -> Option<String> {
    let contents = body["contents"].as_array().expect("contents");
    let parts = |content: &Value, kind: &str| -> Vec<Value> {
        let all = content["parts"].as_array().cloned().unwrap_or_default();
        all.into_iter()
            .filter(|part| !part[kind].is_null())
            .collect()
    };
    for (at, content) in contents.iter().enumerate() {
        let calls = parts(content, "functionCall");
        let signed = ["signed", "skip_thought_signature_validator"];
        if let Some(first) = calls.first()
            && !signed
                .iter()
                .any(|known| first["thoughtSignature"] == *known)
        {
            return Some(format!(
                "contents.{at}: the first call has no valid signature"
            ));
        }
        let next = contents.get(at + 1).cloned().unwrap_or_default();
        let results = parts(&next, "functionResponse");
        if content["role"] == "model" && calls.len() != results.len() {
            return Some(format!(
                "contents.{at}: {} calls and {} results",
                calls.len(),
                results.len()
            ));
        }
        if content["parts"].as_array().is_none_or(Vec::is_empty) {
            return Some(format!("contents.{at}: no parts"));
        }
        let is_first = at == 0 || contents[at - 1]["role"] != "model";
        if is_first && !parts(content, "functionResponse").is_empty() {
            return Some(format!("contents.{at}: results without calls"));
        }
    }
    None
}
