//! `sprag mcp install` and `uninstall`: the wrapper in a client's settings.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use sprag_mcp::install::{self as settings_of, Client, Entry, Wrapper};

use super::raise;
use crate::args::{ClientArgs, FailWord, InstallArgs, UninstallArgs};
use crate::edit_settings::{Applied, Change, Consent};
use crate::failure::{Failure, Run};
use crate::policy_file::read_text;
use crate::settings::Settings;

/// Puts the wrapper in.
pub(super) fn install(args: &InstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let file = SettingsFile::open(&args.client, settings)?;
    let wrapper = wrapper(args)?;
    let client = args.client.client;
    let new = settings_of::install(client, &file.text, &args.client.servers, &wrapper)
        .map_err(|error| file.failure(&error))?;
    for entry in &file.entries {
        let name = &entry.name;
        match &entry.launch {
            None => writeln!(
                out,
                "{name} is reached over the network or started in a way that is not known: it stays as it is"
            )?,
            Some(launch) if launch.is_wrapped() => {
                writeln!(out, "{name} goes through Sprag already")?
            }
            Some(_) => {}
        }
    }
    file.change(&new, &args.client, out)?;
    if args.inspect {
        raise::inspect(&file.entries, args, settings, out)?;
    }
    if let Some(limit) = args.raise {
        raise::raise(limit, args, settings, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the wrapper out.
pub(super) fn uninstall(args: &UninstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let file = SettingsFile::open(&args.client, settings)?;
    let new = settings_of::uninstall(args.client.client, &file.text, &args.client.servers)
        .map_err(|error| file.failure(&error))?;
    file.change(&new, &args.client, out)?;
    Ok(ExitCode::SUCCESS)
}

fn wrapper(args: &InstallArgs) -> Result<Wrapper, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::new(format!("can't tell where this program lies: {error}")))?;
    let client = args.client.client;
    let mut options = vec!["--agent".to_owned(), client.agent().to_owned()];
    if client.serves_many() {
        options.push("--shared-identity".to_owned());
    }
    if matches!(args.fail, Some(FailWord::Closed)) {
        options.extend(["--fail", "closed"].map(str::to_owned));
    }
    Ok(Wrapper {
        program: own.display().to_string(),
        options,
    })
}

/// A client's settings as they are.
struct SettingsFile {
    path: PathBuf,
    text: String,
    entries: Vec<Entry>,
}

impl SettingsFile {
    fn open(args: &ClientArgs, settings: &Settings) -> Result<Self, Failure> {
        let path = place(args, settings)?;
        if !path.exists() {
            return Err(Failure::new(format!(
                "{} has no settings at {}",
                args.client,
                path.display()
            ))
            .next("name the file with --file"));
        }
        let text = read_text(&path)?;
        let entries = settings_of::entries(args.client, &text)
            .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        if entries.is_empty() {
            return Err(
                Failure::new(format!("{} names no MCP servers", path.display())).next(format!(
                    "they stand under `{}`; --file names another file",
                    args.client.key()
                )),
            );
        }
        Ok(Self {
            path,
            text,
            entries,
        })
    }

    fn failure(&self, error: &settings_of::InstallError) -> Failure {
        let names: Vec<&str> = self
            .entries
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        Failure::new(format!("{}: {error}", self.path.display()))
            .next(format!("its servers are {}", names.join(", ")))
    }

    fn change(&self, new: &str, args: &ClientArgs, out: &mut dyn Write) -> Result<(), Failure> {
        let change = Change {
            path: &self.path,
            old: Some(&self.text),
            new,
        };
        let consent = Consent::find(args.yes, args.dry_run);
        let path = self.path.display();
        match change.apply(consent, &mut std::io::stdin().lock(), out)? {
            Applied::Nothing => writeln!(out, "there is nothing to change in {path}")?,
            Applied::NotWritten => writeln!(out, "nothing was written")?,
            Applied::Written { backup } => {
                writeln!(out, "written to {path}")?;
                if let Some(backup) = backup {
                    writeln!(out, "as it was before: {}", backup.display())?;
                }
                writeln!(out, "restart {} to use it", args.client)?;
            }
        }
        Ok(())
    }
}

fn place(args: &ClientArgs, settings: &Settings) -> Result<PathBuf, Failure> {
    if let Some(file) = &args.file {
        return Ok(file.clone());
    }
    let (home, config) = settings.client_places().ok_or_else(|| {
        Failure::new("there is no home in which to look").next("name the file with --file")
    })?;
    let here = std::env::current_dir()?;
    let client: Client = args.client;
    Ok(client.place(&home, &config, &here))
}
