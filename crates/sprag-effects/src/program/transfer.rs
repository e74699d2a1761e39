//! `sftp`, `lftp` and `ftp`: the commands that they are given for the other side.

use sprag_core::{Reach, Verb};

use super::add;
use crate::args::Args;
use crate::expand::Field;
use crate::reach::Site;
use crate::walk::Walker;
use crate::wrapper::away;

/// The most commands that are read.
const MAX_COMMANDS: usize = 64;

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    let text = match args.program {
        "lftp" => args.value(&["-e", "-c"]),
        _ => None,
    };
    let Some(text) = text.or_else(|| walker.input.take()) else {
        return;
    };
    if !walker.spend(text.raw().len()) {
        return;
    }
    let named = args.words(&["-e", "-c", "-b", "-P", "-i", "-o", "-u", "-p"]);
    let test = named.iter().any(|word| crate::scratch::is_test_name(word));
    away(walker, Site::Remote, test, |walker| {
        for command in text.raw().split(['\n', ';']).take(MAX_COMMANDS) {
            let words: Vec<&str> = command
                .split_whitespace()
                .map(|word| word.trim_matches(['"', '\'']))
                .collect();
            one(walker, args.program, &words);
        }
    });
}

fn one(walker: &mut Walker<'_>, program: &str, words: &[&str]) {
    // A leading `-` lets a batch go on after an error, `glob` expands what follows.
    let words = match words {
        ["glob", rest @ ..] => rest,
        _ => words,
    };
    let Some((verb, rest)) = words.split_first() else {
        return;
    };
    let verb = verb.trim_start_matches('-');
    let options = rest.iter().take_while(|word| word.starts_with('-'));
    let by = format!("{program} {verb}");
    match verb {
        "rm" | "rmdir" | "mrm" | "delete" | "mdelete" => {
            let recursive = options.clone().any(|option| option.contains('r'));
            for path in rest.iter().skip(options.count()) {
                let mut field = Field::literal(*path);
                field.globs = path.contains('*');
                walker.path_effect(Verb::Delete, &by, &field, recursive || field.globs);
            }
        }
        "mirror" => {
            let sends = rest
                .iter()
                .any(|word| *word == "--reverse" || word.starts_with('-') && word.contains('R'));
            let deletes = rest
                .iter()
                .any(|word| matches!(*word, "--delete" | "-e" | "-Re" | "-eR"));
            if sends && deletes {
                let target = rest.last().copied().unwrap_or_default();
                add(walker, Verb::Delete, Reach::Shared, &by, target);
            }
        }
        _ => {}
    }
}
