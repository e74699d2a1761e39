//! HTTP that leaves this process: the one way to make a client for it.

use std::error::Error as _;
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;

/// How long a receiver may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Chooses the library for TLS, where nobody has yet: several could be linked in, so it is never guessed.
pub(crate) fn choose_tls() {
    // An error says that it was chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client that gives up after `timeout` and follows no redirect: what we send is for one receiver.
pub(crate) fn client(timeout: Duration) -> Result<Client, reqwest::Error> {
    choose_tls();
    Client::builder()
        .user_agent(concat!("sprag/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(timeout)
        .redirect(Policy::none())
        .build()
}

/// What went wrong, down to its cause, without the address: that may hold a password.
pub(crate) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
