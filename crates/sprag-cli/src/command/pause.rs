//! `sprag pause` and `sprag resume`: everything in shadow for a while.

use std::io::Write;
use std::process::ExitCode;

use crate::args::{PauseArgs, ResumeArgs};
use crate::db::Db;
use crate::failure::Run;
use crate::record_line::time;
use crate::settings::Settings;

/// Starts a pause.
pub(crate) fn pause(args: &PauseArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let db = Db::find(settings, &args.db)?;
    let policy = args.policy.policy.as_deref();
    let guard = db.guard(settings, policy, sprag::Capture::Digest)?;
    let by = args.by.clone().unwrap_or_else(|| settings.user());
    let pause = guard.pause(args.span, &by, args.why.as_deref())?;
    let until = pause.until.map(time).unwrap_or_default();
    writeln!(
        out,
        "paused until {until} UTC: rules tell what they would do and stop nothing; killed sessions stay killed"
    )?;
    writeln!(out, "`sprag resume` ends it")?;
    Ok(ExitCode::SUCCESS)
}

/// Ends a pause.
pub(crate) fn resume(args: &ResumeArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let db = Db::find(settings, &args.db)?;
    let guard = db.guard_of_known(settings, args.policy.policy.as_deref())?;
    let by = args.by.clone().unwrap_or_else(|| settings.user());
    match guard.resume(&by)? {
        Some(_) => writeln!(out, "resumed: rules decide again")?,
        None => writeln!(out, "nothing was paused")?,
    }
    Ok(ExitCode::SUCCESS)
}
