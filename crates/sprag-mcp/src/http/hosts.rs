//! Requests that a stranger's web page makes a browser send.
//!
//! A browser lets any page send requests to this machine, and a name that an attacker owns may point to
//! it (DNS rebinding). A server behind a proxy can't see either: the proxy asks it by its own name. So the proxy
//! looks for itself: the `Host` must be one that it is known by, and an `Origin` must be the proxy's own or one that
//! was allowed.

use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header;

/// The names that a server answers to.
#[derive(Debug, Clone)]
pub struct Hosts {
    names: Vec<String>,
    /// Bound to every address: then any address may be its own. A name can be pointed anywhere, a
    /// number can't.
    any_address: bool,
    address: IpAddr,
}

impl Hosts {
    /// The names of a server at `address`, with `names` besides.
    #[must_use]
    pub fn new(address: IpAddr, names: &[String]) -> Self {
        Self {
            names: names.iter().map(|name| name.to_lowercase()).collect(),
            any_address: address.is_unspecified(),
            address,
        }
    }

    /// Whether `authority`, with or without a port, is this server.
    #[must_use]
    pub fn knows(&self, authority: &str) -> bool {
        let host = without_port(authority);
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return self.any_address || address == self.address || address.is_loopback();
        }
        let host = host.to_ascii_lowercase();
        host == "localhost" || self.names.contains(&host)
    }
}

/// Whether the `Origin` is the server itself: the same host and port that the request was sent to.
#[must_use]
pub fn is_own_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(origin), Some(host)) = (text(header::ORIGIN), text(header::HOST)) else {
        return false;
    };
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

/// `[::1]:80` and `localhost:80` without their ports.
fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && !host.is_empty() =>
        {
            host
        }
        _ => authority,
    }
}
