//! OpenAI's Chat Completions API, which most other providers and local servers speak too.
//!
//! Calls come in parts, several at once, and are whole only when the answer ends. Only the first choice
//! of an answer is judged: agents ask for one.

pub(crate) mod change;
pub(crate) mod request;
pub(crate) mod spoken;
pub(crate) mod stream;
pub(crate) mod whole;
