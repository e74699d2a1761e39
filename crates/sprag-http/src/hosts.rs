//! Requests that a stranger's web page makes a browser send.
//!
//! A browser lets any page send requests to this machine, and a name that an attacker owns may point to
//! it (DNS rebinding). A server behind a proxy can't see either: the proxy asks it by its own name. So the proxy
//! looks for itself: the `Host` must be one that it is known by, and an `Origin` must be the proxy's own or one that
//! was allowed.

use std::net::IpAddr;

use hyper::header;
use hyper::{HeaderMap, Uri};

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

/// The one host that a request names, in its address, in its `Host` header, or in both alike.
///
/// # Errors
/// Returns what is wrong if it names none, or two: whoever stands in between may have judged the other one.
pub fn one_host<'r>(uri: &'r Uri, headers: &'r HeaderMap) -> Result<&'r str, &'static str> {
    let named = uri.authority().map(|authority| authority.as_str());
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().map(|host| host.to_str().unwrap_or_default());
    if hosts.next().is_some() {
        return Err("the Host header is there twice");
    }
    match (named, host) {
        (Some(named), Some(host)) if !named.eq_ignore_ascii_case(host) => {
            Err("the address and the Host header name two servers")
        }
        (Some(named), _) => Ok(named),
        (None, Some(host)) => Ok(host),
        (None, None) => Err("the Host header is missing"),
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
