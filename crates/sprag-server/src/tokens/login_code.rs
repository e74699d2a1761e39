//! Codes that open the dashboard: good once, and for a minute.
//!
//! A link that a person clicks ends up in places where no token may be: a browser's history, a terminal's
//! scrollback, the log of a service manager, an argument of the program that opens the browser. So a link holds a
//! code instead, in its fragment, which browsers never send. The page exchanges it for a token of its own at once.
//! Whoever finds the link later holds nothing.

use std::sync::{Mutex, PoisonError};

use sprag::{Millis, Timestamp};

use super::error::TokenError;
use super::secret::{hash, hex, random, same};

/// How long a code is good.
const LASTS: Millis = Millis::MINUTE;
/// The most codes that are good at once; the oldest ends for one more.
const MAX_CODES: usize = 16;

/// A code, in clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoginCode {
    /// 128 random bits, as text.
    pub(crate) code: String,
    /// When it ends, if nobody used it before.
    pub(crate) expires: Timestamp,
}

/// The codes that are good, oldest first. They are kept in memory only: a code does not survive the server.
#[derive(Debug, Default)]
pub(super) struct LoginCodes {
    good: Mutex<Vec<StoredCode>>,
}

#[derive(Debug)]
struct StoredCode {
    hash: [u8; 32],
    person: String,
    expires: Timestamp,
}

impl LoginCodes {
    pub(super) fn make(&self, person: &str, now: Timestamp) -> Result<LoginCode, TokenError> {
        let made = LoginCode {
            code: hex(&random::<16>()?),
            expires: now.plus(LASTS),
        };
        let mut good = self.good.lock().unwrap_or_else(PoisonError::into_inner);
        good.retain(|stored| now < stored.expires);
        if good.len() >= MAX_CODES {
            good.remove(0);
        }
        good.push(StoredCode {
            hash: hash(&made.code),
            person: person.to_owned(),
            expires: made.expires,
        });
        Ok(made)
    }

    /// Whom `code` is good for at `now`. It is not any more afterwards.
    pub(super) fn redeem(&self, code: &str, now: Timestamp) -> Option<String> {
        let presented = hash(code);
        let mut good = self.good.lock().unwrap_or_else(PoisonError::into_inner);
        good.retain(|stored| now < stored.expires);
        let place = good
            .iter()
            .position(|stored| same(&stored.hash, &presented))?;
        Some(good.remove(place).person)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_and_for_a_minute() {
        let codes = LoginCodes::default();
        let made = codes.make("operator", Timestamp(0)).unwrap();
        assert_eq!(codes.redeem("", Timestamp(1)), None);
        let person = codes.redeem(&made.code, Timestamp(59_999));
        assert_eq!(person.as_deref(), Some("operator"));
        assert_eq!(codes.redeem(&made.code, Timestamp(59_999)), None);
        let late = codes.make("operator", Timestamp(0)).unwrap();
        assert_eq!(codes.redeem(&late.code, Timestamp(60_000)), None);
    }

    #[test]
    fn the_oldest_code_ends_when_there_are_too_many() {
        let codes = LoginCodes::default();
        let first = codes.make("operator", Timestamp(0)).unwrap();
        let mut last = first.clone();
        for _ in 0..MAX_CODES {
            last = codes.make("operator", Timestamp(0)).unwrap();
        }
        assert_eq!(codes.redeem(&first.code, Timestamp(1)), None);
        assert!(codes.redeem(&last.code, Timestamp(1)).is_some());
    }
}
