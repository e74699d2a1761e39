//! Archives that are unpacked over the guard's files: `tar xf x.tar -C ~/.claude`.
//!
//! What an archive holds is not known. It counts if it is unpacked right into a folder of the guard or of a
//! client's hooks, or if the files to unpack are named. An archive unpacked into a home passes: most bring a
//! folder of their own.

use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

/// Whether an archive is unpacked over what is the guard's.
pub(super) fn unpacks(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let folder = match args.program {
        "tar" | "gtar" | "bsdtar" if extracts(args) => args.value(&["-C", "--directory", "--cd"]),
        "unzip"
            if !["-l", "-t", "-Z", "-p", "-v", "-z"]
                .iter()
                .any(|look| args.has(look)) =>
        {
            args.value(&["-d"])
        }
        "7z" | "7za" | "7zz" | "7zr" if args.has("x") || args.has("e") => {
            let out = args.iter().find_map(|field| field.raw().strip_prefix("-o"));
            out.map(Field::literal)
        }
        "unrar" if args.has("x") || args.has("e") => args.operands(&[]).last().copied().cloned(),
        "cpio" if args.short('i') || args.long("--extract") => args.value(&["-D", "--directory"]),
        "pax" if args.short('r') => None,
        _ => return false,
    };
    let folder = folder.unwrap_or_else(|| Field::literal("."));
    let members = args.operands(&["-C", "-f", "--file", "--directory", "-d", "-X", "--exclude"]);
    let member = |field: &&Field| {
        let path = Field::literal(format!("{}/{}", folder.raw(), field.raw()));
        walker.is_guards(&path) || walker.is_guards_folder(&path)
    };
    walker.is_guards_folder(&folder) || members.iter().any(member)
}

/// Whether `tar` writes files: `xf`, `-xzf`, `--extract`.
fn extracts(args: &Args<'_>) -> bool {
    let old = args.fields.first().map_or("", Field::raw);
    let old = if old.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        old
    } else {
        ""
    };
    let letter = |letter: char| old.contains(letter) || args.short(letter);
    let extracts = letter('x') || args.long("--extract") || args.long("--get");
    extracts && !letter('O') && !args.long("--to-stdout")
}
