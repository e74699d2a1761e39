//! Files: `rm` and its kin, and copies that delete what is not in their source.

use sprag_core::{Effect, Reach, Verb};

use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    match args.program {
        "rsync" => rsync(walker, args),
        "rclone" => rclone(walker, args),
        "truncate" => {
            for file in args.operands(&["-s", "--size", "-r", "--reference", "-o"]) {
                walker.path_effect(Verb::Delete, "truncate", file, false);
            }
        }
        "shred" => {
            for file in args.operands(&["-n", "-s", "--iterations", "--size", "--random-source"]) {
                device_or_file(walker, "shred", file);
            }
        }
        "rmdir" => rmdir(walker, args),
        "tar" => {}
        _ => rm(walker, args),
    }
}

fn rm(walker: &mut Walker<'_>, args: &Args<'_>) {
    let recursive = matches!(args.program, "rimraf" | "del-cli")
        || args.short('r')
        || args.short('R')
        || args.long("--recursive");
    let by = if args.program == "grm" {
        "rm"
    } else {
        args.program
    };
    for file in args.operands(&[]) {
        walker.path_effect(Verb::Delete, by, file, recursive);
    }
}

/// Only empty folders go, so nothing in them is lost.
fn rmdir(walker: &mut Walker<'_>, args: &Args<'_>) {
    for folder in args.operands(&[]) {
        let judged = walker.judge(folder, false);
        walker.effect(Effect {
            verb: Verb::Delete,
            reach: judged.reach,
            vital: false,
            replaceable: true,
            by: "rmdir".into(),
            target: judged.target.into(),
        });
    }
}

/// A device is overwritten, a file deleted.
pub(super) fn device_or_file(walker: &mut Walker<'_>, by: &str, field: &Field) {
    if super::disk::is_device(field.raw()) {
        super::disk::format(walker, by, field);
    } else {
        walker.path_effect(Verb::Delete, by, field, false);
    }
}

/// `rsync --delete`: what is not in the source goes from the destination.
fn rsync(walker: &mut Walker<'_>, args: &Args<'_>) {
    let deletes = args
        .iter()
        .any(|field| field.raw().starts_with("--delete") || field.raw() == "--del");
    if !deletes || args.is_dry_run() || args.short('n') {
        return;
    }
    let operands = args.operands(&[
        "-e",
        "--rsh",
        "--exclude",
        "--include",
        "--filter",
        "-f",
        "--files-from",
        "--bwlimit",
        "--port",
        "--rsync-path",
    ]);
    if operands.len() < 2 {
        return;
    }
    let Some(destination) = operands.last() else {
        return;
    };
    let text = destination.shown();
    let remote = text
        .split_once(':')
        .is_some_and(|(host, _)| !host.contains('/') && !host.is_empty());
    if remote {
        let scratch = text
            .rsplit(':')
            .next()
            .is_some_and(|path| path.starts_with("/tmp"));
        let reach = if scratch {
            Reach::Scratch
        } else {
            Reach::Shared
        };
        super::add(walker, Verb::Delete, reach, "rsync --delete", &text);
    } else {
        let judged = walker.judge(destination, true);
        // The source takes the place of what goes, so a project's own root is not swept by it.
        let reach = if judged.vital {
            judged.reach
        } else {
            judged.reach.min(Reach::Outside)
        };
        walker.effect(Effect {
            verb: Verb::Delete,
            reach,
            vital: judged.vital,
            replaceable: false,
            by: "rsync --delete".into(),
            target: judged.target.into(),
        });
    }
}

fn rclone(walker: &mut Walker<'_>, args: &Args<'_>) {
    if args.is_dry_run() || args.short('n') {
        return;
    }
    let operands = args.operands(&[
        "--config",
        "--include",
        "--exclude",
        "--filter",
        "--transfers",
        "--min-age",
        "--max-age",
        "--min-size",
        "--max-size",
    ]);
    let Some(verb) = operands.first().map(|field| field.raw()) else {
        return;
    };
    if !matches!(verb, "purge" | "delete" | "deletefile" | "sync") {
        return;
    }
    let Some(last) = operands.last() else {
        return;
    };
    let by = format!("rclone {verb}");
    let target = last.shown();
    let Some((_, path)) = target.trim_end_matches('/').split_once(':') else {
        walker.path_effect(Verb::Delete, &by, last, verb == "purge");
        return;
    };
    #[rustfmt::skip]
    const PICKS: [&str; 7] = [
        "--include", "--exclude", "--filter", "--min-age", "--max-age", "--min-size", "--max-size",
    ];
    let picks = verb != "purge" && PICKS.iter().any(|option| args.long(option));
    let whole = matches!(verb, "purge" | "delete") && !picks && !path.contains('/');
    let reach = match whole {
        _ if crate::scratch::is_test_name(path.split('/').next().unwrap_or(path)) => Reach::Scratch,
        true => Reach::Sweeping,
        false => Reach::Shared,
    };
    super::add(walker, Verb::Delete, reach, &by, &target);
}

/// `fd … -x rm`.
pub(super) fn fd(walker: &mut Walker<'_>, args: &Args<'_>) {
    let at = args
        .iter()
        .position(|field| matches!(field.raw(), "-x" | "-X" | "--exec" | "--exec-batch"));
    if let Some(at) = at {
        let mut inner: Vec<Field> = args
            .skip(at + 1)
            .iter()
            .filter(|field| field.raw() != "{}")
            .cloned()
            .collect();
        inner.push(Field::unknown());
        walker.wrapped(&inner);
    }
}
