//! What every order of an operator takes: who gives it, to which guard, and that a person confirmed it.

use clap::Args;
use sprag::{Capture, Link};

use super::{ConfirmArg, PlaceArgs, PolicyArg};
use crate::confirm::confirm;
use crate::db::Db;
use crate::failure::Failure;
use crate::settings::Settings;

/// Who gives an order, and to which guard.
#[derive(Debug, Args)]
pub(crate) struct OperatorArgs {
    /// Who gives the order, for the log [default: $USER].
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    #[command(flatten)]
    confirm: ConfirmArg,
}

impl OperatorArgs {
    /// The way to the guard.
    pub(crate) fn link(&self, settings: &Settings) -> Result<Link, Failure> {
        let policy = self.policy.policy.as_deref();
        Db::link(settings, &self.place, policy, Capture::Digest)
    }

    /// Asks whether to do `what`. Returns who gives the order, for the log: it says if there was no terminal.
    pub(crate) fn signed(&self, settings: &Settings, what: &str) -> Result<String, Failure> {
        let confirmed = confirm(self.confirm, what)?;
        let by = self.by.clone().unwrap_or_else(|| settings.user());
        Ok(confirmed.signed(&by))
    }
}
