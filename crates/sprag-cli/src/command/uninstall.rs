//! `sprag uninstall`: the guard's hooks out of an agent CLI's settings again.

use std::io::Write;
use std::process::ExitCode;

use sprag_hooks::Client;
use sprag_hooks::install::uninstall;

use super::install::{settings_file, unusable};
use crate::args::UninstallArgs;
use crate::failure::Run;
use crate::settings::Settings;
use crate::settings_file::Change;

/// Takes the hooks out.
pub(crate) fn run(args: &UninstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let client = Client::from(args.client);
    let file = settings_file(client, args.scope.scope(), settings)?;
    let (title, path) = (client.title(), file.path.display());
    let wanted = match file.text.as_deref() {
        Some(text) => uninstall(client, text).map_err(|error| unusable(&file, &error))?,
        None => None,
    };
    match file.change(wanted.as_deref(), false, args.yes, out)? {
        Change::None => writeln!(out, "{title}: there are no hooks of sprag in {path}")?,
        Change::Declined => writeln!(out, "nothing was changed")?,
        Change::Done(_) => {
            file.forget(wanted.as_deref());
            writeln!(out, "{title} is no longer guarded: {path}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
