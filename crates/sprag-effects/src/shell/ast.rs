//! What a shell command is made of, as far as effects need it.
//!
//! Operators between commands (`&&`, `||`, `;`, `&`) are not kept: whether a command runs is known only
//! when it does, so every command in command position counts.

use std::rc::Rc;

/// Commands in a row.
pub(crate) type List = Vec<Command>;

/// One command with its redirections.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Simple(Simple),
    /// Two or more commands with pipes between them.
    Pipeline(List),
    /// `( … )`: what it changes stays inside.
    Subshell(List),
    /// `{ … }`.
    Group(List),
    /// `if`, `while` and `until`: conditions with what runs under them. An `else` has no condition.
    Branches(Vec<(List, List)>),
    For {
        name: Box<str>,
        /// None without `in`: the positional arguments.
        words: Option<Vec<Word>>,
        body: List,
    },
    Case {
        word: Word,
        arms: Vec<(Vec<Word>, List)>,
    },
    Function {
        name: Box<str>,
        body: Rc<Command>,
    },
    /// `[[ … ]]` and `(( … ))`: only what is substituted in them runs.
    Test(Vec<Word>),
}

impl Default for Kind {
    fn default() -> Self {
        Self::Group(List::new())
    }
}

/// Assignments, a program and its arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
}

/// `name=value`, `name+=value`, `name=(…)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) name: Box<str>,
    pub(crate) value: AssignedValue,
    /// `+=`, or one element of an array.
    pub(crate) partial: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AssignedValue {
    Scalar(Word),
    Array(Vec<Word>),
}

/// One word before expansion.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// Text without quotes: globs, braces and `~` mean something in it.
    Bare(String),
    /// Quoted text.
    Quoted(String),
    Param(Param),
    /// `$( … )` or backquotes.
    Substitution {
        list: List,
        quoted: bool,
    },
    /// `<( … )` or `>( … )`.
    Process(List),
    /// `$(( … ))`, with what is substituted in it.
    Arithmetic(Word),
    /// `name=(…)` as an argument of `declare`, `local` and the like.
    ArrayArgument(Vec<Word>),
}

/// `$name` or `${name…}`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Param {
    pub(crate) name: Box<str>,
    pub(crate) operation: Operation,
    pub(crate) quoted: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operation {
    None,
    /// `[@]` or `[*]`.
    All,
    /// `:-` and `:=`, with the colon or without; the flag: it assigns.
    Default(Word, bool),
    /// `:+` or `+`.
    Alternative(Word),
    /// `:?` or `?`: the command does not run if the variable is empty.
    Required,
    /// `#`, `##`, `%` and `%%`.
    Trim(Trim, Word),
    /// Everything else; the words in it are still expanded.
    Other(Word),
}

/// Which end of a value a pattern is taken from, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trim {
    pub(crate) end: bool,
    pub(crate) longest: bool,
}

/// A redirection, as far as it feeds a command or may run one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Redirect {
    /// From or to a file or a process substitution.
    File { target: Word, writes: bool },
    /// The index of a here-document of the script.
    HereDocument(usize),
    /// `<<< word`.
    HereString(Word),
}

/// A whole script.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Script {
    pub(crate) list: List,
    /// Bodies of here-documents, in the order in which they were announced.
    pub(crate) here_documents: Vec<Word>,
}
