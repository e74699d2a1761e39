//! Where things are: flags beat environment variables, which beat the places of the XDG convention.

use std::env::VarError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sprag::PolicyFile;
use sprag_hooks::install::ConfigDirs;
use sprag_mcp::install::ClientFolders;
use sprag_scan::KnownFolders;

use crate::failure::Failure;

/// What the environment says.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    sprag_policy: Option<PathBuf>,
    sprag_db: Option<PathBuf>,
    sprag_redis: Option<String>,
    sprag_socket: Option<PathBuf>,
    xdg_runtime_dir: Option<PathBuf>,
    xdg_config_home: Option<PathBuf>,
    xdg_state_home: Option<PathBuf>,
    xdg_data_home: Option<PathBuf>,
    home: Option<PathBuf>,
    user: Option<PathBuf>,
    /// Set by Copilot CLI for the hooks that it runs.
    copilot_project: Option<PathBuf>,
    claude_home: Option<PathBuf>,
    codex_home: Option<PathBuf>,
    copilot_home: Option<PathBuf>,
    gemini_home: Option<PathBuf>,
    path: Option<PathBuf>,
}

impl Settings {
    /// Reads the environment, once.
    pub(crate) fn from_environment() -> Self {
        Self {
            sprag_policy: variable("SPRAG_POLICY"),
            sprag_db: variable("SPRAG_DB"),
            sprag_redis: variable("SPRAG_REDIS")
                .and_then(|url| url.into_os_string().into_string().ok()),
            sprag_socket: variable("SPRAG_SOCKET"),
            xdg_runtime_dir: variable("XDG_RUNTIME_DIR"),
            xdg_config_home: variable("XDG_CONFIG_HOME"),
            xdg_state_home: variable("XDG_STATE_HOME"),
            xdg_data_home: variable("XDG_DATA_HOME"),
            home: variable("HOME"),
            user: variable("USER").or_else(|| variable("LOGNAME")),
            claude_home: variable("CLAUDE_CONFIG_DIR"),
            codex_home: variable("CODEX_HOME"),
            copilot_home: variable("COPILOT_HOME"),
            gemini_home: variable("GEMINI_CLI_HOME"),
            path: variable("PATH"),
            copilot_project: variable("COPILOT_CLI").and_then(|_| variable("COPILOT_PROJECT_DIR")),
        }
    }

    /// The policy file, given the `--policy` flag: one that somebody named must exist, the usual one may
    /// be missing. None if nobody named one and there is no home to look into.
    pub(crate) fn policy_file(&self, flag: Option<&Path>) -> Option<PolicyFile> {
        if let Some(path) = flag.or(self.sprag_policy.as_deref()) {
            return Some(PolicyFile::required(path));
        }
        Some(PolicyFile::optional(
            self.policy_folder()?.join("policy.toml"),
        ))
    }

    /// The place of the store, given the `--db` flag; none where there is no home.
    pub(crate) fn db_place(&self, flag: Option<&Path>) -> Option<PathBuf> {
        if let Some(path) = flag.or(self.sprag_db.as_deref()) {
            return Some(path.to_owned());
        }
        Some(self.state_folder()?.join("sprag.db"))
    }

    /// The place of the server's socket for the store at `db`, given the `--socket` and `--db` flags. A
    /// store that somebody named has a socket of its own, beside it.
    pub(crate) fn socket_place(
        &self,
        flag: Option<&Path>,
        db_flag: Option<&Path>,
        db: &Path,
    ) -> PathBuf {
        if let Some(path) = flag.or(self.sprag_socket.as_deref()) {
            return path.to_owned();
        }
        let is_named = db_flag.is_some() || self.sprag_db.is_some();
        let runtime = self.xdg_runtime_dir.as_deref();
        match runtime.filter(|path| path.is_absolute() && !is_named) {
            Some(runtime) => runtime.join("sprag.sock"),
            None => {
                let mut name = db.file_name().unwrap_or_default().to_owned();
                name.push(".sock");
                db.with_file_name(name)
            }
        }
    }

