//! Backup tools with verbs of their own.

use sprag_core::{Reach, Verb};

use super::{add, unless_test};
use crate::args::Args;
use crate::walk::Walker;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    if args.is_dry_run() || args.program == "wal-g" && !args.has("--confirm") {
        return;
    }
    let words = args.words(&[
        "--stanza",
        "--repo",
        "--config",
        "-c",
        "--conf",
        "--snapshot",
    ]);
    let named = args
        .value(&["--stanza", "--snapshot"])
        .map(|field| field.shown());
    let (all, names) = match (args.program, words.as_slice()) {
        ("wal-g" | "wal-e", ["delete", "everything", ..]) => (true, &[][..]),
        ("wal-g" | "wal-e", ["delete", names @ ..]) => (false, names),
        ("pgbackrest", ["stanza-delete", ..]) => (true, &[][..]),
        ("pgbackrest", ["expire", ..]) => (false, &[][..]),
        ("barman", ["delete", names @ ..]) => (true, names),
        ("duplicity", ["remove-all-but-n-full" | "remove-older-than", ..]) => (false, &[][..]),
        ("kopia", ["snapshot", "delete", names @ ..]) => (args.has("--delete"), names),
        ("kopia", ["repository", "disconnect", ..]) => return,
        ("tmutil", ["delete" | "deletelocalsnapshots", names @ ..]) => (true, names),
        ("timeshift", _) if args.has("--delete-all") => (true, &[][..]),
        ("timeshift", _) if args.has("--delete") => (false, &[][..]),
        ("snapper", [.., "delete" | "rm" | "remove", name]) => {
            let target = format!("snapshot {name}");
            add(
                walker,
                Verb::Destroy,
                Reach::Shared,
                "snapper delete",
                &target,
            );
            return;
        }
        ("rdiff-backup", _) if args.long("--remove-older-than") => (false, &[][..]),
        _ => return,
    };
    let verb = words.first().copied().unwrap_or("--delete-all");
    let by = format!("{} {verb}", args.program);
    let name = named.unwrap_or_else(|| names.join(" "));
    let target = match (all, name.is_empty()) {
        (true, true) => "all backups".to_owned(),
        (false, true) => "old backups".to_owned(),
        (_, false) => format!("backup {name}"),
    };
    let reach = if all { Reach::Sweeping } else { Reach::Shared };
    add(
        walker,
        Verb::Delete,
        unless_test(&name, reach),
        &by,
        &target,
    );
}
