//! OpenAI's Responses API, which Codex speaks.
//!
//! Each answer is a list of items, and so is each request. A provider that keeps answers (`store`)
//! keeps calls too that the client never saw; the gateway answers those itself in the next request.

pub(crate) mod change;
mod item;
pub(crate) mod request;
pub(crate) mod spoken;
pub(crate) mod stream;
pub(crate) mod whole;
