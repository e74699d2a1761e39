//! What proves to this server who asks: taken out of every request before anything else sees it.
//!
//! Behind this server are others: the relay's agent server, MCP servers, whatever is mounted next. None of them
//! may ever receive a token or a cookie of ours. So the edge takes them out of each request, and only routes of this
//! server get them back ([`give_back`]). A mount that forgets to think of it has nothing to leak.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, header};

/// A token of this server, where `Authorization` is for a server behind it.
pub(crate) const TOKEN: HeaderName = HeaderName::from_static("sprag-token");

/// The same for clients of the gateway.
const GATEWAY_TOKEN: HeaderName = HeaderName::from_static("x-sprag-token");

/// What the name of each of our cookies starts with.
const COOKIE_PREFIX: &str = "sprag";
/// What each of our tokens starts with.
const TOKEN_PREFIX: &str = "sprag_";
/// The fewest characters that follow the prefix of a token: its role, and 256 bits in hexadecimal digits.
const TOKEN_CHARS: usize = 64;

/// The headers of a request as they were, of those that held something of ours.
#[derive(Debug, Clone, Default)]
struct Credentials(HeaderMap);

/// Takes everything of ours out of the headers of `request`, and keeps it beside them.
pub(crate) fn take<B>(request: &mut Request<B>) {
    let headers = request.headers_mut();
    let is_ours = |name: &HeaderName, value: &HeaderValue| {
        *name == TOKEN
            || *name == GATEWAY_TOKEN
            || holds_token(value.as_bytes())
            || (*name == header::COOKIE)
    };
    let ours = headers.iter().filter(|(name, value)| is_ours(name, value));
    let mut names: Vec<HeaderName> = ours.map(|(name, _)| name.clone()).collect();
    names.dedup();
    let mut held = HeaderMap::new();
    for name in names {
        let values: Vec<HeaderValue> = headers.get_all(&name).iter().cloned().collect();
        headers.remove(&name);
        for value in values {
            if let Some(rest) = foreign_part(&name, &value) {
                headers.append(name.clone(), rest);
            }
            held.append(name.clone(), value);
        }
    }
    if !held.is_empty() {
        request.extensions_mut().insert(Credentials(held));
    }
}

/// Gives a request back what [`take`] took.
pub(crate) fn give_back(headers: &mut HeaderMap, extensions: &axum::http::Extensions) {
    let Some(Credentials(held)) = extensions.get() else {
        return;
    };
    for name in held.keys() {
        headers.remove(name);
    }
    for (name, value) in held {
        headers.append(name, value.clone());
    }
}

/// The token that `request` carries in [`TOKEN`].
pub(crate) fn own_token<B>(request: &Request<B>) -> Option<&HeaderValue> {
    request.extensions().get::<Credentials>()?.0.get(TOKEN)
}

/// The token that `request` carries for the gateway, in [`TOKEN`] or in `x-sprag-token`, which is taken
/// out with whatever stands in it.
pub(crate) fn gateway_token<B>(request: &Request<B>) -> Option<&HeaderValue> {
    let held = request
        .extensions()
        .get::<Credentials>()
        .map(|held| &held.0);
    let shown = |name: &HeaderName| held.and_then(|held| held.get(name));
    shown(&TOKEN).or_else(|| shown(&GATEWAY_TOKEN))
}

/// Whether a text holds a token of this server.
pub(crate) fn holds_token(text: &[u8]) -> bool {
    let prefix = TOKEN_PREFIX.as_bytes();
    let is_token = |at: usize| {
        let rest = text.get(at + prefix.len()..).unwrap_or_default();
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        rest.iter().take_while(is_part).count() >= TOKEN_CHARS
    };
    let mut starts = text.windows(prefix.len()).enumerate();
    starts.any(|(at, part)| part.eq_ignore_ascii_case(prefix) && is_token(at))
}

/// What is left of a header without what is ours.
fn foreign_part(name: &HeaderName, value: &HeaderValue) -> Option<HeaderValue> {
    if *name != header::COOKIE {
        return None;
    }
    let text = value.to_str().ok()?;
    let pairs = text.split(';').map(str::trim);
    let is_foreign = |pair: &&str| {
        let starts_as_ours = pair.get(..COOKIE_PREFIX.len());
        let starts_as_ours =
            starts_as_ours.is_some_and(|start| start.eq_ignore_ascii_case(COOKIE_PREFIX));
        !pair.is_empty() && !starts_as_ours && !holds_token(pair.as_bytes())
    };
    let foreign: Vec<&str> = pairs.filter(is_foreign).collect();
    let foreign = foreign.join("; ");
    HeaderValue::try_from(foreign)
        .ok()
        .filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

    fn request(list: &[(&'static str, String)]) -> Request<()> {
        let mut request = Request::new(());
        for (name, value) in list {
            let value = HeaderValue::try_from(value).unwrap();
            request.headers_mut().append(*name, value);
        }
        request
    }

    #[test]
    fn what_is_ours_is_taken_and_can_be_given_back() {
        let token = format!("sprag_operator_{ZEROS}");
        let all = [
            ("authorization", format!("Bearer {token}")),
            ("cookie", "a=1; sprag_operator=secret; b=2".to_owned()),
            ("cookie", format!("Sprag=x; c={token}")),
            ("sprag-token", "whatever".to_owned()),
            ("x-forgotten", format!("key={token}")),
            ("x-other", "kept".to_owned()),
        ];
        let mut asked = request(&all);
        let whole = asked.headers().clone();
        take(&mut asked);
        let left = [
            ("cookie", "a=1; b=2".to_owned()),
            ("x-other", "kept".to_owned()),
        ];
        assert_eq!(*asked.headers(), *request(&left).headers());
        assert_eq!(own_token(&asked).unwrap(), "whatever");
        let (mut parts, ()) = asked.into_parts();
        give_back(&mut parts.headers, &parts.extensions);
        assert_eq!(parts.headers, whole);
    }

    #[test]
    fn the_credentials_of_a_server_behind_stay() {
        let theirs = [
            ("authorization", "Bearer sprag_like_but_short".to_owned()),
            ("cookie", "sid=1".to_owned()),
        ];
        let mut asked = request(&theirs);
        take(&mut asked);
        assert_eq!(*asked.headers(), *request(&theirs).headers());
    }
}
