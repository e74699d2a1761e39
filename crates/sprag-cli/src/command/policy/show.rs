//! `sprag policy show`: the whole policy in force, as it would be written.

use std::io::Write;
use std::process::ExitCode;

use crate::args::PolicyShowArgs;
use crate::failure::Run;
use crate::json;
use crate::policy_file::{self, as_json};
use crate::settings::Settings;

/// Prints the policy.
pub(crate) fn run(args: &PolicyShowArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let policy = policy_file::load(settings, args.policy.policy.as_deref())?;
    let text = args.who.narrow(policy).to_toml();
    if args.json {
        json::print(out, &as_json(&text)?)?;
    } else {
        out.write_all(text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
