//! `sprag check`: events in, verdicts out, remembered and logged in the store.

use std::io::BufReader;

use crate::answer_lines::{READ_BYTES, answer_lines};
use crate::args::CheckArgs;
use crate::db::Db;
use crate::failure::Run;
use crate::settings::Settings;

/// Judges standard input.
pub(crate) fn run(args: &CheckArgs, settings: &Settings) -> Run {
    let policy = args.policy.policy.as_deref();
    let link = Db::link(settings, &args.place, policy, args.capture)?;
    let role = args.role;
    let input = BufReader::with_capacity(READ_BYTES, std::io::stdin().lock());
    answer_lines(input, &mut std::io::stdout().lock(), args.strict, |event| {
        // A policy that changed meanwhile holds from the next line on; what is wrong with it stands
        // in the log. A server looks after its own.
        if let Some(guard) = link.guard() {
            let _ = guard.reload_if_changed();
        }
        link.check_as(role, event)
            .map_err(|error| error.to_string())
    })
}
