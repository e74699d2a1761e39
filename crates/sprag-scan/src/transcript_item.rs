//! What a transcript tells, one by one, in words that all clients share.
//!
//! Readers only say what stands there; what it means for a session is decided in one place, so that a loop is the
//! same thing whoever wrote it down.

use std::borrow::Cow;

use serde_json::value::RawValue;
use sprag_core::{Payload, Timestamp};

use crate::own_words;

/// Something that a transcript tells of a session.
#[derive(Debug)]
pub(crate) struct TranscriptItem<'a> {
    /// The session; of a sub-agent `<session>/<agent>`.
    pub(crate) session: &'a str,
    /// When, where the transcript says so.
    pub(crate) at: Option<Timestamp>,
    /// What.
    pub(crate) what: ItemKind<'a>,
}

/// What happened.
#[derive(Debug)]
pub(crate) enum ItemKind<'a> {
    /// The session works in this folder.
    Project(&'a str),
    /// A person wrote something.
    Prompt,
    /// A person stopped the agent.
    Interrupted,
    /// The agent calls a tool.
    Call(TranscriptCall<'a>),
    /// What came of a call.
    Outcome {
        /// The id that its call has.
        id: &'a str,
        /// What the model read.
        answer: ResultBody<'a>,
        /// Whether the client calls it a failure.
        is_error: bool,
    },
    /// What the model took and gave for one answer.
    Tokens(TokenCounts),
    /// The agent said something to the person.
    Said,
    /// An event as Sprag's own logs hold it.
    Wire(Box<sprag_core::Event>),
}

/// A call of a tool.
#[derive(Debug)]
pub(crate) struct TranscriptCall<'a> {
    pub(crate) id: &'a str,
    pub(crate) server: Option<Cow<'a, str>>,
    pub(crate) tool: Cow<'a, str>,
    pub(crate) args: Option<Cow<'a, RawValue>>,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) enum ResultBody<'a> {
    /// Nothing is known of it.
    Nothing,
    /// As it stands there.
    Raw(&'a RawValue),
    /// A text, without what the client wrapped around it.
    Text(Cow<'a, str>),
}

impl ResultBody<'_> {
    /// As the engine takes it.
    pub(crate) fn payload(&self) -> Option<Payload> {
        match self {
            Self::Nothing => None,
            Self::Raw(raw) => Some(Payload::from(*raw)),
            Self::Text(text) => Some(Payload::from(&**text)),
        }
    }

    /// Whether Sprag wrote it instead of running the call.
    pub(crate) fn is_own_refusal(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Raw(raw) => own_words::is_refusal(raw.get()),
            Self::Text(text) => own_words::is_refusal(text),
        }
    }

    /// Its length, for an estimate of tokens.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Raw(raw) => raw.get().len(),
            Self::Text(text) => text.len(),
        }
    }
}

/// Tokens of one or more answers of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TokenCounts {
    /// Read by the model, without those from a cache.
    pub(crate) input: u64,
    /// Read from a cache.
    pub(crate) cached: u64,
    /// Written by the model.
    pub(crate) output: u64,
}

impl TokenCounts {
    pub(crate) fn total(self) -> u64 {
        self.input
            .saturating_add(self.cached)
            .saturating_add(self.output)
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.cached = self.cached.saturating_add(more.cached);
        self.output = self.output.saturating_add(more.output);
    }

    /// What came after `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            cached: self.cached.saturating_sub(earlier.cached),
            output: self.output.saturating_sub(earlier.output),
        }
    }
}

/// Who hears what a reader tells.
pub(crate) type Sink<'h> = &'h mut dyn FnMut(TranscriptItem<'_>);
