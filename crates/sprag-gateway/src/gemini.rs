//! Google's `generateContent`, which Gemini CLI speaks, in one piece and streamed.
//!
//! A stream is events (`alt=sse`) or one list in JSON; the list is judged when it is whole. Calls come
//! in one piece, and may have no id: then a call is known by its place in the conversation. The model
//! and the mode stand in the path and not in the body.

pub(crate) mod change;
mod part;
pub(crate) mod request;
pub(crate) mod spoken;
pub(crate) mod stream;
pub(crate) mod whole;
