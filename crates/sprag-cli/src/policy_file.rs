//! The policy in force, from wherever it is.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sprag_core::{MAX_POLICY_BYTES, Policy, PolicyErrors};

use crate::failure::Failure;
use crate::settings::{PolicyPlace, Settings};

/// A policy file that may or may not be there.
#[derive(Debug)]
pub(crate) struct PolicyFile {
    place: PolicyPlace,
}

impl PolicyFile {
    /// The one that these settings and the `--policy` flag lead to.
    pub(crate) fn find(settings: &Settings, flag: Option<&Path>) -> Self {
        Self {
            place: settings.policy_place(flag),
        }
    }

    /// This one and no other.
    pub(crate) fn named(path: &Path) -> Self {
        Self {
            place: PolicyPlace::Named(path.to_owned()),
        }
    }

    /// Where it is, or would be.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.place {
            PolicyPlace::Named(path) | PolicyPlace::Usual(path) => Some(path),
            PolicyPlace::Nowhere => None,
        }
    }

    /// Whether it is JSON, by its name.
    pub(crate) fn is_json(&self) -> bool {
        let extension = self.path().and_then(Path::extension);
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
    }

    /// Its text; none where the defaults hold because no file is there.
    pub(crate) fn text(&self) -> Result<Option<String>, Failure> {
        let Some(path) = self.path() else {
            return Ok(None);
        };
        if path.exists() {
            return read_text(path).map(Some);
        }
        match &self.place {
            PolicyPlace::Named(path) => Err(missing(path)),
            _ => Ok(None),
        }
    }

    /// Its text for changing it: a file that is not there will be made.
    pub(crate) fn text_or_empty(&self) -> Result<String, Failure> {
        match self.path() {
            Some(path) if path.exists() => read_text(path),
            _ => Ok(String::new()),
        }
    }

    /// The policy as JSON, checked before.
    pub(crate) fn value(&self) -> Result<Value, Failure> {
        self.load()?;
        let text = self.text()?.unwrap_or_default();
        if self.is_json() {
            serde_json::from_str(&text).map_err(|error| Failure::new(error.to_string()))
        } else {
            as_json(&text)
        }
    }

    /// Reads `text` as what the name says it is.
    pub(crate) fn parse(&self, text: &str) -> Result<Policy, PolicyErrors> {
        if self.is_json() {
            Policy::from_json(text)
        } else {
            Policy::from_toml(text)
        }
    }

    /// The policy in force.
    pub(crate) fn load(&self) -> Result<Policy, Failure> {
        match self.text()? {
            Some(text) => self.parse(&text).map_err(|errors| self.wrong(&errors)),
            None => Ok(Policy::default()),
        }
    }

    /// Its name, for messages.
    pub(crate) fn name(&self) -> String {
        let path = self.path().map(Path::to_owned);
        let path = path.unwrap_or_else(|| PathBuf::from("policy"));
        path.display().to_string()
    }

    fn wrong(&self, errors: &PolicyErrors) -> Failure {
        let name = self.name();
        Failure::new(format!(
            "the policy can't be used\n{}",
            errors.display(&name)
        ))
        .next(format!("mend it, then try `sprag policy check {name}`"))
    }
}

pub(crate) fn missing(path: &Path) -> Failure {
    Failure::new(format!("there is no policy {}", path.display())).next(format!(
        "`sprag policy show > {}` makes one from the defaults",
        path.display()
    ))
}

/// TOML as JSON.
pub(crate) fn as_json(text: &str) -> Result<Value, Failure> {
    toml::from_str(text).map_err(|error| Failure::new(error.to_string()))
}

/// The text of a small file. One byte more than a policy may have is enough to tell that it has
/// too many.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let most = u64::try_from(MAX_POLICY_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(|error| Failure::unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(format!("{} is not UTF-8 text", path.display())).next("save it as UTF-8")
    })
}
