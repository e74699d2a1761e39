//! HTTP that leaves this process for a receiver: the one way to make a client for it.
//!
//! Who may be trusted is what the system says, or the files in `SSL_CERT_FILE`. Proxies are those of the environment
//! (`HTTPS_PROXY`, `NO_PROXY`), except where a caller switches them off.

use std::error::Error;
use std::time::Duration;

use reqwest::ClientBuilder;
use reqwest::redirect::Policy;

/// How long a receiver may take to accept a connection, unless said otherwise.
pub(crate) const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Chooses the library for TLS, where nobody has yet: several could be linked in, so it is never guessed.
pub fn choose_tls() {
    // An error says that it was chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client that follows no redirect: what we send is for one receiver.
pub fn client() -> ClientBuilder {
    choose_tls();
    ClientBuilder::new()
        .connect_timeout(CONNECT_TIME)
        .redirect(Policy::none())
        .http1_only()
}

/// What went wrong, without the address: that may hold a password or a key.
#[must_use]
pub fn reason(error: reqwest::Error) -> String {
    root_cause(&error.without_url())
}

/// The deepest cause of an error, which is what a person can do something about.
pub(crate) fn root_cause(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    match text.split(" (os error").next() {
        Some(words) => words.to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reason_is_the_deepest_cause_and_never_the_address() {
        let client = client().no_proxy().build().unwrap();
        let refused = client.get("http://127.0.0.1:9/?key=canary").send().await;
        assert_eq!(reason(refused.unwrap_err()), "connection refused");
        let odd = client.get("ftp://canary.invalid/").send().await;
        let odd = reason(odd.unwrap_err());
        assert!(!odd.contains("canary"), "{odd}");
    }
}
