//! `sprag sessions`: who is there, who is stopped, and orders for them.

mod list;
mod show;

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;
use sprag::{Event, Role, Verdict};
use sprag_core::OrderEvent;

use super::log::session_id;
use crate::args::{OrderArgs, SessionsCommand};
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::json;
use crate::settings::Settings;

/// Runs one of the commands.
pub(crate) fn run(command: &SessionsCommand, settings: &Settings, out: &mut dyn Write) -> Run {
    match command {
        SessionsCommand::List(args) => list::run(args, settings, out),
        SessionsCommand::Show(args) => show::run(args, settings, out),
        SessionsCommand::Kill(args) => kill(args, settings, out),
        SessionsCommand::Reset(args) => reset(args, settings, out),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderKind {
    Kill,
    Reset,
}

/// Gives the order to the guard; tells whether the session was known.
fn order(
    args: &OrderArgs,
    settings: &Settings,
    kind: OrderKind,
) -> Result<(Verdict, bool), Failure> {
    let id = session_id(&args.session)?;
    if args.why.trim().is_empty() {
        return Err(Failure::new("--why is empty").next("say in a few words why; the log keeps it"));
    }
    let link = args.order.link(settings)?;
    let known = Db::find(settings, &args.order.place.db)?
        .read()?
        .session(&id)?
        .is_some();
    if kind == OrderKind::Reset && !known {
        return Err(Failure::new(format!("there is no session {id}"))
            .next("`sprag sessions list` shows those there are"));
    }
    let verb = match kind {
        OrderKind::Kill => "Kill",
        OrderKind::Reset => "Reset",
    };
    let what = format!("{verb} session {id}");
    let by = args.order.signed(settings, &what)?;
    let mut order = OrderEvent::new(id);
    order.by = Some(by.into());
    order.why = Some(args.why.as_str().into());
    let event = match kind {
        OrderKind::Kill => Event::Kill(order),
        OrderKind::Reset => Event::Reset(order),
    };
    Ok((link.check_as(Role::Operator, event)?, known))
}

fn kill(args: &OrderArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let (verdict, known) = order(args, settings, OrderKind::Kill)?;
    let session = &args.session;
    if args.json {
        let generation = verdict.generation;
        json::print(
            out,
            &json!({ "session": session, "state": "killed", "known": known, "generation": generation }),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "killed {session}: everything in it and in its sub-agents is refused"
    )?;
    if !known {
        writeln!(
            out,
            "it was not known before; the kill holds should it appear"
        )?;
    }
    let word = sprag_core::shell_word(session);
    writeln!(
        out,
        "`sprag sessions reset {word} --why …` lets it start again"
    )?;
    Ok(ExitCode::SUCCESS)
}

fn reset(args: &OrderArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let (verdict, _) = order(args, settings, OrderKind::Reset)?;
    let (session, generation) = (&args.session, verdict.generation);
    if args.json {
        json::print(
            out,
            &json!({ "session": session, "state": "active", "generation": generation }),
        )?;
    } else {
        writeln!(
            out,
            "reset {session}: generation {generation} starts with nothing held against it"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
