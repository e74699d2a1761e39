//! Which tools count as destructive, and a higher limit for a client whose work it is to delete.

use std::ffi::OsString;
use std::io::Write;
use std::time::Duration;

use sprag_core::is_destructive;
use sprag_mcp::inspect;
use sprag_mcp::install::ServerEntry;

use crate::args::{McpInstallArgs, PolicyCommand, PolicySetArgs};
use crate::command::policy;
use crate::failure::Failure;
use crate::policy_file;
use crate::settings::Settings;

/// How long a server may take for an answer; the first start of one may have to fetch it.
const DEADLINE: Duration = Duration::from_secs(60);

/// Starts each server and names its destructive tools.
pub(super) fn inspect(
    entries: &[ServerEntry],
    args: &McpInstallArgs,
    settings: &Settings,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let policy = policy_file::load(settings, args.policy.policy.as_deref())?;
    let agent = args.client.client.agent();
    let limits = policy.limits_for(Some(agent), "");
    let limits = &limits.destructive;
    let mut is_any = false;
    for entry in entries {
        let Some(launch) = &entry.launch else {
            continue;
        };
        let name = &entry.name;
        match inspect::tools(launch, DEADLINE) {
            Err(error) => writeln!(out, "{name}: {error}")?,
            Ok(tools) => {
                let is_counted =
                    |tool: &&sprag_mcp::Tool| is_destructive(&tool.name, tool.hints, limits);
                let counted: Vec<&str> = tools
                    .iter()
                    .filter(is_counted)
                    .map(|tool| tool.name.as_str())
                    .collect();
                if counted.is_empty() {
                    writeln!(
                        out,
                        "{name}: none of {} tools counts as destructive",
                        tools.len()
                    )?;
                } else {
                    is_any = true;
                    writeln!(out, "{name}: {} count as destructive", counted.join(", "))?;
                }
            }
        }
    }
    if is_any && args.raise.is_none() {
        let (max, window) = (limits.max_calls.get(), limits.window);
        writeln!(
            out,
            "{max} of them in {window} kill the session; to allow more: sprag policy set destructive.max_calls N --agent {agent}"
        )?;
    }
    Ok(())
}

/// Sets the limit for this client's agents.
pub(super) fn raise(
    limit: u32,
    args: &McpInstallArgs,
    settings: &Settings,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (key, limit) = ("destructive.max_calls", limit.to_string());
    if args.client.dry_run {
        writeln!(
            out,
            "would set {key} to {limit} for agent {}",
            args.client.client.agent()
        )?;
        return Ok(());
    }
    // Whoever installs has asked for it by name.
    let agent = args.client.client.agent();
    let words = [key, &limit, "--agent", agent, "--yes"];
    let mut words: Vec<OsString> = words.map(OsString::from).into();
    if let Some(file) = &args.policy.policy {
        words.extend(["--policy".into(), file.clone().into_os_string()]);
    }
    let change = PolicySetArgs::of(words)?;
    policy::run(&PolicyCommand::Set(Box::new(change)), settings, out)?;
    Ok(())
}
