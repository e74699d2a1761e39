//! Whether a call gives the guard itself orders, or reaches for its store, its tokens, its program or the
//! hooks by which clients ask it.
//!
//! An agent must not approve itself, so what it runs is looked at with the same parser that finds effects:
//! `env sprag approve`, `sh -c '…'`, `$(which sprag) approve` and `find … -exec` are what they run. Text about
//! the guard (a search, a commit message, a document) runs nothing and is not looked at.
//!
//! Bounded by: the walk through the command.

mod file_tool;
mod orders;
mod own_path;
mod script;

use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

pub(crate) use file_tool::writes_guard;
pub(crate) use script::look_script;

/// Programs that change files that they name.
#[rustfmt::skip]
const WRITERS: [&str; 18] = [
    "rm", "mv", "tee", "truncate", "unlink", "shred", "chmod", "chown", "chattr", "dd", "sqlite3",
    "rmdir", "touch", "sponge", "patch", "ed", "ex", "setfacl",
];
/// Programs that change the last file that they name.
const COPIERS: [&str; 5] = ["cp", "install", "rsync", "ln", "scp"];
/// Options under which a program is told the file that it writes.
const OUTPUTS: [&str; 5] = ["-o", "-O", "--output", "--output-document", "-t"];

/// Looks whether `args` is about the guard.
pub(crate) fn look(walker: &mut Walker<'_>, args: &Args<'_>) {
    walker.found.orders_guard |= orders::is_order(args)
        || orders::removes_program(args)
        || orders::asks_server(args)
        || writes(walker, args)
        || args.iter().any(|field| walker.is_token(field));
}

/// Whether a program changes one of the guard's own files.
fn writes(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let own = |field: &Field| walker.is_guards(field);
    let edits = match args.program {
        "sed" | "gsed" => args.long("--in-place") || args.short('i'),
        "perl" | "ruby" => args.short('i'),
        "awk" | "gawk" => args.iter().any(|field| field.raw() == "inplace"),
        program => WRITERS.contains(&program),
    };
    if COPIERS.contains(&args.program) {
        let into = args.values(&["-t", "--target-directory"]);
        let last = args.operands(&[]).last().copied().cloned();
        return into.iter().chain(&last).any(own);
    }
    if args.program == "dd" {
        let into = |field: &Field| {
            let path = field.raw().strip_prefix("of=");
            path.is_some_and(|path| own(&Field::literal(path)))
        };
        return args.iter().any(into);
    }
    if args.program == "apply_patch" {
        let input = walker.input.iter().chain(args.fields);
        return input
            .into_iter()
            .any(|text| file_tool::patches_guard(walker.places, text.raw()));
    }
    let loads = matches!(args.program, "curl" | "wget" | "jq" | "sort");
    (edits && args.operands(&[]).into_iter().any(own))
        || (loads && args.values(&OUTPUTS).iter().any(own))
}
