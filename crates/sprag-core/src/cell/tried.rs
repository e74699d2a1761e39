//! What a session remembers of an approach: enough to judge its step, small enough to keep many.

use crate::observation::{Approach, Subject, ToolKind};
use crate::policy::Limits;

/// An approach as cells keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tried {
    /// Server, tool and exact arguments.
    pub(crate) exact: u64,
    /// The same without noise.
    pub(crate) normal: u64,
    /// What it is for, as the policy sets it or the digester guessed.
    pub(crate) kind: ToolKind,
    /// It runs something that sleeps.
    pub(crate) waits: bool,
    /// It asks about something that moves by itself.
    pub(crate) moves: bool,
    /// It asks a question that can be reworded.
    pub(crate) asks: bool,
    /// It names the thing that it is about.
    pub(crate) aims: bool,
    /// It only prints what it is given.
    pub(crate) probes: bool,
    /// A fingerprint of its longest text argument.
    pub(crate) argument: u32,
    /// What it is about.
    pub(crate) about: Subject,
    /// The tool's name, cut to fit, for evidence.
    pub(crate) name: ShortName,
    /// The command or file, cut to fit, for messages.
    pub(crate) label: ShortName,
}

impl Tried {
    pub(crate) fn new(approach: &Approach, limits: &Limits) -> Self {
        let tool = approach.tool.as_ref().map_or("", |tool| tool.as_str());
        let server = approach.server.as_ref().map(|server| server.as_str());
        let said = limits
            .tools
            .iter()
            .find(|(glob, _)| glob.matches_tool(server, tool))
            .map(|(_, kind)| *kind);
        Self {
            exact: approach.exact.prefix(),
            normal: approach.normal.prefix(),
            kind: said.unwrap_or(approach.kind),
            waits: approach.waits,
            moves: approach.moves,
            asks: approach.asks,
            aims: approach.aims,
            probes: approach.probes,
            argument: approach.argument,
            about: approach.about,
            name: ShortName::new(tool),
            label: ShortName::new(approach.label.as_deref().unwrap_or_default()),
        }
    }
}

/// The first bytes of a name, kept in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortName {
    len: u8,
    bytes: [u8; 23],
}

impl ShortName {
    pub(crate) fn new(name: &str) -> Self {
        let mut len = name.len().min(23);
        while !name.is_char_boundary(len) {
            len -= 1;
        }
        let mut bytes = [0; 23];
        if let (Some(to), Some(from)) = (bytes.get_mut(..len), name.as_bytes().get(..len)) {
            to.copy_from_slice(from);
        }
        Self {
            len: u8::try_from(len).unwrap_or(0),
            bytes,
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}
