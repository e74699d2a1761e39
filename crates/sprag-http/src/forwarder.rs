//! The way of a request to the server behind, as it is: no header is added, no address tidied, no proxy in between,
//! and no head of an answer is longer than the head of a request may be.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::Verifier;

use crate::limits;
use crate::outbound::{CONNECT_TIME, root_cause};

/// How long an idle connection to a server is kept.
const IDLE_TIME: Duration = Duration::from_secs(60);
/// How long a silent connection waits before the system asks whether the other side is still there.
const PROBE_TIME: Duration = Duration::from_secs(60);

/// Why there is no way to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForwarderError {
    /// No certificate of a server could be checked.
    #[error("can't check certificates of servers: {0}")]
    Tls(String),
    /// The authorities can't be read.
    #[error("can't read the authorities in {path}: {why}")]
    Authority {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

/// The connections to a server.
#[derive(Debug)]
pub struct Forwarder(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl Forwarder {
    /// Connections to servers that the system trusts, or the authorities in the PEM file `ca`.
    ///
    /// # Errors
    /// Returns an error if no certificate could be checked.
    pub fn new(ca: Option<&Path>) -> Result<Self, ForwarderError> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(CONNECT_TIME));
        http.set_keepalive(Some(PROBE_TIME));
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls(ca)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME)
            .http1_max_buf_size(limits::HEAD_BYTES)
            .http1_max_headers(limits::HEADERS)
            .build(https);
        Ok(Self(client))
    }

    /// Sends a request and waits until an answer starts.
    ///
    /// # Errors
    /// Returns what went wrong. It names no address and no header.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, String> {
        let sent = self.0.request(request).await;
        sent.map_err(|error| root_cause(&error))
    }
}

fn tls(ca: Option<&Path>) -> Result<rustls::ClientConfig, ForwarderError> {
    let provider = Arc::new(ring::default_provider());
    let failed = |error: rustls::Error| ForwarderError::Tls(error.to_string());
    let extra: Vec<CertificateDer<'static>> = match ca {
        None => Vec::new(),
        Some(path) => CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect)
            .map_err(|error| ForwarderError::Authority {
                path: path.to_owned(),
                why: error.to_string(),
            })?,
    };
    let verifier = Verifier::new_with_extra_roots(extra, Arc::clone(&provider)).map_err(failed)?;
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(config)
}
