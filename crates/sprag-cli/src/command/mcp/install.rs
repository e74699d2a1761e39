//! `sprag mcp install` and `uninstall`: the wrapper in a client's settings.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use sprag_mcp::install::{self as settings_of, Launch, McpClient, ServerEntry, Wrapper};

use super::raise;
use crate::args::{ClientArgs, FailWord, McpInstallArgs, McpUninstallArgs};
use crate::failure::{Failure, Run};
use crate::settings::Settings;
use crate::settings_file::{Change, SettingsFile};

/// Puts the wrapper in.
pub(super) fn install(args: &McpInstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let file = ServersFile::open(&args.client, settings)?;
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
pub(super) fn uninstall(args: &McpUninstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let file = ServersFile::open(&args.client, settings)?;
    let new = settings_of::uninstall(args.client.client, &file.text, &args.client.servers)
        .map_err(|error| file.failure(&error))?;
    file.change(&new, &args.client, out)?;
    Ok(ExitCode::SUCCESS)
}

fn wrapper(args: &McpInstallArgs) -> Result<Wrapper, Failure> {
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
struct ServersFile {
    file: SettingsFile,
    text: String,
    entries: Vec<ServerEntry>,
}

impl ServersFile {
    fn open(args: &ClientArgs, settings: &Settings) -> Result<Self, Failure> {
        let file = SettingsFile::read(place(args, settings)?, settings.backups())?;
        let path = file.path.display().to_string();
        let Some(text) = file.text.clone() else {
            return Err(
                Failure::new(format!("{} has no settings at {path}", args.client))
                    .next("name the file with --file"),
            );
        };
        let entries = settings_of::entries(args.client, &text)
            .map_err(|error| Failure::new(format!("{path}: {error}")))?;
        if entries.is_empty() {
            return Err(
                Failure::new(format!("{path} names no MCP servers")).next(format!(
                    "they stand under `{}`; --file names another file",
                    args.client.key()
                )),
            );
        }
        Ok(Self {
            file,
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
        Failure::new(format!("{}: {error}", self.file.path.display()))
            .next(format!("its servers are {}", names.join(", ")))
    }

    fn change(&self, new: &str, args: &ClientArgs, out: &mut dyn Write) -> Result<(), Failure> {
        let path = self.file.path.display();
        if args.dry_run {
            self.file.show(Some(new), out)?;
            writeln!(out, "nothing was written")?;
            return Ok(());
        }
        // What is kept is the file from before the first install, not one with half of them in it.
        let is_wrapped =
            |entry: &ServerEntry| entry.launch.as_ref().is_some_and(Launch::is_wrapped);
        let keep = !self.entries.iter().any(is_wrapped);
        match self.file.change(Some(new), keep, args.yes, out)? {
            Change::None => writeln!(out, "there is nothing to change in {path}")?,
            Change::Declined => writeln!(out, "nothing was written")?,
            Change::Done(kept) => {
                writeln!(out, "written to {path}")?;
                self.file.forget(Some(new));
                if let Some(kept) = kept.filter(|kept| kept.exists()) {
                    writeln!(out, "as it was before: {}", kept.display())?;
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
    let client: McpClient = args.client;
    Ok(client.place(&home, &config, &here))
}
