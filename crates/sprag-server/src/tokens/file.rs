//! The list of tokens that were given out: names, roles and hashes.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sprag::{Millis, Role, Timestamp, UnknownWord};

use super::beside;
use super::error::TokenError;
use super::secret::{fresh, hash, hex, private, random, unhex};

/// The longest name of a token.
const MAX_NAME: usize = 64;

/// The form of the list that this build reads and writes.
const FORMAT: u32 = 1;
/// The name of the token that a server makes at its first start.
const FIRST: &str = "agent";
/// How long a token of the dashboard is good.
const DASHBOARD_LASTS: Millis = Millis(12 * 60 * 60 * 1000);
/// The most tokens of dashboards; the oldest ends for one more.
const MAX_DASHBOARDS: usize = 32;

/// One token, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredToken {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) hash: [u8; 32],
    made: Timestamp,
    pub(super) expires: Option<Timestamp>,
    /// The name of the token that opened the dashboard.
    pub(super) person: Option<String>,
}

/// A token for one dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DashboardToken {
    /// What it is called in the list of tokens and in the log.
    pub(crate) name: String,
    /// The token in clear.
    pub(crate) token: String,
    /// When it ends.
    pub(crate) expires: Timestamp,
}

/// What may be told of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenInfo {
    /// Its name.
    pub name: String,
    /// The word for its role.
    pub role: &'static str,
    /// When it was made.
    pub made: Timestamp,
    /// When it ends; only tokens of the dashboard do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// How the list lies on disk.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TokenList {
    /// Missing in lists from before it was written.
    #[serde(default = "first_format")]
    format: u32,
    tokens: Vec<TokenEntry>,
}

const fn first_format() -> u32 {
    FORMAT
}

#[derive(Debug, Serialize, Deserialize)]
struct TokenEntry {
    name: String,
    role: String,
    sha256: String,
    made: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    person: Option<String>,
}

