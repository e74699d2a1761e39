//! The arguments of the message relay and of the agents' tools that use it.

use std::path::PathBuf;

use clap::Args;
use sprag_server::{FieldNames, RelayTrust, Url};

use super::store::DbArg;
use super::word::word;

/// What the server's relay and its clients must agree on.
#[derive(Debug, Args)]
pub(crate) struct RelayFormArgs {
    /// Where sessions are on the agent server.
    #[arg(long, value_name = "PATH", default_value = "/api/sessions", value_parser = relay_path)]
    pub(crate) relay_path: String,
    /// What the agent server calls a field of a message, as in from=sender; may be given again.
    #[arg(long, value_name = "WHAT=NAME", value_parser = field)]
    pub(crate) relay_field: Vec<String>,
}

impl RelayFormArgs {
    /// The names of all fields.
    pub(crate) fn fields(&self) -> FieldNames {
        let mut fields = FieldNames::default();
        for pair in &self.relay_field {
            // Each was looked at when the arguments were read.
            let _ = fields.rename(pair);
        }
        fields
    }
}

#[derive(Debug, Args)]
pub(crate) struct RelayArgs {
    /// Judge messages to this agent server, and pass on what is let through.
    #[arg(long, value_name = "URL", value_parser = upstream)]
    pub(crate) upstream: Option<Url>,
    /// Who may send a user's messages without a token.
    #[arg(long, value_name = "WHO", value_parser = word::<RelayTrust>(), default_value_t = RelayTrust::Token, requires = "upstream")]
    pub(crate) relay_trust: RelayTrust,
    #[command(flatten)]
    pub(crate) form: RelayFormArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AgentToolsArgs {
    /// The session that the agent runs in.
    #[arg(long, value_name = "ID")]
    pub(crate) session: String,
    /// The server with the relay [default: the one of this machine, on its socket].
    #[arg(long, value_name = "URL", value_parser = upstream, conflicts_with = "socket")]
    pub(crate) server: Option<Url>,
    /// The server's Unix socket.
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) db: DbArg,
    /// A file with a token, for a relay that asks for one.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: RelayFormArgs,
}

fn upstream(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("{error}; write http://HOST:PORT"))?;
    match url.scheme() {
        "http" | "https" if url.query().is_none() && url.fragment().is_none() => Ok(url),
        "http" | "https" => Err("it has a query or a fragment; give only the start".to_owned()),
        scheme => Err(format!(
            "{scheme}: is neither http: nor https:; write http://HOST:PORT"
        )),
    }
}

fn relay_path(text: &str) -> Result<String, String> {
    let path = text.trim_end_matches('/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-._~".contains(c);
    let clash = ["/v1", "/docs", "/metrics", "/assets", "/mcp"];
    if !path.starts_with('/') || path.len() < 2 || path.contains("//") {
        return Err("a path starts with a slash, as in /api/sessions".to_owned());
    }
    if !path.chars().all(is_plain) {
        return Err("only letters, digits and /-._~ stand in it".to_owned());
    }
    match clash
        .iter()
        .find(|own| path == **own || path.starts_with(&format!("{own}/")))
    {
        Some(own) => Err(format!("{own} is the server's own")),
        None => Ok(path.to_owned()),
    }
}

fn field(text: &str) -> Result<String, String> {
    let named = FieldNames::default().rename(text);
    named.map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}
