//! Whether a call gives the guard itself orders, or reaches for its store, its tokens, its program or the
//! hooks by which clients ask it.
//!
//! An agent must not approve itself, so what it runs is looked at with the same parser that finds effects:
//! `env sprag approve`, `sh -c '…'`, `$(which sprag) approve` and `find … -exec` are what they run. Text about
//! the guard (a search, a commit message, a document) runs nothing and is not looked at.
//!
//! What is not seen: what a script file or an archive holds, and text that only comes into being while it
//! runs (`curl … | sh`). The guard is against errors, not enemies.
//!
//! Bounded by: the walk through the command.

mod archives;
mod client;
mod file_tool;
mod launch;
mod orders;
mod own_path;
mod reads;
mod script;
mod stops;
mod writes;

use crate::args::Args;
use crate::walk::Walker;

pub(crate) use file_tool::writes_guard;
pub(crate) use orders::names_order;
pub(crate) use script::look_script;

/// Looks whether `args` is about the guard.
pub(crate) fn look(walker: &mut Walker<'_>, args: &Args<'_>) {
    let found = orders::is_order(args)
        || orders::asks_server(args)
        || stops::removes_program(args)
        || stops::stops_server(args)
        || client::is_unguarded(walker, args)
        || writes::writes(walker, args)
        || archives::unpacks(walker, args)
        || reads::reads_token(walker, args);
    walker.found.orders_guard |= found;
    if !walker.found.orders_guard {
        launch::look(walker, args);
    }
}
