//! The gate before one server: every message passes through it, in both directions.
//!
//! It holds no stream and starts no thread, so that standard input and HTTP can share it. A message
//! that does not concern the guard passes as it is. A call is judged before it goes on, its result when it
//! comes back, and both keep their bytes unless the guard has something to add.
//!
//! Repetition that the protocol itself asks for does not count: a call repeated with the input that the
//! server asked for, polling a task, listing tools.

mod ask;
mod exchange_end;
mod from_client;
mod from_server;
mod request_scope;
mod stopped;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use sprag_core::{Id, canonical_json, words};

use crate::header_arguments::HeaderArgument;
use crate::in_flight::InFlight;
use crate::verdict_source::{FallbackSource, LogSink, VerdictSource};
use sprag::FailMode;

pub(crate) use ask::HeldCall;
pub(crate) use exchange_end::ExchangeEnd;
pub use request_scope::RequestScope;

words! {
    "answer to a kill",
    /// What happens to the server when a session is killed.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum OnKill {
        /// Its calls are refused; other sessions go on.
        #[default]
        Refuse = "refuse",
        /// The server is ended too.
        Exit = "exit",
    }
}

/// How a gate is configured.
#[derive(Debug, Clone)]
pub struct GateOptions {
    /// The session of calls that name none of their own.
    pub session: Id,
    /// Several conversations may share that session.
    pub shared: bool,
    /// The agent's name; none: the name that the client gives itself.
    pub agent: Option<Id>,
    /// The server's name; none: the name that the server gives itself.
    pub server: Option<Id>,
    /// The server's name until it gives one.
    pub unnamed: Id,
    /// A prefix for the ids of its calls that no other gate has.
    pub mark: String,
    /// What happens to calls when the guard does not answer.
    pub fail: FailMode,
    /// What happens to the server when a session is killed.
    pub on_kill: OnKill,
}

/// What to do with a message from the client.
#[derive(Debug, PartialEq, Eq)]
pub enum ClientAction {
    /// Pass it on as it is.
    Pass,
    /// Pass on something else or nothing, and answer the client unless it expects no response.
    Stop {
        /// What to pass on: what is left of a batch, or a call that a person has approved.
        onward: Option<Vec<u8>>,
        /// The response to the client.
        answer: Option<Vec<u8>>,
    },
}

/// What to do with a message from the server.
#[derive(Debug, PartialEq, Eq)]
pub enum ServerAction {
    /// Pass it on as it is.
    Pass,
    /// Pass this on instead.
    Replace(Vec<u8>),
}

/// The gate before one server.
pub struct Gate {
    source: FallbackSource,
    options: GateOptions,
    in_flight: Mutex<InFlight>,
    calls: AtomicU64,
    must_end: AtomicBool,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Gate {
    /// A gate that gets its verdicts from `source` and writes to `log`.
    #[must_use]
    pub fn new(options: GateOptions, source: Box<dyn VerdictSource>, log: LogSink) -> Self {
        Self {
            source: FallbackSource::new(source, options.fail, log),
            options,
            in_flight: Mutex::default(),
            calls: AtomicU64::new(0),
            must_end: AtomicBool::new(false),
        }
    }

    /// The scope of a client that has the gate for itself.
    #[must_use]
    pub fn scope(&self) -> RequestScope {
        RequestScope::new(self.options.session.clone(), self.options.shared)
    }

    /// The session of clients that do not identify themselves.
    #[must_use]
    pub fn anonymous(&self) -> &Id {
        &self.options.session
    }

    /// Whether the server must be ended because a session was killed.
    #[must_use]
    pub fn must_end(&self) -> bool {
        self.must_end.load(Ordering::Acquire)
    }

    /// The arguments that a tool wants repeated in headers, if its server has listed it through this gate.
    pub(crate) fn header_arguments(&self, tool: &str) -> Arc<[HeaderArgument]> {
        let in_flight = self.in_flight();
        let known = in_flight.tools.get(tool);
        known.map_or_else(Arc::default, |tool| Arc::clone(&tool.header_arguments))
    }

    /// Writes a line to the log.
    pub fn log(&self, what: std::fmt::Arguments<'_>) {
        self.source.log(what);
    }

    fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// One text for each request id, however it is written: `"a"` and `"\u0061"` are the same id, `1` and `"1"`
/// are not.
fn id_key(id: &RawValue) -> Box<str> {
    let text = id.get();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'"' | b'-' | b'_');
    if text.bytes().all(is_plain) {
        return text.into();
    }
    canonical_json(text).map_or_else(|_| text.into(), String::into_boxed_str)
}
