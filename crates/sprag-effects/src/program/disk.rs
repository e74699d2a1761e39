//! Devices and file systems.

use sprag_core::{Effect, Reach, Verb};

use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    match args.program {
        "dd" => dd(walker, args),
        "zpool" | "zfs" | "btrfs" | "mdadm" => pool(walker, args),
        "lvremove" | "vgremove" | "pvremove" => {
            let target = args.words(&[]).join(" ");
            super::add(
                walker,
                Verb::Destroy,
                Reach::Sweeping,
                args.program,
                &target,
            );
        }
        "diskutil" => {
            let erases = args
                .words(&[])
                .first()
                .is_some_and(|word| word.starts_with("erase") || *word == "partitionDisk");
            if let (true, Some(device)) = (erases, args.fields.last()) {
                format(walker, "diskutil erase", device);
            }
        }
        "parted" | "sgdisk" | "hdparm" | "cryptsetup" | "wipefs" | "nvme" => {
            partition(walker, args);
        }
        // What is copied or written to a device takes its content.
        "fdisk" | "sfdisk" | "gdisk" | "cfdisk" => fdisk(walker, args),
        "tee" | "cp" | "pv" => {
            for field in args.operands(&[]) {
                let last = args.program == "tee" || args.fields.last() == Some(field);
                if last && is_disk(field.raw()) {
                    format(walker, args.program, field);
                }
            }
        }
        _ => {
            for field in args.operands(&["-L", "-t", "-F", "-b", "-n", "-U", "-O", "-o"]) {
                if is_device(field.raw()) {
                    format(walker, args.program, field);
                } else if args.program.starts_with("mkfs") {
                    // A disk image in a file.
                    walker.path_effect(Verb::Format, args.program, field, false);
                }
            }
        }
    }
}

fn partition(walker: &mut Walker<'_>, args: &Args<'_>) {
    let writes = match args.program {
        "wipefs" => args.short('a') || args.long("--all") || args.short('o'),
        "cryptsetup" => args.has_any(&["luksFormat", "erase", "luksErase"]),
        "nvme" => args.has_any(&["format", "sanitize"]),
        "hdparm" => args
            .iter()
            .any(|field| field.raw().starts_with("--security-erase")),
        "sgdisk" => {
            args.short('Z')
                || args.short('z')
                || args.long("--zap-all")
                || args.short('o')
                || args.short('d')
        }
        _ => args.has_any(&["mklabel", "mktable", "rm"]),
    };
    if writes && !args.is_dry_run() && !(args.program == "wipefs" && args.short('n')) {
        for field in args.iter().filter(|field| is_device(field.raw())) {
            format(walker, args.program, field);
        }
    }
}

/// What writes a table of partitions: `fdisk` by what it is told, `sfdisk` by its input or options.
fn fdisk(walker: &mut Walker<'_>, args: &Args<'_>) {
    let looks = args.short('l') || args.short('d') || args.long("--list") || args.long("--dump");
    let told = walker.input.take();
    let writes = match (args.program, &told) {
        ("sfdisk", Some(_)) => true,
        ("sfdisk", None) => args.long("--delete") || args.long("--wipe"),
        (_, Some(told)) => told.raw().split_whitespace().any(|word| word == "w"),
        _ => false,
    };
    for field in args.iter().filter(|field| is_device(field.raw())) {
        if writes && !looks {
            format(walker, args.program, field);
        }
    }
}

fn dd(walker: &mut Walker<'_>, args: &Args<'_>) {
    let Some(target) = args
        .iter()
        .find_map(|field| field.raw().strip_prefix("of="))
    else {
        return;
    };
    if is_device(target) {
        format(walker, "dd", &Field::literal(target));
    }
}

fn pool(walker: &mut Walker<'_>, args: &Args<'_>) {
    let words = args.words(&[]);
    let destroys = match words.as_slice() {
        ["destroy", ..] => !args.short('n'),
        ["subvolume", "delete", ..] => true,
        _ => false,
    };
    if args.program == "mdadm" && args.has("--zero-superblock") {
        for field in args.iter().filter(|field| is_device(field.raw())) {
            format(walker, "mdadm --zero-superblock", field);
        }
    }
    if destroys {
        let by = format!("{} {}", args.program, words.first().unwrap_or(&"destroy"));
        let target = words.last().copied().unwrap_or_default();
        super::add(walker, Verb::Destroy, Reach::Sweeping, &by, target);
    }
}

/// A device is overwritten: nobody is asked.
pub(crate) fn format(walker: &mut Walker<'_>, by: &str, field: &Field) {
    walker.effect(Effect {
        verb: Verb::Format,
        reach: Reach::Sweeping,
        vital: true,
        replaceable: false,
        by: by.into(),
        target: field.shown().into(),
    });
}

/// Whether `path` is a device that holds data.
pub(super) fn is_device(path: &str) -> bool {
    #[rustfmt::skip]
  const CHARACTERS: [&str; 16] = [
      "loop", "pts", "tcp", "udp", "tty", "cu.", "usb", "input", "video", "snd", "net", "lp", "i2c",
      "spidev", "gpio", "hidraw",
  ];
    #[rustfmt::skip]
  const HARMLESS: [&str; 10] = [
      "null", "zero", "stdout", "stderr", "stdin", "tty", "full", "random", "urandom", "shm",
  ];
    path.strip_prefix("/dev/").is_some_and(|name| {
        let first = name.split('/').next().unwrap_or(name);
        !first.is_empty()
            && !HARMLESS.contains(&first)
            && first != "fd"
            && !CHARACTERS.iter().any(|start| first.starts_with(start))
    })
}

/// Whether `path` is a disk, or a part or a map of one.
pub(crate) fn is_disk(path: &str) -> bool {
    #[rustfmt::skip]
    const DISKS: [&str; 15] = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "md", "dm-", "mapper", "disk", "rdisk", "nbd",
        "zd", "bcache", "drbd",
    ];
    path.strip_prefix("/dev/")
        .is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}
