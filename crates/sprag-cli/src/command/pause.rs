//! `sprag pause` and `sprag resume`: every rule in shadow for a while.

use std::io::Write;
use std::process::ExitCode;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sprag::link::ServerClient;
use sprag::{LinkError, Millis, Role, Timestamp};

use crate::args::{PauseArgs, ResumeArgs};
use crate::db::Db;
use crate::failure::Run;
use crate::record_line::time;
use crate::settings::Settings;

/// The server's answer to a pause.
#[derive(Debug, Deserialize)]
struct PauseAnswer {
    until: Option<Timestamp>,
}

/// The server's answer to the end of a pause.
#[derive(Debug, Deserialize)]
struct ResumeAnswer {
    ended: bool,
}

/// Starts a pause.
pub(crate) fn pause(args: &PauseArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let link = args.order.link(settings)?;
    let by = args.order.signed(settings, "Put every rule into shadow")?;
    let until = match (link.server(), link.guard()) {
        (Some(server), _) => {
            let Millis(span_ms) = args.span;
            let ask = json!({ "for": format!("{span_ms}ms"), "by": by, "why": args.why });
            ask_server::<PauseAnswer>(&server, "/v1/pause", &ask)?.until
        }
        (None, Some(guard)) => guard.pause(args.span, &by, args.why.as_deref())?.until,
        (None, None) => None,
    };
    let until = until.map_or_else(String::new, |until| format!(" until {} UTC", time(until)));
    writeln!(
        out,
        "paused{until}: rules report what they would do and stop nothing; killed sessions stay killed"
    )?;
    writeln!(out, "`sprag resume` ends it")?;
    Ok(ExitCode::SUCCESS)
}

/// Ends a pause.
pub(crate) fn resume(args: &ResumeArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    drop(Db::find(settings, &args.order.place.db)?.read()?);
    let link = args.order.link(settings)?;
    let by = args.order.signed(settings, "End the pause")?;
    let was_paused = match (link.server(), link.guard()) {
        (Some(server), _) => {
            ask_server::<ResumeAnswer>(&server, "/v1/resume", &json!({ "by": by }))?.ended
        }
        (None, Some(guard)) => guard.resume(&by)?.is_some(),
        (None, None) => false,
    };
    match was_paused {
        true => writeln!(out, "resumed: rules decide again")?,
        false => writeln!(out, "nothing was paused")?,
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn ask_server<T: DeserializeOwned>(
    server: &ServerClient,
    path: &str,
    ask: &Value,
) -> Result<T, LinkError> {
    let body = ask.to_string();
    let answer = server.request(Role::Operator, "POST", path, body.as_bytes())?;
    server.read(&answer)
}
