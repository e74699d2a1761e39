//! Who may speak in which role: tokens, hashed at rest.
//!
//! Two tokens are plain files beside the store, for nobody but their user to read: `operator.token`, which
//! opens the dashboard, and `hook.token`, with which the hooks of agent CLIs on this machine
//! prove what they are. All others are in `tokens.json`, as hashes only. A token is 256 random bits, so a
//! plain SHA-256 is enough: there is nothing to guess. Hashes are compared in constant time, all
//! of them, so that how long it takes tells nothing.

mod cookie;
mod error;
mod file;
mod secret;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use sprag::{Role, Timestamp};

pub(crate) use cookie::COOKIE;
pub use error::TokenError;
use file::StoredToken;
pub use file::{TokenFile, TokenInfo};
use secret::{TokenSecret, hash, same};

/// The name of the operator's own token.
pub(crate) const OPERATOR: &str = "operator";
/// The name of the hooks' token.
const HOOK: &str = "hook";

/// Who stands behind a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) role: Role,
    pub(crate) name: Arc<str>,
}

/// Every token that is good.
#[derive(Debug)]
pub(crate) struct TokenStore {
    operator: TokenSecret,
    hook: TokenSecret,
    file: TokenFile,
    cache: RwLock<TokenCache>,
}

/// The token file as it was last read.
#[derive(Debug, Default)]
struct TokenCache {
    stamp: Option<(SystemTime, u64)>,
    tokens: Vec<StoredToken>,
}

impl TokenStore {
    /// Reads the tokens beside the store `db`; the two plain ones are made where they are missing.
    pub(crate) fn open(db: &Path) -> Result<Self, TokenError> {
        let tokens = Self {
            operator: TokenSecret::open(&beside(db, "operator.token"), Role::Operator)?,
            hook: TokenSecret::open(&beside(db, "hook.token"), Role::Hook)?,
            file: TokenFile::beside(db),
            cache: RwLock::default(),
        };
        tokens.refresh()?;
        Ok(tokens)
    }

    /// The operator's own token, in clear.
    pub(crate) fn operator(&self) -> &str {
        self.operator.text()
    }

    /// Where the other tokens are.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether anyone but operator and hooks has a token.
    pub(crate) fn has_others(&self) -> bool {
        !self.cache().tokens.is_empty()
    }

    /// Who holds `token`. The file is looked at each time, so that a token that was revoked is
    /// refused from then on.
    pub(crate) fn holder(&self, token: &str) -> Option<Holder> {
        self.holder_of(&hash(token))
    }

    fn holder_of(&self, presented: &[u8; 32]) -> Option<Holder> {
        // A file that can't be read right now must not lock everyone out: what was read last holds.
        let _ = self.refresh();
        let cache = self.cache();
        let own = [
            (self.operator.hash(), Role::Operator, OPERATOR),
            (self.hook.hash(), Role::Hook, HOOK),
        ];
        let mut found = None;
        for (hash, role, name) in own {
            if same(hash, presented) {
                found = Some((role, name));
            }
        }
        for token in &cache.tokens {
            if same(&token.hash, presented) {
                found = Some((token.role, &token.name));
            }
        }
        found.map(|(role, name)| Holder {
            role,
            name: name.into(),
        })
    }

    /// The value of a cookie that stands for the operator token `token`, good until `until`.
    pub(crate) fn cookie(&self, token: &str, until: Timestamp) -> String {
        cookie::make(&self.operator, &hash(token), until)
    }

    /// Who holds the cookie `value`.
    pub(crate) fn cookie_holder(&self, value: &str, now: Timestamp) -> Option<Holder> {
        let token = cookie::read(&self.operator, value, now)?;
        self.holder_of(&token)
            .filter(|holder| holder.role == Role::Operator)
    }

    fn cache(&self) -> std::sync::RwLockReadGuard<'_, TokenCache> {
        self.cache.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn refresh(&self) -> Result<(), TokenError> {
        let stamp = self.file.stamp();
        if self.cache().stamp == stamp {
            return Ok(());
        }
        let tokens = self.file.read()?;
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        *cache = TokenCache { stamp, tokens };
        Ok(())
    }
}

/// A file beside the store.
fn beside(db: &Path, name: &str) -> PathBuf {
    db.with_file_name(name)
}
