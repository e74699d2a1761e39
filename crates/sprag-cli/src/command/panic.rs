//! `sprag panic` and `sprag calm`: everything that agents do is refused, and its end.

use std::io::Write;
use std::process::ExitCode;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use sprag::Panic;

use super::pause::ask_server;
use crate::args::PanicArgs;
use crate::db::Db;
use crate::failure::Run;
use crate::settings::Settings;

/// The server's answer to the end of a panic.
#[derive(Debug, Deserialize)]
struct CalmAnswer {
    panic: bool,
    ended: bool,
}

/// Refuses everything that agents do.
pub(crate) fn panic(args: &PanicArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let link = args.order.link(settings)?;
    let by = args
        .order
        .signed(settings, "Refuse everything that agents do")?;
    match (link.server(), link.guard()) {
        (Some(server), _) => {
            let ask = json!({ "by": by, "why": args.why });
            ask_server::<IgnoredAny>(&server, "/v1/panic", &ask)?;
        }
        (None, Some(guard)) => {
            guard.panic(&by, &args.why)?;
        }
        (None, None) => {}
    }
    writeln!(
        out,
        "everything that agents do is refused from now on; users' words pass"
    )?;
    writeln!(out, "`sprag calm --why …` ends it")?;
    Ok(ExitCode::SUCCESS)
}

/// Ends a panic.
pub(crate) fn calm(args: &PanicArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    drop(Db::find(settings, &args.order.place.db)?.read()?);
    let link = args.order.link(settings)?;
    let by = args.order.signed(settings, "End the panic")?;
    let answer = match (link.server(), link.guard()) {
        (Some(server), _) => {
            let ask = json!({ "by": by, "why": args.why });
            ask_server::<CalmAnswer>(&server, "/v1/calm", &ask)?
        }
        (None, Some(guard)) => CalmAnswer {
            ended: guard.calm(&by, &args.why)?.is_some(),
            panic: guard.panicked()?.is_some(),
        },
        (None, None) => CalmAnswer {
            panic: false,
            ended: false,
        },
    };
    match (answer.ended, answer.panic) {
        (_, true) => writeln!(
            out,
            "the file `panic` beside the store keeps the panic in force: remove it"
        )?,
        (true, false) => writeln!(out, "calm: agents are judged by the rules again")?,
        (false, false) => writeln!(out, "there was no panic")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What everybody should know when a guard starts: who stopped all agents, and why.
pub(crate) fn notice(panic: &Panic) -> String {
    let by = panic.by.as_deref().unwrap_or("an operator");
    let why = panic.why.as_deref();
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    format!("everything that agents do is refused, by {by}{why}")
}
