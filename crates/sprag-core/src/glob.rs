//! Globs on names: `*` stands for any run of characters, `?` for one; everything else is itself.
//!
//! Names of tools, agents and sessions are short and globs are matched on every call, so matching
//! is a single pass with one point to go back to: linear in practice, no allocation, no way to
//! make it slow (at most pattern × text steps).

use std::fmt;

use serde::{Deserialize, Serialize};

/// A pattern for a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Glob(Box<str>);

impl Glob {
    /// From its text. Every text is a glob.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(pattern.into())
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many characters stand for themselves: the more, the more specific.
    #[must_use]
    pub fn literal_chars(&self) -> usize {
        self.0.chars().filter(|c| !matches!(c, '*' | '?')).count()
    }

    /// Whether it matches the whole of `text`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matches_chars(text.chars())
    }

    /// Whether it matches a tool: with a `/` on `server/tool`, without one on the bare tool.
    #[must_use]
    pub fn matches_tool(&self, server: Option<&str>, tool: &str) -> bool {
        if !self.0.contains('/') {
            return self.matches(tool);
        }
        server.is_some_and(|server| {
            self.matches_chars(server.chars().chain(['/']).chain(tool.chars()))
        })
    }

    /// Whether a text that starts with `first` may match: a look at one character spares most of
    /// the rest.
    pub(crate) fn may_start_with(&self, first: char) -> bool {
        match self.0.as_bytes().first() {
            Some(b'*' | b'?') => true,
            Some(wanted) if wanted.is_ascii() => char::from(*wanted) == first,
            Some(_) => self.0.starts_with(first),
            None => false,
        }
    }

    /// Whether it matches all of `text`, of which only as much is produced as it takes to decide.
    pub(crate) fn matches_chars(&self, text: impl Iterator<Item = char> + Clone) -> bool {
        let mut pattern = self.0.chars();
        let mut rest = text;
        // Where to go on when what follows the last `*` did not match.
        let mut retry = None;
        loop {
            let mut ahead = rest.clone();
            match (pattern.next(), ahead.next()) {
                (Some('*'), _) => {
                    retry = Some((pattern.clone(), rest.clone()));
                    continue;
                }
                (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                    rest = ahead;
                    continue;
                }
                (None, None) => return true,
                _ => {}
            }
            let Some((after_star, from)) = &mut retry else {
                return false;
            };
            if from.next().is_none() {
                return false;
            }
            pattern = after_star.clone();
            rest = from.clone();
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_run_and_a_question_mark_one_character() {
        for (pattern, text, matches) in [
            ("delete_*", "delete_asset", true),
            ("delete_*", "delete_", true),
            ("delete_*", "undelete_x", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("?", "é", true),
            ("*a*b", "xaxbxab", true),
            ("*a*b", "xaxbxa", false),
            ("bulk-*", "bulk-cleaner", true),
            ("a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(
                Glob::new(pattern).matches(text),
                matches,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn a_glob_with_a_slash_is_on_the_server_too() {
        let shell = Glob::new("shell/*");
        assert!(shell.matches_tool(Some("shell"), "exec"));
        assert!(!shell.matches_tool(Some("python"), "exec"));
        assert!(!shell.matches_tool(None, "exec"));
        assert!(Glob::new("rm_*").matches_tool(Some("fs"), "rm_all"));
    }
}
