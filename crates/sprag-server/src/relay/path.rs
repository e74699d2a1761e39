//! Which of the relay's routes a request is for.
//!
//! The path is read once, here, and what goes to the agent server is what was read. A path that agent servers could
//! read in different ways is refused ([`strict_path`]); so is a part that a lax one may take for `messages` or
//! `idle`: `Messages`, `messages.json`. Otherwise a message would reach an agent without being judged.

use axum::http::Method;
use sprag::Id;
use sprag_http::strict_path::{self, folded};

use crate::param::bad;
use crate::problem::{Problem, ProblemKind};

const MESSAGES: &str = "messages";
const IDLE: &str = "idle";

/// A route below the relay's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RelayRoute {
    /// Starts a session with a message.
    Create,
    /// A message to a session.
    Message(Id),
    /// A session has nothing more to do.
    Idle(Id),
    /// The place of a message, with a method that carries none: passed on if it has no body.
    Look,
    /// Not a message: passed on unjudged.
    Other,
}

/// A request that was understood: its route, and its path as it goes on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RelayPath {
    pub(super) route: RelayRoute,
    pub(super) path: String,
}

impl RelayPath {
    /// Reads `path`, which starts with `base`.
    pub(super) fn read(base: &str, method: &Method, path: &str) -> Result<Self, Problem> {
        let below = path.strip_prefix(base).ok_or_else(elsewhere)?;
        if !below.is_empty() && !below.starts_with('/') {
            return Err(elsewhere());
        }
        let parts = strict_path::segments(below).map_err(|why| bad("the path", why))?;
        let route = route(&parts)?;
        Ok(Self {
            route: by_method(route, method)?,
            path: format!("{base}{}", strict_path::joined(&parts)),
        })
    }
}

/// The address of a message to `to`, below `base`.
///
/// # Errors
/// Returns an error if two servers could read that address in two ways.
pub fn message_path(to: &str) -> Result<String, strict_path::PathError> {
    let path = strict_path::joined(&[to, MESSAGES]);
    strict_path::segments(&path)?;
    Ok(path)
}

fn elsewhere() -> Problem {
    Problem::new(ProblemKind::NotFound, "this is not below the relay's path")
}

fn route(parts: &[String]) -> Result<RelayRoute, Problem> {
    let id = |text: &str| Id::new(text).map_err(|error| bad("id", error));
    match parts {
        [] => Ok(RelayRoute::Create),
        [session, last] if last == MESSAGES => Ok(RelayRoute::Message(id(session)?)),
        [session, last] if last == IDLE => Ok(RelayRoute::Idle(id(session)?)),
        [_, last] => {
            let word = [MESSAGES, IDLE]
                .into_iter()
                .find(|word| is_like(last, word));
            match word {
                None => Ok(RelayRoute::Other),
                Some(word) => Err(bad(
                    "the path",
                    format!("{last:?} could be read as {word:?}; write it so"),
                )),
            }
        }
        [_] | [_, _, ..] => Ok(RelayRoute::Other),
    }
}

/// Whether a lax server may take `part` for `word`: without its case, or without what follows it.
fn is_like(part: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let end = part.find(|c| !is_word(c)).unwrap_or(part.len());
    part.get(..end)
        .is_some_and(|start| folded(start) == word || folded(part) == word)
}

