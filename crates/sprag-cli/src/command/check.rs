//! `sprag check`: events in, verdicts out, remembered and logged in the store.

use std::io::BufReader;

use sprag::Role;

use crate::answer_lines::{READ_BYTES, answer_lines};
use crate::args::CheckArgs;
use crate::db::Db;
use crate::failure::Run;
use crate::settings::Settings;

/// Judges standard input.
pub(crate) fn run(args: &CheckArgs, settings: &Settings) -> Run {
    let db = Db::find(settings, &args.db)?;
    let guard = db.guard(settings, args.policy.policy.as_deref(), args.capture.into())?;
    let role = Role::from(args.role);
    let input = BufReader::with_capacity(READ_BYTES, std::io::stdin().lock());
    answer_lines(input, &mut std::io::stdout().lock(), args.strict, |event| {
        // A policy that changed meanwhile holds from the next line on; what is wrong with it stands
        // in the log.
        let _ = guard.reload_if_changed();
        guard
            .check_as(role, event)
            .map_err(|error| error.to_string())
    })
}
