//! `sprag hook`: one event of an agent CLI, from its payload to its answer.
//!
//! It runs before and after every tool call, so it does no work that it need not do: no runtime, and no
//! store if there is nothing to ask. It must never crash: one client takes that for a refusal, the others
//! for a permission.

mod duplicate;
mod spend;
mod transcript_file;

use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use sprag::{Event, LazyLink, LinkOptions, NoVerdict, Role, Verdict};
use sprag_core::MAX_EVENT_BYTES;
use sprag_hooks::{
    AnsweredHook, Client, HookOptions, HookPhase, ReadError, SpendReader, answer, phase, unreadable,
};

use self::spend::TranscriptTails;
use self::transcript_file::open_transcript;
use crate::args::HookArgs;
use crate::clock;
use crate::failure::Run;
use crate::problem_log;
use crate::settings::Settings;

/// How much of a transcript's end is read.
const MAX_TRANSCRIPT: u64 = 256 * 1024;

/// Answers the payload on standard input.
pub(crate) fn run(args: &HookArgs, settings: &Settings) -> Run {
    let client = args.client;
    let db = settings.db_place(args.db.db.as_deref());
    let payload = payload();
    let link = db
        .as_deref()
        .map(|db| LazyLink::new(link_options(args, settings, db)));
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let read = payload.as_deref().unwrap_or_default();
        if duplicate::is_reported_elsewhere(client, read, args, settings) {
            return AnsweredHook::default();
        }
        answer_payload(
            client,
            &payload,
            args,
            settings,
            (db.as_deref(), link.as_ref()),
        )
    }));
    let Ok(answered) = answered else {
        leave(db.as_deref(), "the hook panicked; please report it");
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(what) = &answered.problem {
        leave(db.as_deref(), what);
    }
    if let Some(problem) = link.as_ref().and_then(LazyLink::policy_problem) {
        leave_once(db.as_deref(), &policy_notice(&problem));
    }
    let mut out = std::io::stdout().lock();
    // A client that does not listen any more needs no answer.
    let _ = out.write_all(answered.answer.stdout.as_bytes());
    let _ = out.flush();
    Ok(ExitCode::from(answered.answer.exit_code))
}

fn answer_payload(
    client: Client,
    payload: &Result<Vec<u8>, (ReadError, Vec<u8>)>,
    args: &HookArgs,
    settings: &Settings,
    (db, link): (Option<&Path>, Option<&LazyLink>),
) -> AnsweredHook {
    let quiet = db.is_some_and(|db| problem_log::is_fresh(db, clock::now()));
    let notice = notice(client, args, settings, quiet);
    let tails = db.and_then(|db| TranscriptTails::new(db, settings.copilot_folder(), clock::now()));
    let project = settings
        .text("CLAUDE_PROJECT_DIR")
        .filter(|_| client == Client::Claude);
    let options = HookOptions {
        event: args.event.as_deref(),
        project: project.as_deref(),
        fail: args.fail,
        shadow: args.shadow,
        quiet,
        notice: notice.as_deref(),
        read_transcript: Some(end_of_file),
        spend: tails.as_ref().map(|tails| tails as &dyn SpendReader),
    };
    let ask = |role: Role, event: Event| -> Result<Verdict, String> {
        let link = link.ok_or("there is no home to keep the store in")?;
        match link.check_as(role, event) {
            Ok(verdict) => Ok(verdict),
            // A session that was stopped stays stopped when the guard can't be reached.
            Err(NoVerdict::Unreachable {
                stopped: Some(verdict),
                ..
            }) => Ok(*verdict),
            Err(error) => Err(error.to_string()),
        }
    };
    match payload {
        Ok(payload) => answer(client, payload, &options, ask),
        Err((error, start)) => unreadable(client, start, &options, error, ask),
    }
}

/// What the person should know when a session starts, and when somebody writes to it unless that was
/// said a minute ago: that the policy file is broken.
fn notice(client: Client, args: &HookArgs, settings: &Settings, quiet: bool) -> Option<String> {
    let event = args.event.as_deref().unwrap_or_default();
    match phase(client, event) {
        HookPhase::Start => {}
        HookPhase::Prompt if !quiet => {}
        // Its plugin has one command for all events.
        _ if client == Client::Opencode && !quiet => {}
        _ => return None,
    }
    let file = settings.policy_file(args.policy.policy.as_deref())?;
    let problem = file.load().err()?;
    Some(policy_notice(&problem.to_string()))
}

fn policy_notice(problem: &str) -> String {
    let first = problem.lines().take(3).collect::<Vec<_>>().join(" ");
    format!(
        "sprag: {first}. The last policy that could be read stays in force, else the built-in one. \
         To see what is wrong: sprag policy check"
    )
}

/// A command line that this version does not understand, as after going back to an older one. The usual
/// exit code would be a refusal in most clients.
pub(crate) fn misunderstood(error: &clap::Error, settings: &Settings) -> ExitCode {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = format!("the hook's command line is not understood: {first}");
    leave(settings.db_place(None).as_deref(), &what);
    let _ = std::io::stderr().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn leave(db: Option<&Path>, what: &str) {
    if let Some(db) = db {
        problem_log::leave(db, clock::now(), what);
    }
}

/// The same for what stays wrong from one hook to the next: once a minute is enough.
fn leave_once(db: Option<&Path>, what: &str) {
    if db.is_some_and(|db| !problem_log::is_fresh(db, clock::now())) {
        leave(db, what);
    }
}

/// All of standard input; of what is too long, its beginning. It is read to its end all the same: a
/// client whose pipe breaks may take that for a failure.
fn payload() -> Result<Vec<u8>, (ReadError, Vec<u8>)> {
    let mut input = std::io::stdin().lock();
    let mut payload = Vec::new();
    let most = u64::try_from(MAX_EVENT_BYTES).unwrap_or(u64::MAX);
    let read = input.by_ref().take(most + 1).read_to_end(&mut payload);
    match read {
        Ok(bytes) if bytes > MAX_EVENT_BYTES => {
            let _ = std::io::copy(&mut input, &mut std::io::sink());
            let max = MAX_EVENT_BYTES;
            Err((ReadError::TooLong { max }, payload))
        }
        // A terminal or a closed input: there is no payload.
        Err(error) if error.kind() != ErrorKind::Interrupted => Err((ReadError::Empty, Vec::new())),
        _ => Ok(payload),
    }
}

/// The end of a file, from the beginning of a line on if it is long.
fn end_of_file(path: &str) -> Option<String> {
    let (mut file, about) = open_transcript(Path::new(path))?;
    let length = about.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TRANSCRIPT)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_TRANSCRIPT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn link_options(args: &HookArgs, settings: &Settings, db: &Path) -> LinkOptions {
    let socket = args.socket.socket.as_deref();
    let mut options = LinkOptions::new(db);
    options.socket = Some(settings.socket_place(socket, args.db.db.as_deref(), db));
    options.policy = settings.policy_file(args.policy.policy.as_deref());
    options.capture = args.capture;
    options.shadow = args.shadow;
    options
}
