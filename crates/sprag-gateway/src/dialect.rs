//! The APIs that are understood. A further one is a further module and an arm here.

use hyper::body::Bytes;
use reqwest::Url;

use crate::request::{ModelRequest, RequestChanges};
use crate::stream::{AnswerStream, WholeAnswer};
use crate::{chat, gemini, messages, responses};

/// The API of a request that asks a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Anthropic's Messages.
    Messages,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    Chat,
    /// Google's `generateContent`.
    Gemini,
}

impl Dialect {
    /// The API behind a path, by how it ends: every provider that speaks one has its own beginning.
    pub(crate) fn of(path: &str) -> Option<Self> {
        if path.ends_with("/v1/messages") {
            return Some(Self::Messages);
        }
        if path.ends_with("/chat/completions") {
            return Some(Self::Chat);
        }
        if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            return Some(Self::Gemini);
        }
        path.ends_with("/responses").then_some(Self::Responses)
    }

    /// Reads a request to `target`; none if it is not one.
    pub(crate) fn read(self, body: &[u8], target: &Url) -> Option<ModelRequest> {
        match self {
            Self::Messages => messages::request::read(body),
            Self::Responses => responses::request::read(body),
            Self::Chat => chat::request::read(body),
            Self::Gemini => gemini::request::read(body, target),
        }
    }

    /// The request with what the guard has to say in it; none if nothing changes.
    pub(crate) fn change(self, body: &[u8], changes: &RequestChanges) -> Option<Vec<u8>> {
        match self {
            Self::Messages => messages::change::change(body, changes),
            Self::Responses => responses::change::change(body, changes),
            Self::Chat => chat::change::change(body, changes),
            Self::Gemini => gemini::change::change(body, changes),
        }
    }

    /// A reader for a streamed answer to `request`.
    pub(crate) fn stream(self, request: &ModelRequest) -> Box<dyn AnswerStream> {
        match self {
            Self::Messages => Box::new(messages::stream::MessageStream::default()),
            Self::Responses => Box::new(responses::stream::ResponseStream::default()),
            Self::Chat => Box::new(chat::stream::ChatStream::default()),
            Self::Gemini => Box::new(gemini::stream::GeminiStream::new(request.length)),
        }
    }

    /// Reads an answer to `request` in one piece; none if it is not one.
    pub(crate) fn whole(self, body: &[u8], request: &ModelRequest) -> Option<WholeAnswer> {
        match self {
            Self::Messages => messages::whole::read(body),
            Self::Responses => responses::whole::read(body),
            Self::Chat => chat::whole::read(body),
            Self::Gemini => gemini::whole::read(body, request.length),
        }
    }

    /// The answer with texts in the places of calls; see [`AnswerStream::settle`].
    pub(crate) fn settle(self, body: &[u8], texts: &[Option<String>]) -> Option<Vec<u8>> {
        match self {
            Self::Messages => messages::whole::settle(body, texts),
            Self::Responses => responses::whole::settle(body, texts),
            Self::Chat => chat::whole::settle(body, texts),
            Self::Gemini => gemini::whole::settle(body, texts),
        }
    }

    /// An answer of our own: its media type and its body.
    pub(crate) fn spoken(self, request: &ModelRequest, text: &str) -> (&'static str, Bytes) {
        let body = match self {
            Self::Messages => messages::spoken::spoken(request, text),
            Self::Responses => responses::spoken::spoken(request, text),
            Self::Chat => chat::spoken::spoken(request, text),
            Self::Gemini => gemini::spoken::spoken(request, text),
        };
        let media = if request.stream && !request.as_list {
            "text/event-stream; charset=utf-8"
        } else {
            "application/json"
        };
        (media, body.into())
    }

    /// An error in the provider's own shape.
    pub(crate) fn error(self, text: &str) -> Bytes {
        let error = match self {
            Self::Messages => serde_json::json!({
                "type": "error", "error": {"type": "invalid_request_error", "message": text},
            }),
            Self::Responses | Self::Chat => serde_json::json!({
                "error": {"message": text, "type": "invalid_request_error", "param": null, "code": "sprag_stop"},
            }),
            Self::Gemini => serde_json::json!({
                "error": {"code": 402, "message": text, "status": "FAILED_PRECONDITION"},
            }),
        };
        error.to_string().into()
    }
}
