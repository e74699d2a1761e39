//! How a gateway is set up.

use reqwest::Url;
use sprag::FailMode;
use sprag_core::words;
use sprag_http::Hosts;

use crate::limits;

words! {
    "stop mode",
    /// What a stopped session is answered.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum StopMode {
        /// An ordinary answer with the reason as its text. Works in every client.
        #[default]
        Speak = "speak",
        /// An error that clients do not retry, for pipelines that need a failing exit code.
        Error = "error",
    }
}

words! {
    "warn mode",
    /// Whether a warning reaches the model.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum WarnMode {
        /// Next to the tool result that it belongs to.
        #[default]
        Add = "add",
        /// Requests stay untouched; the warning is in the log only.
        Log = "log",
    }
}

/// Where the model APIs are. Requests never choose a host.
#[derive(Debug, Clone)]
pub struct Upstreams {
    /// Behind `/anthropic`.
    pub anthropic: Url,
    /// Behind `/openai`.
    pub openai: Url,
    /// Behind `/gemini`.
    pub gemini: Url,
}

impl Upstreams {
    /// The real ones.
    ///
    /// # Errors
    /// Returns an error if an address can't be read.
    pub fn real() -> Result<Self, GatewayError> {
        Ok(Self {
            anthropic: upstream("https://api.anthropic.com")?,
            openai: upstream("https://api.openai.com")?,
            gemini: upstream("https://generativelanguage.googleapis.com")?,
        })
    }
}

/// The address of an upstream: `http` or `https`, with a host, without a query or a password.
///
/// # Errors
/// Returns an error if `text` is not such an address.
pub(crate) fn upstream(text: &str) -> Result<Url, GatewayError> {
    let wrong = |why: &str| GatewayError::Upstream {
        why: why.to_owned(),
    };
    let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
    match url {
        _ if !matches!(url.scheme(), "http" | "https") => Err(wrong("it is not http or https")),
        _ if url.host_str().is_none() => Err(wrong("it names no host")),
        _ if !url.username().is_empty() || url.password().is_some() => {
            Err(wrong("it holds a name or a password"))
        }
        _ if url.query().is_some() || url.fragment().is_some() => {
            Err(wrong("it has a query or a fragment"))
        }
        url => Ok(url),
    }
}

impl Upstreams {
    /// Sets one upstream by the name of its mount.
    ///
    /// # Errors
    /// Returns an error if the address is not one, or the mount is not known.
    pub fn set(&mut self, mount: &str, address: &str) -> Result<(), GatewayError> {
        let url = upstream(address)?;
        match mount {
            "anthropic" => self.anthropic = url,
            "openai" => self.openai = url,
            "gemini" => self.gemini = url,
            _ => {
                let why = format!("there is no mount {mount:?}");
                return Err(GatewayError::Upstream { why });
            }
        }
        Ok(())
    }
}

/// Why a gateway can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// An address that can't be an upstream.
    #[error("the address of an upstream: {why}")]
    Upstream {
        /// What is wrong with it.
        why: String,
    },
    /// No connection could be checked.
    #[error("can't set up connections to upstreams: {why}")]
    Tls {
        /// What went wrong.
        why: String,
    },
    /// The system gave no random number.
    #[error("can't draw a key: {why}")]
    Key {
        /// What went wrong.
        why: String,
    },
}

/// How a gateway is set up.
#[derive(Debug, Clone)]
pub struct GatewayOptions {
    /// Where the model APIs are.
    pub upstreams: Upstreams,
    /// The names that it is known by; none: whoever mounts it has looked.
    pub hosts: Option<Hosts>,
    /// What clients must show in `x-sprag-token`; needed beyond this machine.
    pub token: Option<String>,
    /// What a stopped session is answered.
    pub stop: StopMode,
    /// Whether warnings reach the model.
    pub warn: WarnMode,
    /// What holds when the guard does not answer.
    pub fail: FailMode,
    /// The session of requests that name none, when one client is behind the gateway.
    pub session: Option<String>,
    /// The most exchanges at once.
    pub streams: usize,
}

impl GatewayOptions {
    /// A gateway before these upstreams, with everything else as usual.
    #[must_use]
    pub fn new(upstreams: Upstreams) -> Self {
        Self {
            upstreams,
            hosts: None,
            token: None,
            stop: StopMode::default(),
            warn: WarnMode::default(),
            fail: FailMode::default(),
            session: None,
            streams: limits::STREAMS,
        }
    }
}
