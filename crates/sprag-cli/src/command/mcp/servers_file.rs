//! The settings of MCP clients that name servers: which files there are, and a change of one.

use std::io::Write;
use std::path::PathBuf;

use sprag_mcp::install::{self as settings_of, McpClient, ServerEntry, ServerLaunch};

use crate::args::ClientArgs;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::settings_file::{Change, SettingsFile};

/// A client's settings as they are.
pub(super) struct ServersFile {
    client: McpClient,
    file: SettingsFile,
    pub(super) text: String,
    pub(super) entries: Vec<ServerEntry>,
}

/// How a change is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrapManner {
    /// Only show it.
    pub(super) dry_run: bool,
    /// Don't ask.
    pub(super) yes: bool,
}

impl ServersFile {
    /// The files of `client` that name servers; none if there are none.
    pub(super) fn find(client: McpClient, settings: &Settings) -> Result<Vec<Self>, Failure> {
        let mut found = Vec::new();
        for place in places(client, settings)? {
            let Some(file) = Self::read(client, place, settings)? else {
                continue;
            };
            if !file.entries.is_empty() {
                found.push(file);
            }
        }
        Ok(found)
    }

    /// The files that `args` mean, which must name the servers that `args` name.
    pub(super) fn open(args: &ClientArgs, settings: &Settings) -> Result<Vec<Self>, Failure> {
        let client = args.client;
        let places = match &args.file {
            Some(file) => vec![file.clone()],
            None => places(client, settings)?,
        };
        let mut files = Vec::new();
        for place in &places {
            files.extend(Self::read(client, place.clone(), settings)?);
        }
        if files.is_empty() {
            let places = joined(places.iter());
            return Err(
                Failure::new(format!("{client} has no settings at {places}"))
                    .next("name the file with --file"),
            );
        }
        if files.iter().all(|file| file.entries.is_empty()) {
            let (verb, found) = match files.as_slice() {
                [one] => ("names", joined([&one.file.path].into_iter())),
                all => ("name", joined(all.iter().map(|one| &one.file.path))),
            };
            return Err(
                Failure::new(format!("{found} {verb} no MCP servers")).next(format!(
                    "they stand under `{}`; --file names another file",
                    client.key()
                )),
            );
        }
        files.retain(|file| !file.entries.is_empty());
        let names: Vec<&str> = files.iter().flat_map(Self::names).collect();
        if let Some(unknown) = args
            .servers
            .iter()
            .find(|one| !names.contains(&one.as_str()))
        {
            return Err(
                Failure::new(format!("{client} has no MCP server `{unknown}`"))
                    .next(format!("its servers are {}", names.join(", "))),
            );
        }
        files.retain(|file| args.servers.is_empty() || !file.meant(&args.servers).is_empty());
        Ok(files)
    }

    fn read(
        client: McpClient,
        place: PathBuf,
        settings: &Settings,
    ) -> Result<Option<Self>, Failure> {
        let file = SettingsFile::read(place, settings.backups())?;
        let Some(text) = file.text.clone() else {
            return Ok(None);
        };
        let entries = settings_of::entries(client, &text)
            .map_err(|error| Failure::new(format!("{}: {error}", file.path.display())))?;
        Ok(Some(Self {
            client,
            file,
            text,
            entries,
        }))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Those of `servers` that this file names.
    pub(super) fn meant(&self, servers: &[String]) -> Vec<String> {
        let is_here = |server: &&String| self.names().any(|name| name == server.as_str());
        servers.iter().filter(is_here).cloned().collect()
    }

    /// Whether a server in it goes through Sprag.
    pub(super) fn is_wrapped(&self) -> bool {
        let launches = self
            .entries
            .iter()
            .filter_map(|entry| entry.launch.as_ref());
        launches.into_iter().any(ServerLaunch::is_wrapped)
    }

    pub(super) fn failure(&self, error: &settings_of::InstallError) -> Failure {
        Failure::new(format!("{}: {error}", self.file.path.display()))
    }

    /// Replaces the text by `new`, as `manner` says. Returns whether it was written.
    pub(super) fn change(
        &self,
        new: &str,
        manner: WrapManner,
        out: &mut dyn Write,
    ) -> Result<bool, Failure> {
        let path = self.file.path.display();
        if manner.dry_run {
            self.file.show(Some(new), out)?;
            writeln!(out, "nothing was written")?;
            return Ok(false);
        }
        // What is kept is the file from before the first install, not one with half of them in it.
        match self
            .file
            .change(Some(new), !self.is_wrapped(), manner.yes, out)?
        {
            Change::None => writeln!(out, "there is nothing to change in {path}")?,
            Change::Declined => writeln!(out, "nothing was written")?,
            Change::Done(kept) => {
                writeln!(out, "written to {path}")?;
                self.file.forget(Some(new));
                if let Some(kept) = kept.filter(|kept| kept.exists()) {
                    writeln!(out, "as it was before: {}", kept.display())?;
                }
                writeln!(out, "restart {} to use it", self.client)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn joined<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> String {
    let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    paths.join(" and ")
}

fn places(client: McpClient, settings: &Settings) -> Result<Vec<PathBuf>, Failure> {
    let folders = settings.client_folders(std::env::current_dir()?);
    let folders = folders.ok_or_else(|| {
        Failure::new("there is no home in which to look").next("name the file with --file")
    })?;
    Ok(client.places(&folders))
}
