//! A hook from end to end: payload in, the client's own answer out.
//!
//! Pure except for the question that it asks. A process that a client started and a server that
//! received the payload over HTTP answer alike.

use sprag::{Event, FailMode, Role, Verdict};

use crate::client::Client;
use crate::codec;
use crate::parsed_hook::{HookPhase, ParsedHook, ReadError};
use crate::reply::Reply;
use crate::spend::SpendReader;

/// What to print, and the exit code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookResponse {
    /// For standard output, or the body of an HTTP response; empty is nothing at all.
    pub stdout: String,
    /// For the process.
    pub exit_code: u8,
}

/// How a hook is answered.
#[derive(Debug, Clone, Copy, Default)]
pub struct HookOptions<'h> {
    /// The client's name of the event, for payloads that don't name it.
    pub event: Option<&'h str>,
    /// What to do if there is no verdict.
    pub fail: FailMode,
    /// Ask and log, but let everything happen.
    pub shadow: bool,
    /// Don't report a failure to the person again: somebody did just before.
    pub quiet: bool,
    /// Something that the person should read when a session starts or somebody writes to it, such as that
    /// the policy file is broken.
    pub notice: Option<&'h str>,
    /// The project's folder, if the client tells its hooks by another way than the payload.
    pub project: Option<&'h str>,
    /// Reads the end of a transcript that a payload names: some clients write results there that they
    /// report to no hook. None if transcripts can't be read here.
    pub read_transcript: Option<fn(&str) -> Option<String>>,
    /// Reads what was spent since the last hook from the client's transcript. None if transcripts can't be
    /// read here.
    pub spend: Option<&'h dyn SpendReader>,
}

/// An answer, and what went wrong on the way to it.
#[derive(Debug, Default)]
pub struct AnsweredHook {
    /// For the client.
    pub answer: HookResponse,
    /// For whoever looks after the guard.
    pub problem: Option<String>,
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
) -> AnsweredHook {
    match codec::read(client, payload, options) {
        Ok(hook) => answer_parsed(hook, options, ask),
        Err(error) => unreadable(client, payload, options, &error, ask),
    }
}

/// The answer to a payload that can't be read; `payload` is what there is of it. If it names a session,
/// the call is judged as one of that session all the same: an agent that was stopped must not get free
/// by calling in a way that nobody can read.
pub fn unreadable(
    client: Client,
    payload: &[u8],
    options: &HookOptions<'_>,
    error: &ReadError,
    ask: impl FnMut(Role, Event) -> Result<Verdict, String>,
) -> AnsweredHook {
    let mut hook = codec::salvage(client, payload, options.event);
    let problem = format!("{client}: {error}");
    let failed = failed(&hook, options, &problem);
    let closed = matches!(failed, Reply::Refuse(_));
    let events = std::mem::take(&mut hook.events);
    let (reply, _) = if closed {
        (failed, None)
    } else {
        match ask_all(&hook, events, options, ask) {
            (Reply::Silent, _) => (failed, None),
            judged => judged,
        }
    };
    AnsweredHook {
        answer: codec::write(&hook, &reply),
        problem: Some(problem),
    }
}

fn answer_parsed(
    mut hook: ParsedHook,
    options: &HookOptions<'_>,
    ask: impl FnMut(Role, Event) -> Result<Verdict, String>,
) -> AnsweredHook {
    let mut events = spent(&hook, options);
    events.append(&mut hook.events);
    let (mut reply, problem) = ask_all(&hook, events, options, ask);
    if let Some(reader) = options.spend.filter(|_| problem.is_none()) {
        reader.keep();
    }
    let is_heard = matches!(hook.phase, HookPhase::Start | HookPhase::Prompt);
    if let Some(notice) = options
        .notice
        .filter(|_| is_heard && reply == Reply::Silent)
    {
        reply = Reply::Unchecked(notice.to_owned());
    }
    AnsweredHook {
        answer: codec::write(&hook, &reply),
        problem,
    }
}

/// What was spent since the last hook. It comes first, so that what the hook is for is judged after it.
fn spent(hook: &ParsedHook, options: &HookOptions<'_>) -> Vec<Event> {
    let Some((reader, spender)) = options.spend.zip(hook.spender.as_ref()) else {
        return Vec::new();
    };
    // Ids are reduced to valid ones, so this does not fail.
    spender
        .usage(reader.read(&spender.source))
        .unwrap_or_default()
}

/// Asks about `events` until one is refused; also returns what went wrong.
fn ask_all(
    hook: &ParsedHook,
    events: Vec<Event>,
    options: &HookOptions<'_>,
    mut ask: impl FnMut(Role, Event) -> Result<Verdict, String>,
) -> (Reply, Option<String>) {
    let mut reply = Reply::Silent;
    let mut problem = None;
    for event in events {
        // Before a call, what came of earlier calls may be reported too.
        let phase = match (hook.phase, &event) {
            (HookPhase::Before, Event::Step(_)) => HookPhase::After,
            // What is spent is spent; a budget that is used up refuses the call that follows.
            (
                HookPhase::Before | HookPhase::Prompt | HookPhase::Spawn | HookPhase::Batch,
                Event::Usage(_),
            ) => HookPhase::After,
            (phase, _) => phase,
        };
        match ask(Role::Hook, event) {
            Ok(verdict) => reply = reply.and(Reply::to(phase, &verdict)),
            Err(error) => {
                reply = failed(hook, options, &error);
                problem = Some(error);
            }
        }
        let is_refused = matches!(reply, Reply::Ask(_) | Reply::Refuse(_) | Reply::Stop(_));
        if is_refused || problem.is_some() {
            break;
        }
    }
    match options.shadow {
        true => (Reply::Silent, problem),
        false => (reply, problem),
    }
}

fn failed(hook: &ParsedHook, options: &HookOptions<'_>, error: &str) -> Reply {
    match (options.fail, hook.phase) {
        _ if options.shadow => Reply::Silent,
        (FailMode::Closed, HookPhase::Before) => Reply::Refuse(format!(
            "sprag: not checked, so not allowed (--fail closed): {error}\n\
             Only the user may fix this, with: sprag doctor"
        )),
        (_, HookPhase::Before | HookPhase::Prompt) if !options.quiet => Reply::Unchecked(format!(
            "sprag: not checked, and let through: {error}\nTo see what is wrong: sprag doctor"
        )),
        _ => Reply::Silent,
    }
}

impl Reply {
    /// Both: of two notes each is read once. A refusal counts more than a note, a note more than what only
    /// the person reads.
    fn and(self, next: Self) -> Self {
        match (self, next) {
            (before, Self::Silent) | (before @ Self::Note(_), Self::Unchecked(_)) => before,
            (Self::Note(one), Self::Note(other)) if one != other => {
                Self::Note(format!("{one}\n{other}"))
            }
            (_, next) => next,
        }
    }
}
