//! A token in a file of its own: 256 random bits that only its user may read. The server keeps the hash.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use sprag::Role;
use subtle::ConstantTimeEq as _;

use super::error::TokenError;

/// What is kept of a token.
pub(super) fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Whether two hashes are the same, in a time that tells nothing.
pub(super) fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.ct_eq(other).into()
}

/// Bytes as text.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a text of 64 hexadecimal digits.
pub(super) fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        let digits = text.get(2 * at..2 * at + 2)?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(bytes)
}

/// Bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> Result<[u8; N], TokenError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
    Ok(bytes)
}

/// A new token. Its start says what it is to whoever finds it where it should not be.
pub(super) fn fresh(kind: &str) -> Result<String, TokenError> {
    Ok(format!("sprag_{kind}_{}", hex(&random::<32>()?)))
}

/// What the server knows of a token that lies in clear in a file of its own.
#[derive(Debug)]
pub(super) struct TokenSecret {
    hash: [u8; 32],
}

impl TokenSecret {
    /// Reads the token in `path`, or makes one.
    pub(super) fn open(path: &Path, role: Role) -> Result<Self, TokenError> {
        let text = match make(path, role) {
            Err(TokenError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {
                read(path)?
            }
            other => other?,
        };
        Ok(Self { hash: hash(&text) })
    }

    pub(super) fn hash(&self) -> &[u8; 32] {
        &self.hash
    }
}

/// How to open a file that only its user may read.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

fn make(path: &Path, role: Role) -> Result<String, TokenError> {
    let failed = |source| TokenError::io(path, source);
    let token = fresh(role.as_str())?;
    let mut file = private()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(failed)?;
    writeln!(file, "{token}").map_err(failed)?;
    file.sync_all().map_err(failed)?;
    Ok(token)
}

fn read(path: &Path) -> Result<String, TokenError> {
    let failed = |source| TokenError::io(path, source);
    let file = std::fs::File::open(path).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata().map_err(failed)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(TokenError::Open {
                path: path.to_owned(),
            });
        }
    }
    let mut text = String::new();
    file.take(1_024).read_to_string(&mut text).map_err(failed)?;
    let text = text.trim();
    // A shorter one could be guessed.
    if text.len() < 32 {
        return Err(TokenError::Empty {
            path: path.to_owned(),
        });
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_read_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("operator.token");
        let made = TokenSecret::open(&path, Role::Operator).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("sprag_operator_"));
        let again = TokenSecret::open(&path, Role::Operator).unwrap();
        assert_eq!(again.hash(), made.hash());
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("operator.token");
        TokenSecret::open(&path, Role::Operator).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let refused = TokenSecret::open(&path, Role::Operator).unwrap_err();
        assert!(matches!(refused, TokenError::Open { .. }));
    }

    #[test]
    fn an_empty_file_is_no_token() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("hook.token");
        private().write(true).create_new(true).open(&path).unwrap();
        let refused = TokenSecret::open(&path, Role::Hook).unwrap_err();
        assert!(matches!(refused, TokenError::Empty { .. }));
    }

    #[test]
    fn hashes_survive_as_text() {
        let hash = hash("token");
        assert_eq!(unhex(&hex(&hash)), Some(hash));
        assert_eq!(unhex("zz"), None);
        assert_eq!(unhex(&"é".repeat(32)), None);
    }
}
