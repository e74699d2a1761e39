//! Which upstream and which API a path leads to.

use reqwest::Url;
use sprag_http::strict_path;

use crate::dialect::Dialect;
use crate::options::Upstreams;

/// What stands before the paths of each API.
const MOUNTS: [&str; 3] = ["/anthropic", "/openai", "/gemini"];

/// Whether a path leads to a model API.
#[must_use]
pub fn is_mounted(path: &str) -> bool {
    MOUNTS.iter().any(|mount| below(path, mount).is_some())
}

/// Where a request goes.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) target: Url,
    /// The API, for requests that ask a model.
    pub(crate) dialect: Option<Dialect>,
}

/// Why a request goes nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// Nothing is mounted there.
    Unknown,
    /// A path that two servers could read in two ways.
    Ambiguous(String),
}

impl Route {
    /// The way of a request with this method, path and query.
    pub(crate) fn find(
        upstreams: &Upstreams,
        is_post: bool,
        path: &str,
        query: Option<&str>,
    ) -> Result<Self, NoRoute> {
        // Where a request goes must be where every server reads that it goes.
        let plain = path.strip_suffix('/').unwrap_or(path);
        strict_path::segments(plain).map_err(|why| NoRoute::Ambiguous(why.to_string()))?;
        let (base, rest) = MOUNTS
            .into_iter()
            .zip([&upstreams.anthropic, &upstreams.openai, &upstreams.gemini])
            .find_map(|(mount, base)| Some((base, below(path, mount)?)))
            .ok_or(NoRoute::Unknown)?;
        let mut target = base.clone();
        let own = base.path().trim_end_matches('/');
        target.set_path(&format!("{own}{rest}"));
        target.set_query(query);
        let dialect = is_post.then(|| Dialect::of(plain)).flatten();
        Ok(Self { target, dialect })
    }
}

fn below<'p>(path: &'p str, mount: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(mount)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstreams() -> Upstreams {
        let mut all = Upstreams::real().unwrap();
        all.set("openai", "http://127.0.0.1:1/backend-api/codex/")
            .unwrap();
        all
    }

    #[test]
    fn a_path_leads_to_its_upstream_and_its_api() {
        let all = upstreams();
        for (path, target, dialect) in [
            (
                "/anthropic/v1/messages",
                "https://api.anthropic.com/v1/messages?beta=true",
                Some(Dialect::Messages),
            ),
            (
                "/anthropic/v1/messages/count_tokens",
                "https://api.anthropic.com/v1/messages/count_tokens?beta=true",
                None,
            ),
            (
                "/openai/responses",
                "http://127.0.0.1:1/backend-api/codex/responses?beta=true",
                Some(Dialect::Responses),
            ),
            (
                "/openai/v1/models",
                "http://127.0.0.1:1/backend-api/codex/v1/models?beta=true",
                None,
            ),
        ] {
            let route = Route::find(&all, true, path, Some("beta=true")).unwrap();
            assert_eq!((route.target.as_str(), route.dialect), (target, dialect));
        }
        assert_eq!(
            Route::find(&all, true, "/anthropicx/v1", None).unwrap_err(),
            NoRoute::Unknown
        );
    }

    #[test]
    fn a_path_that_can_be_read_in_two_ways_leads_nowhere() {
        for path in [
            "/anthropic/v1/../x",
            "/anthropic//v1",
            "/anthropic/%2e%2e/x",
        ] {
            let found = Route::find(&upstreams(), true, path, None);
            assert!(
                matches!(found, Err(NoRoute::Ambiguous(_))),
                "{path}: {found:?}"
            );
        }
    }
}
