//! What a shell command, an SQL text or a tool call destroys, and how far that reaches.
//!
//! A pure function: no file, no clock, no process. The text is parsed, never searched: only what stands
//! in command position counts, so a commit message, a `grep` pattern or a here-document that mentions
//! `rm -rf` has no effects, unless the program that receives it executes it. What can't be parsed has no
//! effects, and [`Effects::unparsed`](sprag_core::Effects) says so.
//!
//! # Why a shell parser of our own
//!
//! Three were compared on the corpus in `tests`, on adversarial texts and on time (223 bytes
//! of a usual one-liner, optimised build, a machine with other work):
//!
//! | | `brush-parser` 0.4 | `tree-sitter-bash` 0.25 | this one |
//! |---|---|---|---|
//! | one-liner | 55 µs, words still unparsed | 140 µs | see `crates/bench`, all effects included |
//! | 63 KiB of short commands | 131 ms | 74 ms | bounded by nodes |
//! | code | Rust, a PEG grammar, 12 dependencies | 9.9 MB of generated C | Rust, no dependency |
//! | bounds on depth and nodes | none | none | 64 levels, 10,000 nodes |
//! | input that bash rejects | an error | a tree with error nodes | not parsed |
//!
//! The first two parse all of bash for other ends. Both cost more than the whole judgement of an event
//! may cost, and neither can be told to stop. This one reads what agents write, returns
//! [`NotParsed`] for the rest, and is compared with bash itself: `tests` of `shell` generate scripts and
//! compare the arguments that bash reports.
//!
//! SQL is parsed by `sqlparser`, a statement at a time, with its recursion bounded.

mod args;
mod budget;
mod builtin;
mod expand;
mod find;
mod guard;
mod mount;
mod path;
mod printed;
mod program;
mod reach;
mod scratch;
mod script;
mod shell;
mod sql;
mod tool;
mod walk;
mod wrapper;

#[cfg(test)]
mod tests;

pub use shell::NotParsed;
use sprag_core::{CallText, EffectReader, Effects};

use reach::Places;
use walk::Walker;

/// Reads effects from commands, SQL and tool calls. Holds nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct CommandReader;

impl EffectReader for CommandReader {
    fn effects(&self, call: &CallText<'_>) -> Effects {
        tool::effects(call)
    }
}

/// What the shell command `command` destroys if it runs in `cwd`, in the project at `root`.
#[must_use]
pub fn of_command(command: &str, cwd: Option<&str>, root: Option<&str>) -> Effects {
    let places = Places::new(cwd, root);
    let mut walker = Walker::new(&places);
    walker.text(command);
    walker.finish()
}

/// What the SQL text `text` destroys.
#[must_use]
pub fn of_sql(text: &str) -> Effects {
    let places = Places::default();
    let mut walker = Walker::new(&places);
    let database = sql::Database {
        by: "sql".to_owned(),
        scratch: false,
        name: None,
        flavour: sql::Flavour::Any,
    };
    sql::run(&mut walker, text, &database);
    walker.finish()
}
