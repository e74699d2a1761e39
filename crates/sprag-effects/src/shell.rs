//! A parser for POSIX shell and the parts of bash that agents write.
//!
//! It has one promise: what it returns is what bash would run. Everything else is [`NotParsed`]:
//! a syntax error, a form that bash reads in a way of its own, a text beyond the bounds.

mod ansi;
mod ast;
mod compound;
mod cursor;
mod here_document;
mod param;
mod reader;
mod word;

pub(crate) use ast::{
    AssignedValue, Assignment, Command, Kind, List, Operation, Param, Part, Redirect, Script,
    Simple, Trim, Word,
};
pub(crate) use cursor::MAX_BYTES;

/// The text is not a shell script that can be read within the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text can't be parsed")]
pub struct NotParsed;

/// Parses `text`.
pub(crate) fn parse(text: &str) -> Result<Script, NotParsed> {
    reader::parse(text)
}
