//! A hook from end to end: payload in, the client's own answer out.
//!
//! Pure but for the question that it asks: a process that a client started, and a server that got
//! the payload over HTTP, answer alike.

use sprag::{Event, FailMode, Role, Verdict};

use crate::client::Client;
use crate::codec;
use crate::reading::{Moment, ReadError, Reading};
use crate::reply::Reply;

/// What to print, and how to end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// For standard output, or the body of an HTTP response; empty is nothing at all.
    pub stdout: String,
    /// For the process.
    pub exit_code: u8,
}

/// How a hook is answered.
#[derive(Debug, Clone, Copy, Default)]
pub struct HookOptions<'h> {
    /// The client's name of the event, for payloads that don't say it.
    pub event: Option<&'h str>,
    /// What to do where there is no verdict.
    pub fail: FailMode,
    /// Ask and log, but let everything happen.
    pub shadow: bool,
    /// Don't tell the person of a failure; somebody did just before.
    pub hush: bool,
}

/// An answer, and what went wrong on the way to it.
#[derive(Debug, Default)]
pub struct Answered {
    /// For the client.
    pub answer: HookAnswer,
    /// For whoever looks after the guard.
    pub trouble: Option<String>,
}

/// Answers one hook of `client`, asking the guard through `ask`.
///
/// ```
/// use sprag::Guard;
/// use sprag_hooks::{Client, HookOptions, answer};
///
/// let guard = Guard::in_memory()?;
/// let payload = br#"{"hook_event_name":"PreToolUse","session_id":"s1","transcript_path":"t","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
/// let answered = answer(Client::Claude, payload, &HookOptions::default(), |role, event| {
///     guard.check_as(role, event).map_err(|error| error.to_string())
/// });
/// assert_eq!(answered.answer.stdout, "");
/// assert_eq!(answered.answer.exit_code, 0);
/// # Ok::<(), sprag::GuardError>(())
/// ```
pub fn answer(
    client: Client,
    payload: &[u8],
    options: &HookOptions<'_>,
    ask: impl FnMut(Role, Event) -> Result<Verdict, String>,
) -> Answered {
    match codec::read(client, payload, options.event) {
        Ok(reading) => answer_reading(reading, options, ask),
        Err(error) => unreadable(client, options, &error),
    }
}

/// The answer where there is no payload to read, as for one that never ends.
#[must_use]
pub fn unreadable(client: Client, options: &HookOptions<'_>, error: &ReadError) -> Answered {
    let event_name = options.event.unwrap_or_default();
    let reading = Reading {
        moment: codec::moment(client, event_name),
        event_name: event_name.to_owned(),
        dialect: codec::dialect(client),
        events: Vec::new(),
    };
    let trouble = format!("{client}: {error}");
    Answered {
        answer: codec::write(&reading, &failed(&reading, options, &trouble)),
        trouble: Some(trouble),
    }
}

fn answer_reading(
    mut reading: Reading,
    options: &HookOptions<'_>,
    mut ask: impl FnMut(Role, Event) -> Result<Verdict, String>,
) -> Answered {
    let mut reply = Reply::Silent;
    let mut trouble = None;
    for event in std::mem::take(&mut reading.events) {
        match ask(Role::Hook, event) {
            Ok(verdict) => reply = Reply::to(reading.moment, &verdict).or(reply),
            Err(error) => {
                reply = failed(&reading, options, &error);
                trouble = Some(error);
            }
        }
        if !matches!(reply, Reply::Silent | Reply::Note(_)) {
            break;
        }
    }
    if options.shadow {
        reply = Reply::Silent;
    }
    Answered {
        answer: codec::write(&reading, &reply),
        trouble,
    }
}

fn failed(reading: &Reading, options: &HookOptions<'_>, error: &str) -> Reply {
    match (options.fail, reading.moment) {
        _ if options.shadow => Reply::Silent,
        (FailMode::Closed, Moment::Before) => Reply::Refuse(format!(
            "sprag: not checked, so not allowed (--fail closed): {error}\n\
             Only the user may mend this, with: sprag doctor"
        )),
        (_, Moment::Before | Moment::Prompt) if !options.hush => Reply::Unchecked(format!(
            "sprag: not checked, and let through: {error}\nTo see what is wrong: sprag doctor"
        )),
        _ => Reply::Silent,
    }
}

impl Reply {
    /// This one, or the other where this one says nothing.
    fn or(self, other: Self) -> Self {
        if self == Self::Silent { other } else { self }
    }
}
