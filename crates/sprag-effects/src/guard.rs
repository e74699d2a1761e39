//! Whether a command gives the guard itself orders, or changes its store or its hooks.

use crate::args::Args;
use crate::expand::{Field, HOME};
use crate::walk::Walker;

/// Subcommands of `sprag` that change what it guards. `sessions` only with `reset` or `kill`.
#[rustfmt::skip]
const ORDERS: [&str; 11] = [
    "approve", "decline", "reset", "calm", "pause", "resume", "policy", "uninstall", "token",
    "kill", "prune",
];

/// Files in which clients keep their hooks, by their last parts.
const HOOK_FILES: [&[&str]; 8] = [
    &[".claude", "settings.json"],
    &[".claude", "settings.local.json"],
    &[".codex", "hooks.json"],
    &[".codex", "config.toml"],
    &[".gemini", "settings.json"],
    &[".cursor", "hooks.json"],
    &[".copilot", "config.json"],
    &[".config", "opencode"],
];

/// Programs whose last operand is written, or all of them.
#[rustfmt::skip]
const WRITERS: [&str; 16] = [
    "rm", "mv", "cp", "tee", "truncate", "unlink", "shred", "ln", "chmod", "chown", "install",
    "rsync", "dd", "sqlite3", "rmdir", "touch",
];

/// Looks whether `args` is about the guard.
pub(crate) fn look(walker: &mut Walker<'_>, args: &Args<'_>) {
    let found = if args.program == "sprag" {
        orders(args)
    } else if WRITERS.contains(&args.program)
        || args.program == "sed" && args.iter().any(|field| field.raw().starts_with("-i"))
    {
        args.operands(&[])
            .into_iter()
            .any(|field| is_guards(walker, field))
    } else {
        false
    };
    walker.found.orders_guard |= found;
}

fn orders(args: &Args<'_>) -> bool {
    let words = args.words(&["--db", "--config", "--policy"]);
    if args.is_help() || args.has("-h") {
        return false;
    }
    match words.as_slice() {
        [
            "policy",
            "check" | "show" | "schema" | "explain" | "diff",
            ..,
        ] => false,
        ["token", "list", ..] => false,
        ["sessions", verb, ..] => matches!(*verb, "reset" | "kill" | "unblock"),
        [first, ..] => ORDERS.contains(first),
        [] => false,
    }
}

impl Walker<'_> {
    /// Notes a redirection into one of the guard's own files.
    pub(crate) fn writes(&mut self, target: &Field) {
        if is_guards(self, target) {
            self.found.orders_guard = true;
        }
    }
}

/// Whether a path is the guard's store or a file of hooks.
fn is_guards(walker: &Walker<'_>, field: &Field) -> bool {
    let text = field.with_unset_empty();
    if text.is_empty() {
        return false;
    }
    let path = walker.places.path(&text, &walker.environment.folder);
    let names = path.names();
    let store = names.windows(2).any(|pair| {
        matches!(
            pair,
            [".local" | "share" | "state" | ".config" | ".cache", "sprag"]
        ) || matches!(pair, [home, ".sprag"] if home.starts_with(HOME))
    }) || names
        .iter()
        .any(|name| matches!(*name, ".sprag" | "sprag.db" | "sprag.db-wal" | "sprag.toml"));
    store
        || HOOK_FILES.iter().any(|file| {
            names.ends_with(file)
                || file.len() == 2
                    && names
                        .windows(2)
                        .any(|pair| pair == *file && file.last() == Some(&"opencode"))
        })
}
