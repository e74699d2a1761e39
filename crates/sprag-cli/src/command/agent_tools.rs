//! `sprag agent-tools`: an agent's own way to others, over MCP on standard input and output.

use std::process::ExitCode;

use sprag::Id;
use sprag_agents::{AgentTools, AgentToolsConfig, AgentToolsError, RelayAddress};

use crate::args::AgentToolsArgs;
use crate::db::Db;
use crate::failure::{Failure, Run};
use crate::settings::Settings;

/// Serves until the agent's side closes.
pub(crate) fn run(args: &AgentToolsArgs, settings: &Settings) -> Run {
    let session = Id::new(&args.session)
        .map_err(|error| Failure::new(format!("--session {:?}: {error}", args.session)))?;
    let relay = match &args.server {
        Some(url) => RelayAddress::Url(url.clone()),
        None => {
            let db = Db::file(settings, &args.db)?.path().to_owned();
            let flag = args.db.db.as_deref();
            RelayAddress::Socket(settings.socket_place(args.socket.as_deref(), flag, &db))
        }
    };
    let token = match &args.token_file {
        None => None,
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Failure::new(format!(
                    "can't read the token in {}: {error}",
                    file.display()
                ))
            })?;
            Some(text.trim().to_owned())
        }
    };
    let tools = AgentTools::new(AgentToolsConfig {
        session,
        relay,
        path: args.form.relay_path.clone(),
        fields: args.form.fields(),
        token,
    })?;
    tools.run()?;
    Ok(ExitCode::SUCCESS)
}

impl From<AgentToolsError> for Failure {
    fn from(error: AgentToolsError) -> Self {
        let is_peer = matches!(error, AgentToolsError::Peer(_));
        let failure = Self::new(error.to_string());
        if is_peer {
            failure.next(
                "an MCP client starts this command and speaks to it; it is not for a terminal",
            )
        } else {
            failure
        }
    }
}