/// The file with the tokens that were given out.
#[derive(Debug, Clone)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// The one beside the store `db`.
    #[must_use]
    pub fn beside(db: &Path) -> Self {
        Self {
            path: beside(db, "tokens.json"),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a token and answers it in clear: nobody can ever read it again.
    ///
    /// # Errors
    /// Returns an error if the name is taken or none, or the list can't be written.
    pub fn add(&self, name: &str, role: Role, now: Timestamp) -> Result<String, TokenError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) {
            return Err(TokenError::Name { name: name.into() });
        }
        let _turn = self.turn()?;
        let mut tokens = self.read()?;
        let own = [super::OPERATOR, super::HOOK];
        if own.contains(&name) || tokens.iter().any(|token| token.name == name) {
            return Err(TokenError::Taken { name: name.into() });
        }
        let token = fresh(role.as_str())?;
        tokens.push(StoredToken {
            name: name.to_owned(),
            role,
            hash: hash(&token),
            made: now,
            expires: None,
            person: None,
        });
        self.write(&tokens)?;
        Ok(token)
    }

    /// Makes the token of agents that a server has at its first start, and writes it in clear beside the list.
    pub(crate) fn add_first(&self, now: Timestamp) -> Result<PathBuf, TokenError> {
        let token = self.add(FIRST, Role::Agent, now)?;
        let path = self.first();
        let failed = |source| TokenError::io(&path, source);
        let mut file = private()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(failed)?;
        writeln!(file, "{token}").map_err(failed)?;
        file.sync_all().map_err(failed)?;
        Ok(path)
    }

    /// The file of that token.
    fn first(&self) -> PathBuf {
        self.path.with_file_name("agent.token")
    }

    /// Makes a token for the dashboard of `person`, which ends by itself. Those that have ended are removed.
    pub(super) fn add_dashboard(
        &self,
        person: &str,
        role: Role,
        now: Timestamp,
    ) -> Result<DashboardToken, TokenError> {
        let made = DashboardToken {
            name: format!("dashboard-{}", hex(&random::<4>()?)),
            token: fresh("dashboard")?,
            expires: now.plus(DASHBOARD_LASTS),
        };
        let _turn = self.turn()?;
        let mut tokens = self.read()?;
        tokens.retain(|token| token.expires.is_none_or(|end| now < end));
        let dashboards = tokens.iter().filter(|token| token.expires.is_some());
        if dashboards.clone().count() >= MAX_DASHBOARDS {
            let oldest = dashboards.min_by_key(|token| token.made);
            let oldest = oldest.map(|token| token.name.clone());
            tokens.retain(|token| Some(&token.name) != oldest.as_ref());
        }
        tokens.push(StoredToken {
            name: made.name.clone(),
            role,
            hash: hash(&made.token),
            made: now,
            expires: Some(made.expires),
            person: Some(person.to_owned()),
        });
        self.write(&tokens)?;
        Ok(made)
    }

    /// The tokens there are.
    ///
    /// # Errors
    /// Returns an error if the list can't be read.
    pub fn list(&self) -> Result<Vec<TokenInfo>, TokenError> {
        let info = |token: StoredToken| TokenInfo {
            name: token.name,
            role: token.role.as_str(),
            made: token.made,
            expires: token.expires,
        };
        Ok(self.read()?.into_iter().map(info).collect())
    }

    /// Takes a token back: whoever holds it is refused from now on.
    ///
    /// # Errors
    /// Returns an error if there is none of that name, or the list can't be written.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        let _turn = self.turn()?;
        let mut tokens = self.read()?;
        let before = tokens.len();
        // Their dashboards end with it.
        tokens.retain(|token| token.name != name && token.person.as_deref() != Some(name));
        if tokens.len() == before {
            return Err(TokenError::Unknown { name: name.into() });
        }
        self.write(&tokens)?;
        if name == FIRST {
            // In clear it is worth nothing now. If it stays, it is refused all the same.
            let _ = std::fs::remove_file(self.first());
        }
        Ok(())
    }

    /// What tells whether it changed.
    pub(super) fn stamp(&self) -> Option<(SystemTime, u64)> {
        let held = std::fs::metadata(&self.path).ok()?;
        Some((held.modified().ok()?, held.len()))
    }

    pub(super) fn read(&self) -> Result<Vec<StoredToken>, TokenError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(TokenError::io(&self.path, error)),
        };
        let listed: TokenList =
            serde_json::from_str(&text).map_err(|error| self.damaged(error.to_string()))?;
        if listed.format != FORMAT {
            return Err(self.damaged(format!(
                "it has format {}, this build knows {FORMAT}; use a newer `sprag`",
                listed.format
            )));
        }
        listed
            .tokens
            .into_iter()
            .map(|entry| self.token(entry))
            .collect()
    }

    fn token(&self, entry: TokenEntry) -> Result<StoredToken, TokenError> {
        let unknown = |error: UnknownWord| self.damaged(error.to_string());
        let broken = || self.damaged(format!("the hash of {:?} is none", entry.name));
        Ok(StoredToken {
            role: entry.role.parse().map_err(unknown)?,
            hash: unhex(&entry.sha256).ok_or_else(broken)?,
            made: entry.made,
            expires: entry.expires,
            person: entry.person,
            name: entry.name,
        })
    }

    fn damaged(&self, why: String) -> TokenError {
        TokenError::Damaged {
            path: self.path.clone(),
            why,
        }
    }

    fn write(&self, tokens: &[StoredToken]) -> Result<(), TokenError> {
        let entry = |token: &StoredToken| TokenEntry {
            name: token.name.clone(),
            role: token.role.to_string(),
            sha256: hex(&token.hash),
            made: token.made,
            expires: token.expires,
            person: token.person.clone(),
        };
        let listed = TokenList {
            format: FORMAT,
            tokens: tokens.iter().map(entry).collect(),
        };
        let text = serde_json::to_string_pretty(&listed)
            .map_err(|error| self.damaged(error.to_string()))?;
        let failed = |source| TokenError::io(&self.path, source);
        // Made first where it is missing, so that what replaces it is as private.
        private()
            .append(true)
            .create(true)
            .open(&self.path)
            .map_err(failed)?;
        sprag::atomic::write(&self.path, &text).map_err(failed)
    }

    /// One at a time: what two add at once must both be there in the end.
    fn turn(&self) -> Result<File, TokenError> {
        let path = self.path.with_extension("json.lock");
        let failed = |source| TokenError::io(&path, source);
        let file = private()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_a_format_is_read_and_one_of_a_newer_build_is_left_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let file = TokenFile::beside(&home.path().join("sprag.db"));
        std::fs::write(file.path(), r#"{"tokens":[]}"#).unwrap();
        file.add("build-farm", Role::Agent, Timestamp(0)).unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert!(text.contains("\"format\": 1"), "{text}");
        let newer = text.replace("\"format\": 1", "\"format\": 2");
        std::fs::write(file.path(), &newer).unwrap();
        let refused = file.add("two", Role::Agent, Timestamp(0)).unwrap_err();
        assert!(
            refused
                .to_string()
                .ends_with("it has format 2, this build knows 1; use a newer `sprag`"),
            "{refused}"
        );
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), newer);
    }
}
