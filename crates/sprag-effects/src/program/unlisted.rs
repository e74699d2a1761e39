//! Programs that nobody listed: a plain verb of deletion right beside a noun that holds data.
//!
//! Every company has a CLI of its own: `acmectl database destroy prod`. Nothing is known of its options, so
//! only its first three words count, and only nouns for which no harmless reading exists. Programs that
//! merely carry such words (`mkdir`, `man`, task runners) are left out.

use sprag_core::{Reach, Verb};

use super::{add, noun};
use crate::args::Args;
use crate::scratch::is_test_name;
use crate::walk::Walker;

/// Verbs that need no more than the noun beside them.
#[rustfmt::skip]
const VERBS: [&str; 10] = [
    "delete", "destroy", "terminate", "drop", "purge", "wipe", "erase", "nuke", "rm", "remove",
];

/// What holds data, whatever the program is.
#[rustfmt::skip]
const NOUNS: [&str; 15] = [
    "instance", "cluster", "database", "db", "bucket", "volume", "namespace", "stack",
    "repository", "backup", "snapshot", "vm", "disk", "filesystem", "keyspace",
];

/// Programs whose words are names, texts or targets of their own.
#[rustfmt::skip]
const OTHERS: [&str; 40] = [
    "cp", "mv", "ln", "mkdir", "touch", "chmod", "chown", "diff", "less", "more", "wc", "file",
    "stat", "du", "df", "sort", "tee", "man", "info", "tldr", "apropos", "whatis", "say", "espeak",
    "notify-send", "make", "just", "task", "gradle", "mvn", "ant", "nx", "turbo", "apt", "apt-get",
    "brew", "code", "vim", "nano", "claude",
];

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    if OTHERS.contains(&args.program) || args.is_dry_run() {
        return;
    }
    let words: Vec<&str> = args
        .iter()
        .map(|field| field.raw())
        .take_while(|text| !text.starts_with('-'))
        .collect();
    let first = words.get(..words.len().min(3)).unwrap_or_default();
    let found = first.windows(2).find_map(|pair| match pair {
        [noun, verb] if VERBS.contains(verb) && is_place(noun) => Some((*noun, *verb)),
        // `rm volume` may be a file; `delete volume` is not.
        [verb, noun] if is_plain(verb) && is_place(noun) => Some((*noun, *verb)),
        _ => None,
    });
    let Some((noun, verb)) = found else {
        return;
    };
    let at = words.iter().position(|word| *word == verb).unwrap_or(0);
    let after = words.iter().skip(at + 1).filter(|word| **word != noun);
    let names: Vec<&str> = after.copied().collect();
    let test = !names.is_empty() && names.iter().all(|name| is_test_name(name));
    let reach = if test {
        Reach::Scratch
    } else {
        Reach::Sweeping
    };
    let by = format!("{} {noun} {verb}", args.program);
    let target = format!("{noun} {}", names.join(" "));
    add(walker, Verb::Destroy, reach, &by, target.trim_end());
}

fn is_place(word: &str) -> bool {
    NOUNS.contains(&noun::singular(word))
}

fn is_plain(verb: &str) -> bool {
    VERBS.contains(&verb) && !matches!(verb, "rm" | "remove")
}
