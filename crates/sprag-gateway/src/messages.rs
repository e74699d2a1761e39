//! Anthropic's Messages API, which Claude Code and many others speak.

pub(crate) mod change;
pub(crate) mod request;
pub(crate) mod spoken;
pub(crate) mod stream;
pub(crate) mod whole;
