//! Paths with marks in them: made absolute and normal without looking at any file system.

use crate::expand::{HOME, UNKNOWN};

/// What a path starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// `/`.
    Root,
    /// A home whose place is not known.
    Home,
    /// The folder in which the command starts, if that is not known, or so many levels above it.
    Start(usize),
}

/// A path without `.`, `..` and empty components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) base: Base,
    pub(crate) parts: Vec<String>,
}

impl Path {
    /// `text` as seen from `folder`; `home` is the home of the person, if it is known.
    pub(crate) fn new(text: &str, folder: &str, home: Option<&str>) -> Self {
        let mut path = Self {
            base: Base::Start(0),
            parts: Vec::new(),
        };
        if !is_absolute(text) {
            path.walk(folder, home);
        }
        path.walk(text, home);
        path
    }

    fn walk(&mut self, text: &str, home: Option<&str>) {
        let mut rest = text;
        if let Some(after) = text.strip_prefix(HOME) {
            self.base = if home.is_some() {
                Base::Root
            } else {
                Base::Home
            };
            self.parts.clear();
            self.push_all(home.unwrap_or_default());
            rest = after;
        } else if text.starts_with('/') {
            self.base = Base::Root;
            self.parts.clear();
        }
        self.push_all(rest);
    }

    fn push_all(&mut self, text: &str) {
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if self.parts.pop().is_none() {
                        self.base = match self.base {
                            Base::Start(up) => Base::Start(up + 1),
                            // Above a home are all homes.
                            Base::Home => Base::Root,
                            Base::Root => Base::Root,
                        };
                    }
                }
                part => self.parts.push(part.to_owned()),
            }
        }
    }

    /// The components as text.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }

    /// What is left of this path below `folder`; none if it is not below it.
    pub(crate) fn below(&self, folder: &Self) -> Option<&[String]> {
        if self.base != folder.base {
            return None;
        }
        self.parts.strip_prefix(folder.parts.as_slice())
    }

    /// The path as it is shown and compared.
    pub(crate) fn text(&self) -> String {
        let inside = self.parts.join("/");
        match self.base {
            Base::Root => format!("/{inside}"),
            Base::Home if inside.is_empty() => HOME.to_string(),
            Base::Home => format!("{HOME}/{inside}"),
            Base::Start(0) if inside.is_empty() => ".".to_owned(),
            Base::Start(up) => format!("{}{inside}", "../".repeat(up)),
        }
    }
}

fn is_absolute(text: &str) -> bool {
    text.starts_with(['/', HOME])
}

/// Whether a component is a glob that leaves nothing out.
pub(crate) fn takes_all(part: &str) -> bool {
    matches!(
        part,
        "*" | "**" | ".*" | ".[!.]*" | ".[^.]*" | ".??*" | "?*" | "*.*" | "..?*"
    )
}

/// Whether a component is not known at all.
pub(crate) fn is_unknown(part: &str) -> bool {
    part.contains(UNKNOWN)
}
