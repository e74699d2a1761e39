//! `sprag mcp install` and `uninstall`: the wrapper in a client's settings.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use sprag::FailMode;
use sprag_mcp::install::{self as settings_of, McpClient, ServerEntry, Wrapper};

use super::raise;
use super::servers_file::{ServersFile, WrapManner};
use crate::args::{ClientArgs, McpInstallArgs, McpUninstallArgs};
use crate::build_output;
use crate::failure::{Failure, Run};
use crate::settings::Settings;

/// Puts the wrapper in.
pub(super) fn install(args: &McpInstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let files = ServersFile::open(&args.client, settings)?;
    let wrapper = wrapper(args)?;
    let client = args.client.client;
    let mut is_written = false;
    for file in &files {
        let names = file.meant(&args.client.servers);
        let new = settings_of::install(client, &file.text, &names, &wrapper)
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
        is_written |= file.change(&new, manner(&args.client), out)?;
    }
    if is_written {
        build_output::warn(Path::new(&wrapper.program), out)?;
    }
    if args.inspect {
        let entries: Vec<ServerEntry> = files.into_iter().flat_map(|file| file.entries).collect();
        raise::inspect(&entries, args, settings, out)?;
    }
    if let Some(limit) = args.raise {
        raise::raise(limit, args, settings, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the wrapper out.
pub(super) fn uninstall(args: &McpUninstallArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    for file in ServersFile::open(&args.client, settings)? {
        let names = file.meant(&args.client.servers);
        take_out(args.client.client, &file, &names, manner(&args.client), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the wrapper out of the settings of every client that has it. Returns whether one had.
pub(crate) fn uninstall_all(
    yes: bool,
    settings: &Settings,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let manner = WrapManner {
        dry_run: false,
        yes,
    };
    let mut any = false;
    for client in McpClient::ALL {
        let files = ServersFile::find(client, settings)?;
        for file in files.iter().filter(|file| file.is_wrapped()) {
            any = true;
            take_out(client, file, &[], manner, out)?;
        }
    }
    Ok(any)
}

fn take_out(
    client: McpClient,
    file: &ServersFile,
    names: &[String],
    manner: WrapManner,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let new =
        settings_of::uninstall(client, &file.text, names).map_err(|error| file.failure(&error))?;
    file.change(&new, manner, out)?;
    Ok(())
}

fn manner(args: &ClientArgs) -> WrapManner {
    WrapManner {
        dry_run: args.dry_run,
        yes: args.yes,
    }
}

fn wrapper(args: &McpInstallArgs) -> Result<Wrapper, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::new(format!("can't tell where this program lies: {error}")))?;
    let client = args.client.client;
    let mut options = vec!["--agent".to_owned(), client.agent().to_owned()];
    if client.serves_many() {
        options.push("--shared-identity".to_owned());
    }
    if matches!(args.fail, Some(FailMode::Closed)) {
        options.extend(["--fail", "closed"].map(str::to_owned));
    }
    Ok(Wrapper {
        program: own.display().to_string(),
        options,
    })
}
