//! Mercurial and Subversion: what throws work away, and what removes things from a server.

use sprag_core::{Reach, Verb};

use super::add;
use crate::args::Args;
use crate::walk::Walker;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.words(&[
        "-r",
        "--rev",
        "-m",
        "--message",
        "-R",
        "--repository",
        "--cwd",
    ]);
    let Some((subcommand, rest)) = words.split_first() else {
        return;
    };
    let all = args.has_any(&["-a", "--all", "-R", "--recursive", "--depth"]);
    let paths = if rest.is_empty() {
        "the working tree".to_owned()
    } else {
        rest.join(" ")
    };
    let dry = args.is_dry_run() || args.short('n');
    let found = match (args.program, *subcommand) {
        _ if dry => None,
        ("hg", "update" | "up" | "checkout" | "co") if args.has_any(&["-C", "--clean"]) => {
            Some((Verb::Reset, "the working tree".to_owned()))
        }
        ("hg", "revert") if all || !rest.is_empty() => Some((Verb::Reset, paths)),
        ("hg", "purge" | "clean") if !args.has_any(&["-p", "--print"]) => {
            Some((Verb::Delete, "untracked files".to_owned()))
        }
        ("hg", "strip") => Some((Verb::Reset, "the history".to_owned())),
        ("svn", "revert") => Some((Verb::Reset, paths)),
        ("svn", "cleanup") if args.long("--remove-unversioned") => {
            Some((Verb::Delete, "untracked files".to_owned()))
        }
        _ => None,
    };
    let by = format!("{} {subcommand}", args.program);
    if let Some((verb, target)) = found {
        add(walker, verb, Reach::Workspace, &by, &target);
    }
    // With an address it is a commit at once.
    if matches!(*subcommand, "delete" | "del" | "remove" | "rm") && args.program == "svn" {
        for url in rest.iter().filter(|path| path.contains("://")) {
            add(walker, Verb::Delete, Reach::Shared, &by, url);
        }
    }
}