    /// The address of Redis, given the `--redis` flag; none where a file was named.
    pub(crate) fn redis_url(&self, flag: Option<&str>, db: Option<&Path>) -> Option<String> {
        let named = flag.map(str::to_owned);
        named.or_else(|| self.sprag_redis.clone().filter(|_| db.is_none()))
    }

    /// The folders in which MCP clients keep their settings; none if there is no home.
    pub(crate) fn client_folders(&self, project: PathBuf) -> Option<ClientFolders> {
        Some(ClientFolders {
            home: self.home.clone()?,
            config: self.place(self.xdg_config_home.as_deref(), ".config")?,
            claude: self.claude_home.clone(),
            project,
        })
    }

    /// A variable of the server's surroundings, as text: of a service manager, of OpenTelemetry.
    #[expect(
        clippy::unused_self,
        reason = "whoever has no settings may not read the environment"
    )]
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        variable(name)?.into_os_string().into_string().ok()
    }

    /// The folders in which agent CLIs look for hooks; none where there is no home.
    pub(crate) fn homes(&self, project: PathBuf) -> Option<ConfigDirs> {
        Some(ConfigDirs {
            project,
            home: self.home.clone()?,
            claude: self.claude_home.clone(),
            codex: self.codex_home.clone(),
            copilot: self.copilot_home.clone(),
            gemini: self.gemini_home.clone(),
            config: self.xdg_config_home.clone(),
        })
    }

    /// The same, with the current folder as the project.
    pub(crate) fn homes_here(&self) -> Result<ConfigDirs, Failure> {
        let here = std::env::current_dir().map_err(|error| {
            let reason = Failure::reason(&error);
            Failure::new(format!("can't find the current folder: {reason}"))
        })?;
        let homes = self.homes(here);
        homes.ok_or_else(|| Failure::new("there is no home: $HOME is not set"))
    }

    /// Where Copilot CLI keeps its sessions.
    pub(crate) fn copilot_folder(&self) -> Option<PathBuf> {
        let usual = || self.home.as_ref().map(|home| home.join(".copilot"));
        self.copilot_home.clone().or_else(usual)
    }

    /// The folder of Codex's own settings; none if there is no home.
    pub(crate) fn codex_folder(&self) -> Option<PathBuf> {
        let own = self.codex_home.clone();
        own.or_else(|| Some(self.home.as_ref()?.join(".codex")))
    }

    /// The folder for copies of settings files from before they were changed; none if there is no home.
    pub(crate) fn backups(&self) -> Option<PathBuf> {
        Some(self.state_folder()?.join("backups"))
    }

    /// The folder of the usual policy file; none if there is no home.
    pub(crate) fn policy_folder(&self) -> Option<PathBuf> {
        let config = self.place(self.xdg_config_home.as_deref(), ".config")?;
        Some(config.join("sprag"))
    }

    /// The folder of the usual store; none if there is no home.
    pub(crate) fn state_folder(&self) -> Option<PathBuf> {
        let state = self.place(self.xdg_state_home.as_deref(), ".local/state")?;
        Some(state.join("sprag"))
    }

    /// The folders in which agent CLIs keep transcripts; none where there is no home.
    pub(crate) fn transcripts(&self) -> Option<KnownFolders> {
        Some(KnownFolders {
            home: self.home.clone()?,
            claude: self.claude_home.clone(),
            codex: self.codex_home.clone(),
            copilot: self.copilot_home.clone(),
            data: self.xdg_data_home.clone().filter(|path| path.is_absolute()),
        })
    }

    /// The program of this name, where a shell would find it.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = std::env::split_paths(self.path.as_deref()?);
        folders
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())
    }

    /// The project for which Copilot CLI runs this hook; none if another client runs it.
    pub(crate) fn copilot_project(&self) -> Option<&Path> {
        self.copilot_project.as_deref()
    }

    /// Who gives orders, for the log.
    pub(crate) fn user(&self) -> String {
        let user = self.user.as_ref().map(|user| user.display().to_string());
        user.unwrap_or_else(|| "operator".to_owned())
    }

    /// A folder of the XDG convention, which says that a relative path is to be ignored.
    fn place(&self, xdg: Option<&Path>, below_home: &str) -> Option<PathBuf> {
        let xdg = xdg.filter(|path| path.is_absolute());
        let home = || Some(self.home.as_deref()?.join(below_home));
        xdg.map(Path::to_owned).or_else(home)
    }
}

