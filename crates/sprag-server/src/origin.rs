//! Requests that a stranger's web page makes a browser send.
//!
//! A browser lets any page send requests to this machine, and a name that an attacker owns may point to
//! it (DNS rebinding). So the `Host` must be one that this server is known by, and an `Origin` must be this
//! server itself. No header ever allows another origin.

use axum::http::{HeaderMap, Uri, header};
use sprag_http::{Hosts, is_own_origin, one_host};

use crate::caller::Peer;
use crate::problem::{Problem, ProblemKind};

/// Refuses what is not meant for the server with these names, and what another site's page sends.
pub(crate) fn check(
    hosts: &Hosts,
    peer: Peer,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Problem> {
    let host = one_host(uri, headers);
    // No browser reaches a Unix socket, and its clients have no name for it.
    if peer != Peer::Socket {
        let host = host.map_err(|why| Problem::new(ProblemKind::BadRequest, why))?;
        if !hosts.knows(host) {
            return Err(Problem::new(
                ProblemKind::Misdirected,
                format!("this server is not {host:?}; `sprag serve --host NAME` makes it so"),
            ));
        }
    }
    if headers.contains_key(header::ORIGIN) && !is_own_origin(headers) {
        return Err(Problem::new(
            ProblemKind::Forbidden,
            "requests from pages of other sites are refused",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn checked(hosts: &Hosts, host: &str, origin: Option<&str>) -> u16 {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        let checked = check(hosts, Peer::Loopback, &Uri::from_static("/"), &headers);
        checked.map_or_else(|problem| problem.status(), |()| 200)
    }

    #[test]
    fn only_names_of_this_server_are_answered() {
        let hosts = Hosts::new("127.0.0.1".parse().unwrap(), &["Guard.example".to_owned()]);
        for (host, status) in [
            ("127.0.0.1:7727", 200),
            ("localhost:7727", 200),
            ("LOCALHOST", 200),
            ("[::1]:7727", 200),
            ("guard.example", 200),
            ("guard.example:443", 200),
            ("evil.example:7727", 421),
            ("127.0.0.1.evil.example", 421),
            ("localhost.evil.example:7727", 421),
            ("10.0.0.1", 421),
            ("", 421),
        ] {
            assert_eq!(checked(&hosts, host, None), status, "{host}");
        }
    }

    #[test]
    fn bound_to_every_address_any_number_will_do() {
        let hosts = Hosts::new("0.0.0.0".parse().unwrap(), &[]);
        assert_eq!(checked(&hosts, "10.0.0.1:7727", None), 200);
        assert_eq!(checked(&hosts, "evil.example", None), 421);
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let hosts = Hosts::new("127.0.0.1".parse().unwrap(), &[]);
        for (origin, status) in [
            ("http://127.0.0.1:7727", 200),
            ("https://127.0.0.1:7727", 200),
            ("http://127.0.0.1:9999", 403),
            ("http://localhost:7727", 403),
            ("https://evil.example", 403),
            ("null", 403),
        ] {
            assert_eq!(
                checked(&hosts, "127.0.0.1:7727", Some(origin)),
                status,
                "{origin}"
            );
        }
    }
}
