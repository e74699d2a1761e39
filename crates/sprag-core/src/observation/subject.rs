//! What a call is about, apart from how it is put.

use serde::{Deserialize, Serialize};

/// So many words of a call's free text are kept.
pub const MAX_SAID: usize = 8;

/// What a call is about, as fingerprints: two calls of one form with different things ask the same of
/// different targets, two with the same thing say the same in other words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Server, tool, the names of its arguments, and of a command its programs and flags.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub form: u32,
    /// The values that name something: ids, paths, addresses, operands; 0 where there are none. Free text,
    /// and the place in a list (a page, an offset), name nothing.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub thing: u32,
    /// It holds a few short values and no text, path or command: a switch, a move, a label.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub controls: bool,
    /// Keyed hashes of words of its free text, the lowest ones; 0 where there are fewer.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub said: [u16; MAX_SAID],
    /// The first number in its free text and one; 0 where there is none.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub count: u32,
}
