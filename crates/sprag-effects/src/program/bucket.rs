//! Buckets and the objects in them.

use sprag_core::{Reach, Verb};

use super::{add, unless_test};
use crate::args::Args;
use crate::scratch::is_test_name;
use crate::walk::Walker;

/// Objects in buckets: one is shared, all that is in a bucket is the bucket.
pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    #[rustfmt::skip]
    const VALUED: [&str; 8] = [
        "--profile", "--region", "--endpoint-url", "--project", "-o", "--exclude", "--include",
        "--older-than",
    ];
    let words = args.words(&VALUED);
    let (verb, urls) = match (args.program, words.as_slice()) {
        ("aws", ["s3", verb, urls @ ..]) => (*verb, urls),
        ("gcloud", ["storage", verb @ ("rm" | "rsync"), urls @ ..]) => (*verb, urls),
        ("gsutil" | "s3cmd" | "s5cmd" | "mc", [verb, urls @ ..]) => (*verb, urls),
        _ => return false,
    };
    let picks = args.long("--exclude") || args.long("--include") || args.long("--older-than");
    let recursive = !picks
        && (args.program == "s5cmd"
            || args.long("--recursive")
            || args.short('r')
            || args.short('R')
            || args.long("--force"));
    let program = if args.program == "aws" {
        "aws s3"
    } else {
        args.program
    };
    let by = format!("{program} {verb}");
    let deletes = match verb {
        "rm" | "del" | "delete" => true,
        "sync" | "rsync" | "mirror" => {
            args.long("--delete")
                || args.short('d')
                || args.long("--delete-unmatched-destination-objects")
                || args.long("--remove")
        }
        "rb" => {
            let target = urls.last().copied().unwrap_or_default();
            let reach = unless_test(target, Reach::Sweeping);
            let bucket = format!("bucket {}", crate::expand::show(target));
            add(walker, Verb::Destroy, reach, &by, &bucket);
            return true;
        }
        _ => return true,
    };
    if !deletes {
        return true;
    }
    let urls = if verb.ends_with("sync") || verb == "mirror" {
        urls.get(1..).unwrap_or_default()
    } else {
        urls
    };
    for url in urls.iter().take(8) {
        let synced = verb.ends_with("sync");
        let reach = object_reach(args.program, url, recursive && !synced);
        add(walker, Verb::Delete, reach, &by, &crate::expand::show(url));
    }
    true
}

/// All that is in a bucket is the bucket.
fn object_reach(program: &str, url: &str, recursive: bool) -> Reach {
    // `mc` names a server first, as a folder.
    let mark = if program == "mc" { "/" } else { "://" };
    let path = url.split_once(mark).map_or(url, |(_, path)| path);
    let inside = path.trim_end_matches(['*', '/']);
    let bucket = inside.split('/').next().unwrap_or(inside);
    if is_test_name(bucket) {
        Reach::Scratch
    } else if (recursive || url.ends_with("**")) && !inside.contains('/') {
        Reach::Sweeping
    } else {
        Reach::Shared
    }
}