/// What a method makes of a route. On the routes that are judged, only methods that carry no message pass besides
/// `POST`: an agent server may take a `PUT` there for a message too.
fn by_method(route: RelayRoute, method: &Method) -> Result<RelayRoute, Problem> {
    let carries_none = [Method::GET, Method::HEAD, Method::DELETE, Method::OPTIONS];
    let others = [Method::POST, Method::PUT, Method::PATCH];
    match route {
        RelayRoute::Other if others.contains(method) || carries_none.contains(method) => {
            Ok(RelayRoute::Other)
        }
        RelayRoute::Create | RelayRoute::Message(_) | RelayRoute::Idle(_)
            if carries_none.contains(method) =>
        {
            Ok(RelayRoute::Look)
        }
        RelayRoute::Create | RelayRoute::Message(_) | RelayRoute::Idle(_)
            if *method == Method::POST =>
        {
            Ok(route)
        }
        _ => Err(Problem::new(
            ProblemKind::MethodNotAllowed,
            "not with this method: a message is sent with POST",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "/api/sessions";

    fn read(method: Method, path: &str) -> Result<(RelayRoute, String), u16> {
        let read = RelayPath::read(BASE, &method, path);
        read.map(|read| (read.route, read.path))
            .map_err(|problem| problem.status())
    }

    #[test]
    fn messages_are_found_and_written_in_one_way() {
        let to = |text| RelayRoute::Message(Id::new(text).unwrap());
        for (path, route, goes_to) in [
            ("/api/sessions", RelayRoute::Create, "/api/sessions"),
            (
                "/api/sessions/2/messages",
                to("2"),
                "/api/sessions/2/messages",
            ),
            (
                "/api/sessions/2/%6dessages",
                to("2"),
                "/api/sessions/2/messages",
            ),
            (
                "/api/sessions/a%20b/messages",
                to("a b"),
                "/api/sessions/a%20b/messages",
            ),
            (
                "/api/sessions/2/messages/7",
                RelayRoute::Other,
                "/api/sessions/2/messages/7",
            ),
            (
                "/api/sessions/messages",
                RelayRoute::Other,
                "/api/sessions/messages",
            ),
            (
                "/api/sessions/2/messages-old",
                RelayRoute::Other,
                "/api/sessions/2/messages-old",
            ),
        ] {
            let read = read(Method::POST, path);
            assert_eq!(read, Ok((route, goes_to.to_owned())), "{path}");
        }
    }

    #[test]
    fn what_a_lax_agent_server_takes_for_a_message_is_refused() {
        for path in [
            "/2/Messages",
            "/2/MESSAGES",
            "/2/me%C5%BF%C5%BFages",
            "/2/%EF%BD%8Dessages",
            "/2/messages.json",
            "/2/messages:send",
            "/2/idle,x",
            "/2/messages/",
            "//2/messages",
            "/2\\messages",
            "\\2\\messages",
            "/x/..%2f2%2fmessages",
        ] {
            let path = format!("{BASE}{path}");
            let status = read(Method::POST, &path).unwrap_err();
            assert!([400, 404].contains(&status), "{path}: {status}");
        }
    }

    #[test]
    fn only_a_post_is_a_message_and_nothing_else_that_could_be_one_passes() {
        for method in ["PUT", "PATCH", "post", "QUERY", "TRACE"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            for path in ["", "/2/messages", "/2/idle"] {
                assert_eq!(read(method.clone(), &format!("{BASE}{path}")), Err(405));
            }
        }
        let other = |method| read(method, "/api/sessions/2").map(|(route, _)| route);
        assert_eq!(other(Method::PUT), Ok(RelayRoute::Other));
        assert_eq!(other(Method::TRACE), Err(405));
    }

    /// A path as the laxest agent server would read it: decoded until nothing is left to decode, without case, with
    /// everything cut, collapsed and resolved that any server is known to cut, collapse or resolve.
    fn laxest(path: &str) -> Vec<String> {
        let mut text = path.to_owned();
        for _ in 0..4 {
            text = sprag_http::percent::decoded(&text);
        }
        let text = text.replace('\\', "/");
        let text = text.split(['\0', '?', '#']).next().unwrap_or_default();
        let mut parts: Vec<String> = Vec::new();
        for part in text.split('/') {
            let part = part.split(';').next().unwrap_or_default();
            let part = part.trim_matches(|c: char| c == ' ' || c.is_control());
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(folded(part.trim_end_matches(['.', ' ']))),
            }
        }
        if let Some(last) = parts.last_mut()
            && let Some((stem, _)) = last.split_once(['.', ':', ','])
        {
            *last = stem.to_owned();
        }
        parts
    }

    /// What stands in the paths that are tried: all that anybody reads in two ways, and what honest paths hold.
    const PIECES: [&str; 40] = [
        "/",
        "/",
        "/",
        "//",
        "\\",
        "%2f",
        "%5C",
        "%252f",
        ".",
        "..",
        "%2e",
        "%2E%2e",
        "/../",
        "\\..\\..",
        ";",
        "%3b",
        ";a=b",
        "%00",
        "%20",
        "+",
        "?",
        "%3f",
        "#",
        "%23",
        "2",
        "7",
        "a%20b",
        "messages",
        "Messages",
        "%6dessages",
        "%256dessages",
        "me%C5%BF%C5%BFages",
        "messages.json",
        "idle",
        "IDLE",
        "x",
        "api",
        "sessions",
        "/api/sessions/",
        "%ff",
    ];

    #[test]
    fn no_message_reaches_the_laxest_agent_server_unjudged() {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = move |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed % u64::try_from(below).unwrap()).unwrap()
        };
        let methods = [Method::POST, Method::PUT, Method::PATCH, Method::GET];
        let (mut messages, mut others) = (0, 0);
        for _ in 0..200_000 {
            let mut path = BASE.to_owned();
            if next(2) == 0 {
                // A message, with up to two pieces somewhere in it.
                path.push_str("/2/messages");
                for _ in 0..next(3) {
                    let at = BASE.len() + next(path.len() - BASE.len() + 1);
                    path.insert_str(at, PIECES[next(PIECES.len())]);
                }
            } else {
                for _ in 0..next(7) {
                    path.push_str(PIECES[next(PIECES.len())]);
                }
            }
            let method = &methods[next(methods.len())];
            let Ok(read) = RelayPath::read(BASE, method, &path) else {
                continue;
            };
            let lax = laxest(&read.path);
            let lax: Vec<&str> = lax.iter().map(String::as_str).collect();
            assert_eq!(lax[..2], ["api", "sessions"], "{path} leaves its place");
            match read.route {
                RelayRoute::Other if *method != Method::GET => {
                    let is_message = matches!(lax[2..], [] | [_, "messages" | "idle"]);
                    assert!(!is_message, "{method} {path} passes as {}", read.path);
                    others += 1;
                }
                RelayRoute::Message(id) => {
                    assert_eq!(lax[2..], [&*folded(id.as_str()), "messages"], "{path}");
                    messages += 1;
                }
                RelayRoute::Other | RelayRoute::Look | RelayRoute::Create | RelayRoute::Idle(_) => {
                }
            }
        }
        assert!(messages > 100 && others > 100, "{messages}, {others}");
    }
}
