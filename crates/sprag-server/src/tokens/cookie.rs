//! The operator's cookie: what the dashboard holds instead of the token.
//!
//! A page can't keep a token where no script reads it, a cookie can. It names the token that it stands for
//! by hash, says until when it is good, and is sealed under the operator's own token, so that the
//! server need not remember it and nobody who reads the list of tokens can make one. It ends
//! with the token.

use sha2::{Digest as _, Sha256};
use sprag::Timestamp;

use super::secret::{TokenSecret, hex, same, unhex};

/// The name of the cookie.
pub(crate) const COOKIE: &str = "sprag_operator";

/// `until.token.seal`
pub(super) fn make(key: &TokenSecret, token: &[u8; 32], until: Timestamp) -> String {
    let seal = seal(key, token, until);
    format!("{}.{}.{}", until.0, hex(token), hex(&seal))
}

/// The hash of the token that a cookie stands for, if it is sound and still good.
pub(super) fn read(key: &TokenSecret, value: &str, now: Timestamp) -> Option<[u8; 32]> {
    let mut parts = value.splitn(3, '.');
    let until = Timestamp(parts.next()?.parse().ok()?);
    let token = unhex(parts.next()?)?;
    let told = unhex(parts.next()?)?;
    let is_sound = same(&seal(key, &token, until), &told);
    (is_sound && now < until).then_some(token)
}

/// HMAC-SHA-256, as RFC 2104 has it, over parts of fixed length.
fn seal(key: &TokenSecret, token: &[u8; 32], until: Timestamp) -> [u8; 32] {
    // Not the token's hash: that stands in the cookie itself.
    let key = Sha256::new()
        .chain_update(b"sprag cookie key")
        .chain_update(key.text())
        .finalize();
    let pad = |with: u8| {
        let mut block = [with; 64];
        for (byte, key) in block.iter_mut().zip(key.iter()) {
            *byte ^= key;
        }
        block
    };
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(b"cookie")
        .chain_update(token)
        .chain_update(until.0.to_be_bytes())
        .finalize();
    let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner);
    outer.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprag::Role;

    #[test]
    fn a_cookie_is_good_until_its_time_and_only_as_it_was_made() {
        let home = tempfile::tempdir().unwrap();
        let key = TokenSecret::open(&home.path().join("operator.token"), Role::Operator).unwrap();
        let token = *key.hash();
        let cookie = make(&key, &token, Timestamp(100));
        assert_eq!(read(&key, &cookie, Timestamp(99)), Some(token));
        assert_eq!(read(&key, &cookie, Timestamp(100)), None);
        let later = cookie.replacen("100", "900", 1);
        assert_eq!(read(&key, &later, Timestamp(99)), None);
        assert_eq!(read(&key, "100.x", Timestamp(99)), None);
        let other = TokenSecret::open(&home.path().join("other.token"), Role::Operator).unwrap();
        assert_eq!(read(&other, &cookie, Timestamp(99)), None);
    }
}
