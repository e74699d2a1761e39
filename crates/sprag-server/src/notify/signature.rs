//! A receiver can tell that an alert is ours, and that it is fresh.

use std::fmt::Write as _;

use ring::hmac;

use super::settings::WebhookSecret;

/// The value of `X-Sprag-Signature`: `t=<seconds>,v1=<hex of HMAC-SHA256(secret, "<seconds>.<body>")>`.
#[must_use]
pub fn sign(secret: &WebhookSecret, seconds: u64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.bytes());
    let tag = hmac::sign(&key, format!("{seconds}.{body}").as_bytes());
    let mut text = format!("t={seconds},v1=");
    for byte in tag.as_ref() {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
