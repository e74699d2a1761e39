//! What a command knows while it runs: variables, functions, arguments and the folder it is in.
//!
//! Bounded by: [`MAX_VARIABLES`].

use std::rc::Rc;

use super::field::{Field, HOME, UNKNOWN};
use crate::shell::Command;

/// The most variables that are remembered; later ones are unknown.
const MAX_VARIABLES: usize = 256;

/// What a variable holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// One field for a scalar, any number for an array.
    Known(Vec<Field>),
    Unknown,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    variables: Vec<(Box<str>, Value)>,
    functions: Vec<(Box<str>, Rc<Command>)>,
    /// The arguments of a function or of `sh -c`; none at the top.
    pub(crate) arguments: Option<Vec<Field>>,
    /// A file was sourced: what it set is not known, so nothing counts as unset.
    pub(crate) sourced: bool,
    /// The folder, as text with marks; relative to where the command starts if that is not known.
    pub(crate) folder: String,
    /// The project's folder, for `git rev-parse --show-toplevel`.
    pub(crate) root: Option<Rc<str>>,
}

/// Variables that point to temporary places.
#[rustfmt::skip]
const TEMPORARY: [&str; 7] = [
    "TMPDIR", "TMP", "TEMP", "TEMPDIR", "RUNNER_TEMP", "XDG_RUNTIME_DIR", "BATS_TMPDIR",
];

/// Variables that a login, a build server or an agent's client sets.
#[rustfmt::skip]
const INHERITED: [&str; 18] = [
    "USER", "LOGNAME", "HOSTNAME", "SHELL", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "PPID",
    "BASH_SOURCE", "BASHPID", "OLDPWD", "PATH", "CONDA_PREFIX", "GOPATH", "JAVA_HOME", "LANG",
];

impl Environment {
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        if let Some((_, old)) = self
            .variables
            .iter_mut()
            .find(|(known, _)| **known == *name)
        {
            *old = value;
        } else if self.variables.len() < MAX_VARIABLES {
            self.variables.push((name.into(), value));
        } else {
            self.sourced = true;
        }
    }

    /// What is known if either this or `other` is the case.
    pub(crate) fn merge(&mut self, other: Self) {
        for (name, value) in &other.variables {
            if self.get(name) != Some(value) {
                self.set(name, Value::Unknown);
            }
        }
        for (name, body) in &other.functions {
            if self.function(name).is_none() {
                self.define(name, Rc::clone(body));
            }
        }
        if self.folder != other.folder {
            self.folder = UNKNOWN.to_string();
        }
        self.sourced |= other.sourced;
    }

    /// How much a copy of it is.
    pub(crate) fn bytes(&self) -> usize {
        let size = |value: &Value| match value {
            Value::Known(fields) => fields.iter().map(|field| field.raw().len()).sum(),
            Value::Unknown => 0,
        };
        let variables = self.variables.iter().map(|(_, value)| 32 + size(value));
        variables.sum::<usize>() + self.functions.len() * 32
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.retain(|(known, _)| **known != *name);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let found = self.variables.iter().find(|(known, _)| **known == *name);
        found.map(|(_, value)| value)
    }

    /// Every variable that the command set and that is known.
    pub(crate) fn known(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables
            .iter()
            .filter_map(|(name, value)| match value {
                Value::Known(fields) => Some((&**name, fields.first()?.raw())),
                Value::Unknown => None,
            })
    }

    pub(crate) fn define(&mut self, name: &str, body: Rc<Command>) {
        self.functions.retain(|(known, _)| **known != *name);
        if self.functions.len() < MAX_VARIABLES {
            self.functions.push((name.into(), body));
        }
    }

    pub(crate) fn function(&self, name: &str) -> Option<Rc<Command>> {
        let found = self.functions.iter().find(|(known, _)| **known == *name);
        found.map(|(_, body)| Rc::clone(body))
    }

    /// What `$name` stands for; an unset variable is a field that says so.
    pub(super) fn value(&self, name: &str) -> Value {
        if let Some(value) = self.get(name) {
            return value.clone();
        }
        let one = |text: &str| Value::Known(vec![Field::literal(text)]);
        match name {
            "HOME" => one(HOME.encode_utf8(&mut [0; 4])),
            "PWD" => one(if self.folder.is_empty() {
                "."
            } else {
                &self.folder
            }),
            "@" | "*" => self.arguments.clone().map_or(Value::Unknown, Value::Known),
            "CLAUDE_PROJECT_DIR" | "GITHUB_WORKSPACE" => one(self.root.as_deref().unwrap_or(".")),
            _ if TEMPORARY.contains(&name) => one("/tmp"),
            "XDG_CACHE_HOME" => one(&format!("{HOME}/.cache")),
            "CARGO_TARGET_DIR" => one("target"),
            "VIRTUAL_ENV" => one(".venv"),
            _ if INHERITED.contains(&name) => Value::Unknown,
            _ => self.positional(name),
        }
    }

    fn positional(&self, name: &str) -> Value {
        let Ok(number) = name.parse::<usize>() else {
            let special = !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if special || self.sourced {
                return Value::Unknown;
            }
            return Value::Known(vec![Field::unset(name)]);
        };
        match (&self.arguments, number.checked_sub(1)) {
            (Some(arguments), Some(at)) => {
                let field = arguments.get(at).cloned();
                Value::Known(vec![field.unwrap_or_else(|| Field::unset(name))])
            }
            _ => Value::Unknown,
        }
    }
}
