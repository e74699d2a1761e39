//! The arguments of `sprag policy`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::{OperatorArgs, PolicyArg, WhoArgs};
use crate::examples;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Tell everything that is wrong with a policy file.
    #[command(after_help = examples::POLICY_CHECK)]
    Check(PolicyCheckArgs),
    /// Print the whole policy that is in force, defaults included.
    #[command(after_help = examples::POLICY_SHOW)]
    Show(PolicyShowArgs),
    /// Print the JSON Schema of policies, for editors.
    #[command(after_help = examples::POLICY_SCHEMA)]
    Schema,
    /// Turn another tool's limits into a policy.
    #[command(after_help = examples::POLICY_IMPORT)]
    Import(PolicyImportArgs),
    /// Change one key in the policy file; comments and layout stay.
    #[command(after_help = examples::POLICY_SET)]
    Set(Box<PolicySetArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct PolicyCheckArgs {
    /// The policy file [default: the one that would be used].
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyShowArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// Print JSON instead of TOML.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyImportArgs {
    /// A `recursion-limits.json`, a `settings.json` with `protection.*`, or a file with
    /// `max_deletes` and `window_s`.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Import the limits for the sessions that this name or glob fits, not for everyone.
    #[arg(long, value_name = "SESSION", conflicts_with = "agent")]
    pub(crate) session: Option<String>,
    /// Import the limits for the agents that this name or glob fits, not for everyone.
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Print one JSON document instead of TOML.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PolicySetArgs {
    /// A key (`flow.max_depth`), or a rule or glob of rules whose mode to set (`flow.*`).
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    /// The value: a number, a duration, a word, a list; for a rule enforce, ask, shadow or off.
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) value: String,
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    #[command(flatten)]
    pub(crate) order: OperatorArgs,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

impl PolicySetArgs {
    /// As somebody would write them, for commands that set a key on their way.
    pub(crate) fn of(words: impl IntoIterator<Item = OsString>) -> Result<Self, Failure> {
        #[derive(Debug, Parser)]
        struct Line {
            #[command(flatten)]
            set: PolicySetArgs,
        }
        let words = std::iter::once(OsString::from("set")).chain(words);
        let line = Line::try_parse_from(words);
        line.map(|line| line.set)
            .map_err(|error| Failure::new(error.to_string()))
    }
}
