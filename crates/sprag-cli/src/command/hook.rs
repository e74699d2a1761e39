//! `sprag hook`: one event of an agent CLI, from its payload to its answer.
//!
//! It runs before and after every tool call, so it does nothing that it need not: no runtime, no store
//! where the event is of no concern. It must never crash: one client takes that for a refusal, the others for
//! a permission.

use std::io::{ErrorKind, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use sprag::{Event, LazyLink, LinkOptions, NoVerdict, Role, Verdict};
use sprag_core::MAX_EVENT_BYTES;
use sprag_hooks::{Answered, Client, HookOptions, ReadError, answer, unreadable};

use crate::args::HookArgs;
use crate::clock;
use crate::failure::Run;
use crate::settings::Settings;
use crate::trouble;

/// Answers the payload on standard input.
pub(crate) fn run(args: &HookArgs, settings: &Settings) -> Run {
    let client = Client::from(args.client);
    let db = settings.db_place(args.db.db.as_deref());
    let now = clock::now();
    let options = HookOptions {
        event: args.event.as_deref(),
        fail: args.fail.into(),
        shadow: args.shadow,
        hush: db.as_deref().is_some_and(|db| trouble::is_fresh(db, now)),
    };
    let payload = payload();
    let answered = catch_unwind(AssertUnwindSafe(|| match &payload {
        Ok(_) if settings.is_called_twice(client) => Answered::default(),
        Ok(payload) => answer(
            client,
            payload,
            &options,
            asker(args, settings, db.as_deref()),
        ),
        Err(error) => unreadable(client, &options, error),
    }));
    let Ok(answered) = answered else {
        leave(db.as_deref(), "the hook panicked; please report it");
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(what) = &answered.trouble {
        leave(db.as_deref(), what);
    }
    let mut out = std::io::stdout().lock();
    // A client that does not listen any more needs no answer.
    let _ = out.write_all(answered.answer.stdout.as_bytes());
    let _ = out.flush();
    Ok(ExitCode::from(answered.answer.exit_code))
}

/// A command line that this version does not understand, as after going back to an older one. The usual exit code
/// would be a refusal in most clients.
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
        trouble::leave(db, clock::now(), what);
    }
}

/// All of standard input. What is too long is read to its end all the same: a client whose pipe breaks may
/// take that for a failure.
fn payload() -> Result<Vec<u8>, ReadError> {
    let mut input = std::io::stdin().lock();
    let mut payload = Vec::new();
    let most = u64::try_from(MAX_EVENT_BYTES).unwrap_or(u64::MAX);
    let read = input.by_ref().take(most + 1).read_to_end(&mut payload);
    match read {
        Ok(bytes) if bytes > MAX_EVENT_BYTES => {
            let _ = std::io::copy(&mut input, &mut std::io::sink());
            let max = MAX_EVENT_BYTES;
            Err(ReadError::TooLong { max })
        }
        // A terminal or a closed input: there is no payload.
        Err(error) if error.kind() != ErrorKind::Interrupted => Err(ReadError::Empty),
        _ => Ok(payload),
    }
}

/// Asks the guard of this machine, which is opened with the first event. A session that was stopped stays
/// stopped when the guard can't be reached.
fn asker(
    args: &HookArgs,
    settings: &Settings,
    db: Option<&Path>,
) -> impl FnMut(Role, Event) -> Result<Verdict, String> {
    let link = db.map(|db| LazyLink::new(link_options(args, settings, db)));
    move |role, event| {
        let link = link
            .as_ref()
            .ok_or("there is no home to keep the store in")?;
        match link.check_as(role, event) {
            Ok(verdict) => Ok(verdict),
            Err(NoVerdict::Unreachable {
                stopped: Some(verdict),
                ..
            }) => Ok(*verdict),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn link_options(args: &HookArgs, settings: &Settings, db: &Path) -> LinkOptions {
    let socket = args.socket.socket.as_deref();
    LinkOptions {
        socket: Some(settings.socket_place(socket, args.db.db.as_deref(), db)),
        policy: settings.policy_file(args.policy.policy.as_deref()),
        capture: args.capture.into(),
        ..LinkOptions::new(db)
    }
}
