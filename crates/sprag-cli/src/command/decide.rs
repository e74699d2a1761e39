//! `sprag decide`: events in, verdicts out, with everything held in memory.

use std::io::BufReader;

use sprag::Judge;

use crate::answer_lines::{READ_BYTES, answer_lines};
use crate::args::DecideArgs;
use crate::clock;
use crate::failure::Run;
use crate::policy_file;
use crate::settings::Settings;

/// Judges standard input.
pub(crate) fn run(args: &DecideArgs, settings: &Settings) -> Run {
    let policy = policy_file::load(settings, args.policy.policy.as_deref())?;
    let mut judge = Judge::new(policy);
    let input = BufReader::with_capacity(READ_BYTES, std::io::stdin().lock());
    answer_lines(input, &mut std::io::stdout().lock(), args.strict, |event| {
        let at = event.at().unwrap_or_else(clock::now);
        judge.judge(&event, at).map_err(|error| error.to_string())
    })
}
