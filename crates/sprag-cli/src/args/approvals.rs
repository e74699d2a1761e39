//! The arguments of the commands that answer questions, and of all that a person confirms.

use clap::Args;
use sprag::ApprovalScope;

use super::word::word;
use super::{OperatorArgs, PlaceArgs, PolicyArg};

/// Whether a person is there.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ConfirmArg {
    /// Don't ask whether to do it. Needed without a terminal; the log then notes it.
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// How far the yes goes.
    #[arg(long, value_name = "SCOPE", value_parser = word::<ApprovalScope>(), default_value_t)]
    pub(crate) scope: ApprovalScope,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The code of the question.
    #[arg(value_name = "CODE")]
    pub(crate) code: String,
    /// The reason, for the log.
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    #[command(flatten)]
    pub(crate) order: OperatorArgs,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
