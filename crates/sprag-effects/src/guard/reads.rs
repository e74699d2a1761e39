//! Programs that read the guard's tokens: by name, by a glob, or with the whole folder.

use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

/// Programs that name files and don't read them.
#[rustfmt::skip]
const LISTING: [&str; 23] = [
    "ls", "stat", "du", "wc", "file", "test", "[", "realpath", "readlink", "dirname", "basename",
    "tree", "echo", "printf", "find", "gfind", "fd", "which", "git", "gh", "cd", "pushd", "mkdir",
];
/// Programs whose first operand is a pattern.
const SEARCHING: [&str; 8] = [
    "grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "ugrep",
];

/// Whether one of the guard's tokens is read.
pub(super) fn reads_token(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    if LISTING.contains(&args.program) {
        return false;
    }
    if SEARCHING.contains(&args.program) {
        let pattern = ["-e", "-f", "--regexp", "--file"];
        let given = args.iter().any(|field| pattern.contains(&field.raw()));
        let files = args.operands(&["-e", "-f", "-A", "-B", "-C", "-m", "-g", "-t"]);
        let mut files = files.into_iter().skip(usize::from(!given));
        let deep = args.short('r') || args.short('R') || !args.program.ends_with("grep");
        return files.any(|file| walker.is_token(file) || (deep && walker.is_store_folder(file)));
    }
    args.iter().any(|field| walker.is_token(field))
        || (takes_folders(args)
            && args
                .iter()
                .any(|field: &Field| walker.is_store_folder(field)))
}

/// Whether a program takes folders with all that is in them.
fn takes_folders(args: &Args<'_>) -> bool {
    match args.program {
        "cp" | "gcp" | "scp" => args.short('r') || args.short('R') || args.short('a'),
        "zip" => args.short('r'),
        "rsync" | "tar" | "gtar" | "bsdtar" | "7z" | "ditto" => true,
        _ => false,
    }
}
