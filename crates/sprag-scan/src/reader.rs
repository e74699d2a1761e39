//! One reader for each format: a piece of a transcript in, what it tells out.
//!
//! A piece is a line, or an element of an array. Formats change without notice, so a reader asks for little: fields that it
//! does not know are passed over, and a piece that it can't read costs only itself. What clients write for
//! themselves (system prompts, snapshots, copies of requests) is passed over before it is parsed.

pub(crate) mod chat;
pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod gemini;
pub(crate) mod opencode;
mod text;
pub(crate) mod wire;

use crate::transcript_item::Sink;

/// Reads the pieces of one file, in their order.
pub(crate) trait TranscriptReader {
    /// What `piece` tells.
    ///
    /// # Errors
    /// Returns an error if it can't be read.
    fn read(&mut self, piece: &[u8], sink: Sink<'_>) -> Result<(), serde_json::Error>;

    /// What stands before an array of pieces, as an object.
    fn header(&mut self, _header: &[u8]) {}
}
