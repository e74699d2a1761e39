//! What the events of a streamed answer mean, whatever its API.

use crate::request::{Tokens, ToolCall};

/// What one event of a stream means.
#[derive(Debug)]
pub(crate) enum Sign {
    /// Nothing to the guard. It keeps its place behind a call that is held.
    Pass,
    /// It keeps the connection alive and waits for nothing.
    Beat,
    /// The model speaks; `thought` if not to the user.
    Said { text: String, thought: bool },
    /// Part of a call that is not whole yet.
    Hold,
    /// All calls that are held are whole now.
    Calls(Vec<ToolCall>),
    /// It says how the answer ended, and may have to say it otherwise.
    End,
}

/// Reads one streamed answer of one API.
pub(crate) trait AnswerStream: Send {
    /// Reads the data of one event.
    fn read(&mut self, data: &[u8]) -> Sign;

    /// Words that came in one event with calls.
    fn aside(&mut self) -> String {
        String::new()
    }

    /// Whether the client has got the beginning of an answer.
    fn is_begun(&self) -> bool;

    /// The bytes in the place of the held calls. For each call: none if it stays, else the text that
    /// takes its place.
    fn settle(&mut self, held: &[u8], texts: &[Option<String>]) -> Vec<u8>;

    /// An event of the kind [`Sign::End`], as it must be once calls were taken out; none: as it is.
    fn closing(&mut self, data: &[u8]) -> Option<Vec<u8>>;

    /// Closes what is open, says `text`, and ends the answer as answers end.
    fn ending(&mut self, text: &str) -> Vec<u8>;

    /// The id of the answer.
    fn id(&self) -> &str;

    /// What it cost, as far as it is known.
    fn tokens(&self) -> Tokens;
}

/// An answer in one piece.
#[derive(Debug, Default)]
pub(crate) struct WholeAnswer {
    pub(crate) id: String,
    pub(crate) calls: Vec<ToolCall>,
    /// The words that it says to the user.
    pub(crate) said: String,
    pub(crate) tokens: Tokens,
}
