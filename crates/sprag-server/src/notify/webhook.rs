//! Delivery to an HTTP receiver: signed, timed out, tried again.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, StatusCode, Url};
use sprag_core::Timestamp;
use sprag_http::outbound;

use super::alert::Alert;
use super::settings::{NotifyError, Webhook, WebhookSecret};
use super::signature::sign;

/// The longest wait that a receiver may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// A receiver, ready to be told.
#[derive(Debug)]
pub(super) struct WebhookClient {
    client: Client,
    url: Url,
    secret: Option<WebhookSecret>,
}

/// Why a try failed.
#[derive(Debug)]
pub(super) struct WebhookFailure {
    pub(super) why: String,
    /// Whether it makes sense to try again.
    pub(super) passing: bool,
    /// How long the receiver asks to be left alone.
    pub(super) retry_after: Option<Duration>,
}

impl WebhookClient {
    pub(super) fn new(webhook: Webhook, timeout: Duration) -> Result<Self, NotifyError> {
        let url = Url::parse(&webhook.url).map_err(|error| NotifyError::Url {
            why: error.to_string(),
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(NotifyError::Url {
                why: format!("`{}` is neither http nor https", url.scheme()),
            });
        }
        let client = outbound::client()
            .user_agent(concat!("sprag/", env!("CARGO_PKG_VERSION")))
            .timeout(timeout);
        Ok(Self {
            client: client.build().map_err(NotifyError::Client)?,
            url,
            secret: webhook.secret,
        })
    }

    /// Which receiver, without what may be a password.
    pub(super) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// One try.
    pub(super) async fn send(&self, alert: &Alert, now: Timestamp) -> Result<(), WebhookFailure> {
        let mut request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("X-Sprag-Delivery", &alert.id);
        if let Some(secret) = &self.secret {
            let signature = sign(secret, now.0 / 1000, &alert.body);
            request = request.header("X-Sprag-Signature", signature);
        }
        match request.body(alert.body.clone()).send().await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => {
                let status = answer.status();
                let asked = answer.headers().get(RETRY_AFTER);
                let seconds = asked.and_then(|value| value.to_str().ok()?.parse().ok());
                Err(WebhookFailure {
                    why: format!("it answered {status}"),
                    passing: status.is_server_error()
                        || matches!(
                            status,
                            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
                        ),
                    retry_after: seconds
                        .map(|seconds| Duration::from_secs(seconds).min(MAX_RETRY_AFTER)),
                })
            }
            Err(error) => Err(WebhookFailure {
                why: outbound::reason(error),
                passing: true,
                retry_after: None,
            }),
        }
    }
}
