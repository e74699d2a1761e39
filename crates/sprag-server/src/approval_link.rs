//! Links in notifications by which a person answers one question, without a login.
//!
//! A link is a capability for one question, and for nothing else: `https://guard.example/approve/CODE#SECRET`.
//! The secret stands in the fragment, which browsers send to nobody; the page posts it when a button is
//! pressed. So neither a proxy's log nor a program that opens links to look at them can answer.
//!
//! The secret is a signature over the code, the channel that carried it and the time when it ends, under a
//! key that follows from the store's. It holds on every server over that store, and after a restart. It is good
//! once because a question can be answered once.

use std::fmt::Write as _;

use ring::hmac;
use sprag::{Guard, Id, Timestamp};

use crate::notify::Channel;

/// Signs links, and checks them.
#[derive(Debug, Clone)]
pub(crate) struct LinkSigner {
    key: hmac::Key,
    origin: String,
}

/// A link that is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CheckedLink {
    /// Which channel carried it.
    pub(crate) channel: Channel,
}

/// Why a link is not good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApprovalLinkError {
    /// It was changed, or belongs to another question.
    #[error("this link is not for this question")]
    Wrong,
    /// Its time is over.
    #[error("this link has expired; the call has to be made again")]
    Expired,
}

impl LinkSigner {
    /// Signs links below `origin`, such as `https://guard.example`, under the key of the guard's store.
    pub(crate) fn new(guard: &Guard, origin: &str) -> Self {
        let store = guard.store().digest_key();
        // Two digests make a key of 256 bits.
        let half = |part: &[u8]| *store.digest(&[b"approval link\n", part]).as_bytes();
        let key = [half(b"1"), half(b"2")].concat();
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, &key),
            origin: origin.trim_end_matches('/').to_owned(),
        }
    }

    /// The link to a question.
    pub(crate) fn link(&self, code: &Id, channel: Channel, until: Timestamp) -> String {
        let secret = self.secret(code, channel, until);
        format!("{}/approve/{code}#{secret}", self.origin)
    }

    fn secret(&self, code: &Id, channel: Channel, until: Timestamp) -> String {
        let tag = hmac::sign(&self.key, signed(code, channel, until.0).as_bytes());
        let mut text = format!("{}.{}.", channel.as_str(), until.0);
        for byte in tag.as_ref() {
            // Writing to a string can't fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// Checks the secret of a link to the question `code`.
    pub(crate) fn check(
        &self,
        secret: &str,
        code: &Id,
        now: Timestamp,
    ) -> Result<CheckedLink, ApprovalLinkError> {
        let mut parts = secret.splitn(3, '.');
        let channel = parts.next().and_then(|word| word.parse().ok());
        let until = parts.next().and_then(|text| text.parse().ok());
        let tag = parts.next().and_then(bytes);
        let (Some(channel), Some(until), Some(tag)) = (channel, until, tag) else {
            return Err(ApprovalLinkError::Wrong);
        };
        let signed = signed(code, channel, until);
        hmac::verify(&self.key, signed.as_bytes(), &tag).map_err(|_| ApprovalLinkError::Wrong)?;
        if now.0 >= until {
            return Err(ApprovalLinkError::Expired);
        }
        Ok(CheckedLink { channel })
    }
}

/// What is signed. A code has no line end in it.
fn signed(code: &Id, channel: Channel, until: u64) -> String {
    format!("{code}\n{}\n{until}", channel.as_str())
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    let digits = hex.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNTIL: Timestamp = Timestamp(1_760_000_600_000);

    fn signer() -> LinkSigner {
        LinkSigner::new(&Guard::in_memory().unwrap(), "https://guard.example/")
    }

    fn secret(link: &str) -> &str {
        link.split_once('#').unwrap().1
    }

    #[test]
    fn a_link_is_good_for_its_question_until_its_time_is_over() {
        let (signer, code) = (signer(), Id::new("k7f3wq2m").unwrap());
        let link = signer.link(&code, Channel::Webhook, UNTIL);
        assert!(link.starts_with("https://guard.example/approve/k7f3wq2m#webhook.1760000600000."));
        let check = |now| signer.check(secret(&link), &code, Timestamp(now));
        let channel = Channel::Webhook;
        assert_eq!(check(UNTIL.0 - 1), Ok(CheckedLink { channel }));
        assert_eq!(check(UNTIL.0), Err(ApprovalLinkError::Expired));
    }

    #[test]
    fn a_link_for_another_question_or_with_another_time_or_channel_is_wrong() {
        let (signer, code) = (signer(), Id::new("k7f3wq2m").unwrap());
        let link = signer.link(&code, Channel::Webhook, UNTIL);
        let other = Id::new("p2d9xk4c").unwrap();
        let now = Timestamp(0);
        assert_eq!(
            signer.check(secret(&link), &other, now),
            Err(ApprovalLinkError::Wrong)
        );
        for (from, to) in [
            ("1760000600000", "1760000600001"),
            ("webhook", "command"),
            ("webhook.", ""),
            (".", "|"),
        ] {
            let changed = secret(&link).replacen(from, to, 1);
            assert_eq!(
                signer.check(&changed, &code, now),
                Err(ApprovalLinkError::Wrong),
                "{changed}"
            );
        }
        let mut flipped = secret(&link).to_owned();
        let last = if flipped.ends_with('0') { '1' } else { '0' };
        flipped.pop();
        flipped.push(last);
        assert_eq!(
            signer.check(&flipped, &code, now),
            Err(ApprovalLinkError::Wrong)
        );
        assert_eq!(signer.check("", &code, now), Err(ApprovalLinkError::Wrong));
    }

    #[test]
    fn a_link_of_another_store_is_wrong() {
        let (one, other) = (signer(), signer());
        let code = Id::new("k7f3wq2m").unwrap();
        let link = one.link(&code, Channel::Command, UNTIL);
        let checked = other.check(secret(&link), &code, Timestamp(0));
        assert_eq!(checked, Err(ApprovalLinkError::Wrong));
    }
}