/// An environment variable; an empty one is as good as none.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment is read here and nowhere else"
)]
fn variable(name: &str) -> Option<PathBuf> {
    let value = match std::env::var(name) {
        Ok(text) => OsString::from(text),
        Err(VarError::NotUnicode(bytes)) => bytes,
        Err(VarError::NotPresent) => return None,
    };
    (!value.is_empty()).then(|| value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(policy: Option<&str>, xdg: Option<&str>, home: Option<&str>) -> Settings {
        Settings {
            sprag_policy: policy.map(PathBuf::from),
            xdg_config_home: xdg.map(PathBuf::from),
            home: home.map(PathBuf::from),
            ..Settings::default()
        }
    }

    #[test]
    fn the_flag_beats_the_variable_beats_the_usual_place() {
        let all = settings(Some("env.toml"), Some("/xdg"), Some("/h"));
        assert_eq!(
            all.policy_file(Some(Path::new("flag.toml"))),
            Some(PolicyFile::required("flag.toml"))
        );
        assert_eq!(
            all.policy_file(None),
            Some(PolicyFile::required("env.toml"))
        );
        assert_eq!(
            settings(None, Some("/xdg"), Some("/h")).policy_file(None),
            Some(PolicyFile::optional("/xdg/sprag/policy.toml"))
        );
        assert_eq!(
            settings(None, None, Some("/h")).policy_file(None),
            Some(PolicyFile::optional("/h/.config/sprag/policy.toml"))
        );
        assert_eq!(settings(None, None, None).policy_file(None), None);
    }

    #[test]
    fn a_relative_xdg_place_is_ignored() {
        assert_eq!(
            settings(None, Some("config"), Some("/h")).policy_file(None),
            Some(PolicyFile::optional("/h/.config/sprag/policy.toml"))
        );
    }

    #[test]
    fn the_store_is_found_by_flag_variable_and_convention() {
        let mut settings = settings(None, None, Some("/h"));
        let place = |settings: &Settings| settings.db_place(None).unwrap();
        assert_eq!(
            place(&settings),
            Path::new("/h/.local/state/sprag/sprag.db")
        );
        settings.xdg_state_home = Some("/s".into());
        assert_eq!(place(&settings), Path::new("/s/sprag/sprag.db"));
        settings.sprag_db = Some("env.db".into());
        assert_eq!(place(&settings), Path::new("env.db"));
        let flag = settings.db_place(Some(Path::new("flag.db")));
        assert_eq!(flag.unwrap(), Path::new("flag.db"));
        assert_eq!(Settings::default().db_place(None), None);
    }

    #[test]
    fn a_store_that_somebody_named_has_a_socket_of_its_own() {
        let mut settings = settings(None, None, Some("/h"));
        let db = Path::new("/s/sprag.db");
        let place = |settings: &Settings, flag| settings.socket_place(None, flag, db);
        assert_eq!(place(&settings, None), Path::new("/s/sprag.db.sock"));
        settings.xdg_runtime_dir = Some("/run/user/1".into());
        assert_eq!(place(&settings, None), Path::new("/run/user/1/sprag.sock"));
        assert_eq!(place(&settings, Some(db)), Path::new("/s/sprag.db.sock"));
        settings.sprag_db = Some(db.into());
        assert_eq!(place(&settings, None), Path::new("/s/sprag.db.sock"));
        settings.sprag_socket = Some("/named.sock".into());
        assert_eq!(place(&settings, None), Path::new("/named.sock"));
        let flag = settings.socket_place(Some(Path::new("flag.sock")), None, db);
        assert_eq!(flag, Path::new("flag.sock"));
    }
}
