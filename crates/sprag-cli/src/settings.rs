//! Where things are: flags beat environment variables, which beat the places of the XDG convention.

use std::env::VarError;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the environment says.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    sprag_policy: Option<PathBuf>,
    xdg_config_home: Option<PathBuf>,
    home: Option<PathBuf>,
}

/// Where the policy is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PolicyPlace {
    /// The user named this file: it must be there.
    Named(PathBuf),
    /// The usual place: without a file there, the defaults hold.
    Usual(PathBuf),
    /// No home, no file: the defaults hold.
    Nowhere,
}

impl Settings {
    /// Reads the environment, once.
    pub(crate) fn from_environment() -> Self {
        Self {
            sprag_policy: variable("SPRAG_POLICY"),
            xdg_config_home: variable("XDG_CONFIG_HOME"),
            home: variable("HOME"),
        }
    }

    /// The place of the policy, given the `--policy` flag.
    pub(crate) fn policy_place(&self, flag: Option<&Path>) -> PolicyPlace {
        if let Some(path) = flag.or(self.sprag_policy.as_deref()) {
            return PolicyPlace::Named(path.to_owned());
        }
        // The convention says that a relative path there is to be ignored.
        let xdg = self
            .xdg_config_home
            .as_deref()
            .filter(|path| path.is_absolute());
        let config = xdg
            .map(Path::to_owned)
            .or_else(|| Some(self.home.as_deref()?.join(".config")));
        config.map_or(PolicyPlace::Nowhere, |config| {
            PolicyPlace::Usual(config.join("sprag").join("policy.toml"))
        })
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
        }
    }

    #[test]
    fn the_flag_beats_the_variable_beats_the_usual_place() {
        let all = settings(Some("env.toml"), Some("/xdg"), Some("/h"));
        assert_eq!(
            all.policy_place(Some(Path::new("flag.toml"))),
            PolicyPlace::Named("flag.toml".into())
        );
        assert_eq!(
            all.policy_place(None),
            PolicyPlace::Named("env.toml".into())
        );
        assert_eq!(
            settings(None, Some("/xdg"), Some("/h")).policy_place(None),
            PolicyPlace::Usual("/xdg/sprag/policy.toml".into())
        );
        assert_eq!(
            settings(None, None, Some("/h")).policy_place(None),
            PolicyPlace::Usual("/h/.config/sprag/policy.toml".into())
        );
        assert_eq!(
            settings(None, None, None).policy_place(None),
            PolicyPlace::Nowhere
        );
    }

    #[test]
    fn a_relative_xdg_place_is_ignored() {
        assert_eq!(
            settings(None, Some("config"), Some("/h")).policy_place(None),
            PolicyPlace::Usual("/h/.config/sprag/policy.toml".into())
        );
    }
}
