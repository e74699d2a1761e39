//! The MCP proxy of Sprag: a guard before any MCP server.

mod books;
mod counsel;
mod gate;
mod guidance;
mod identity;
pub mod inspect;
pub mod install;
mod linked;
mod long;
mod outcome;
mod peek;
mod reduced;
mod refusal;
#[cfg(unix)]
pub mod stdio;
mod tokens;
mod tools;
mod unique;

pub use counsel::{Counsel, Fail, NoVerdict, Teller};
pub use gate::{Downward, Gate, GateOptions, OnKill, Upward};
pub use linked::Linked;
pub use tools::Tool;
