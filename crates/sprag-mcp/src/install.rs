//! Putting the wrapper before the servers that an MCP client has in its settings, and taking it out again.
//!
//! Settings are written by people: with comments, in an order that means something to them, in files
//! that hold much else. So nothing is read and written back; the text is changed at the two places that
//! start a server, its program and its arguments, and every other byte stays. Taking out is the exact
//! reverse.

mod json;
mod mcp_client;
mod server_entry;
mod toml;

pub use mcp_client::{ClientFolders, Format, McpClient};
pub use server_entry::{ServerEntry, ServerLaunch};

use crate::splice::{self, Splice};

/// How the wrapper is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapper {
    /// The program.
    pub program: String,
    /// What stands between `mcp --name NAME` and `--`.
    pub options: Vec<String>,
}

/// Why settings can't be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// They are not JSON.
    #[error("not JSON: {0}")]
    Json(String),
    /// They are not TOML.
    #[error("not TOML: {0}")]
    Toml(String),
    /// What holds the servers is something else.
    #[error("`{0}` does not hold servers by name")]
    Shape(&'static str),
    /// No server has this name.
    #[error("there is no server `{0}`")]
    Unknown(String),
}

/// The servers in a client's settings.
///
/// # Errors
/// Returns an error if the text can't be read.
pub fn entries(client: McpClient, text: &str) -> Result<Vec<ServerEntry>, InstallError> {
    match client.format() {
        Format::Json => json::entries(text, client.key(), client.has_projects()),
        Format::Toml => toml::entries(text, client.key()),
    }
}

/// The text with the wrapper before the servers of these names, or before all where none is named.
///
/// # Errors
/// Returns an error if the text can't be read or a name is not there.
pub fn install(
    client: McpClient,
    text: &str,
    names: &[String],
    wrapper: &Wrapper,
) -> Result<String, InstallError> {
    change(client, text, names, |entry, launch| {
        entry.wrapped(text, launch, wrapper, client.format())
    })
}

/// The text without the wrapper.
///
/// # Errors
/// Returns an error if the text can't be read or a name is not there.
pub fn uninstall(client: McpClient, text: &str, names: &[String]) -> Result<String, InstallError> {
    change(client, text, names, |_, launch| launch.unwrapped(text))
}

fn change(
    client: McpClient,
    text: &str,
    names: &[String],
    edit: impl Fn(&ServerEntry, &ServerLaunch) -> Vec<Splice>,
) -> Result<String, InstallError> {
    let entries = entries(client, text)?;
    if let Some(name) = names
        .iter()
        .find(|name| !entries.iter().any(|entry| entry.name == **name))
    {
        return Err(InstallError::Unknown(name.clone()));
    }
    let is_meant = |entry: &&ServerEntry| names.is_empty() || names.contains(&entry.name);
    let edits = entries
        .iter()
        .filter(is_meant)
        .filter_map(|entry| Some((entry, entry.launch.as_ref()?)));
    let splices = edits
        .flat_map(|(entry, launch)| edit(entry, launch))
        .collect();
    // A parser of this text found the offsets, so the bytes stay UTF-8.
    let new = splice::apply(text.as_bytes(), splices);
    Ok(String::from_utf8_lossy(&new).into_owned())
}
