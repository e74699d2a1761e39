//! Who may speak in which role: tokens, hashed at rest.
//!
//! Two tokens are plain files beside the store, for nobody but their user to read: `operator.token`, which
//! opens the dashboard, and `hook.token`, with which the hooks of agent CLIs on this machine
//! prove what they are. A server that can be reached from elsewhere and has no token for agents makes one at its
//! first start: `agent.token`. Some are [given](given) to the server at its start. All others are in `tokens.json`,
//! as hashes only. A token is 256 random bits, so a
//! plain SHA-256 is enough: there is nothing to guess. Hashes are compared in constant time, all
//! of them, so that how long it takes tells nothing.
//!
//! The dashboard gets tokens of its own, which end after twelve hours. They are in `tokens.json` like the others, so
//! they are listed and revoked in the same way. A [login code](login_code) stands in for the operator token when the
//! dashboard is opened.

mod error;
mod file;
mod given;
mod login_code;
mod secret;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use sprag::{Role, Timestamp};

pub use error::TokenError;
pub(crate) use file::DashboardToken;
use file::StoredToken;
pub use file::{TokenFile, TokenInfo};
pub use given::GivenToken;
pub(crate) use login_code::LoginCode;
use login_code::LoginCodes;
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
    /// The person whose token opened the dashboard that holds this one.
    pub(crate) person: Option<Arc<str>>,
    /// When the token ends; only those of the dashboard do.
    pub(crate) expires: Option<Timestamp>,
    /// The token that proved it; none if the place did that the request came from.
    pub(crate) proof: Option<TokenProof>,
}

/// A token that was shown, without the token: enough to look whether it is still good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenProof([u8; 32]);

/// Every token that is good.
#[derive(Debug)]
pub(crate) struct TokenStore {
    operator: TokenSecret,
    hook: TokenSecret,
    given: Vec<GivenToken>,
    file: TokenFile,
    cache: RwLock<TokenCache>,
    codes: LoginCodes,
}

/// The token file as it was last read.
#[derive(Debug, Default)]
struct TokenCache {
    stamp: Option<(SystemTime, u64)>,
    tokens: Vec<StoredToken>,
}

impl TokenStore {
    /// Reads the tokens beside the store `db`; the two plain ones are made if they are missing. Those that were
    /// `given` are as good.
    pub(crate) fn open(db: &Path, given: Vec<GivenToken>) -> Result<Self, TokenError> {
        let tokens = Self {
            operator: TokenSecret::open(&beside(db, "operator.token"), Role::Operator)?,
            hook: TokenSecret::open(&beside(db, "hook.token"), Role::Hook)?,
            given,
            file: TokenFile::beside(db),
            cache: RwLock::default(),
            codes: LoginCodes::default(),
        };
        tokens.refresh()?;
        Ok(tokens)
    }

    /// Who holds `token` at `now`. The file is looked at each time, so that a token that was revoked is
    /// refused from then on.
    pub(crate) fn holder(&self, token: &str, now: Timestamp) -> Option<Holder> {
        self.holder_by(TokenProof(hash(token)), now)
    }

    /// Who holds the token that was shown before.
    pub(crate) fn holder_by(&self, proof: TokenProof, now: Timestamp) -> Option<Holder> {
        // A file that can't be read right now must not lock everyone out: what was read last holds.
        let _ = self.refresh();
        let TokenProof(presented) = proof;
        let cache = self.cache();
        let own = [
            (self.operator.hash(), Role::Operator, OPERATOR),
            (self.hook.hash(), Role::Hook, HOOK),
        ];
        let mut found = None;
        for (hash, role, name) in own {
            if same(hash, &presented) {
                found = Some((role, name, None, None));
            }
        }
        for token in &self.given {
            if same(&token.hash, &presented) {
                found = Some((token.role, token.name(), None, None));
            }
        }
        for token in &cache.tokens {
            if same(&token.hash, &presented) {
                let person = token.person.as_deref();
                found = Some((token.role, &token.name, token.expires, person));
            }
        }
        let holder = found.map(|(role, name, expires, person)| Holder {
            role,
            name: name.into(),
            person: person.map(Into::into),
            expires,
            proof: Some(proof),
        });
        holder.filter(|holder| holder.expires.is_none_or(|end| now < end))
    }

    /// A code that opens the dashboard for `person`, once.
    pub(crate) fn login_code(&self, person: &str, now: Timestamp) -> Result<LoginCode, TokenError> {
        self.codes.make(person, now)
    }

    /// The person for whom `code` opens the dashboard. It never does again.
    pub(crate) fn redeem(&self, code: &str, now: Timestamp) -> Option<String> {
        self.codes.redeem(code, now)
    }

    /// Makes a token for the dashboard of `person`, with the role that they have.
    pub(crate) fn add_dashboard(
        &self,
        person: &str,
        role: Role,
        now: Timestamp,
    ) -> Result<DashboardToken, TokenError> {
        self.file.add_dashboard(person, role, now)
    }

    /// Ends the dashboard's token of this name.
    pub(crate) fn end_dashboard(&self, name: &str) -> Result<(), TokenError> {
        match self.file.revoke(name) {
            Err(TokenError::Unknown { .. }) => Ok(()),
            other => other,
        }
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
