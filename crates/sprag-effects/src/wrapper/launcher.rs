//! Programs that run a command elsewhere or later: on a terminal of their own, in a namespace, at a time.

use super::inner;
use crate::args::Args;
use crate::expand::Field;
use crate::walk::Walker;

/// Programs that run what stands after their options: name, options with a value, words before it.
const LAUNCHERS: [(&str, &[&str], usize); 8] = [
    ("screen", &["-S", "-c", "-s", "-t", "-dmS", "-dmLS"], 0),
    (
        "systemd-run",
        &[
            "-p",
            "--unit",
            "-u",
            "-M",
            "--on-active",
            "--on-calendar",
            "-E",
            "--slice",
            "--property",
            "--working-directory",
        ],
        0,
    ),
    ("unshare", &["--map-user", "-S", "-G"], 0),
    ("nsenter", &["-t", "--target", "-S", "-G"], 0),
    ("entr", &[], 0),
    ("watchexec", &["-e", "-w", "-f", "-i", "--exts"], 0),
    ("firejail", &[], 0),
    ("dbus-run-session", &[], 0),
];

/// Options of `script` that take a value.
const SCRIPT: [&str; 9] = ["-c", "--command", "-t", "-o", "-O", "-I", "-B", "-T", "-E"];

/// Runs a launcher; false if `args` is not one.
pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    if let Some((_, valued, words)) = LAUNCHERS.iter().find(|(name, ..)| *name == args.program) {
        let at = inner(args, valued, *words);
        match args.skip(at) {
            [only] if only.raw().contains(' ') => walker.nested_text(only),
            fields => walker.wrapped(fields),
        }
        return true;
    }
    match args.program {
        "script" => {
            let texts = args.values_among(&["-c", "--command"], &SCRIPT);
            // `script file command` of BSD.
            let command = args.operands(&SCRIPT).into_iter().skip(1);
            let command: Vec<Field> = command.cloned().collect();
            if texts.is_empty() {
                walker.wrapped(&command);
            }
            for text in texts {
                walker.nested_text(&text);
            }
        }
        "tmux" => {
            for text in typed(args) {
                walker.nested_text(&Field::literal(text));
            }
        }
        "at" | "batch" => {
            if let Some(text) = walker.input.take() {
                walker.apart(|walker| walker.nested_text(&text));
            }
        }
        "expect" => {
            let scripts = args.values_among(&["-c"], &["-c"]);
            for text in scripts.iter().flat_map(spawned) {
                walker.nested_text(&Field::literal(text));
            }
        }
        _ => return false,
    }
    true
}

/// What a window of `tmux` is to run, or what is typed there.
fn typed(args: &Args<'_>) -> Vec<String> {
    #[rustfmt::skip]
    const VALUED: [&str; 11] = [
        "-t", "-s", "-n", "-c", "-L", "-S", "-x", "-y", "-F", "-e", "-f",
    ];
    let words = args.words(&VALUED);
    let mut rest = words.iter().skip(1).copied().collect::<Vec<_>>();
    rest.retain(|word| !matches!(*word, "Enter" | "C-m" | "KPEnter"));
    match rest.as_slice() {
        [] => Vec::new(),
        [only] => vec![(*only).to_owned()],
        many => {
            let mut texts = vec![many.join(" ")];
            let quoted = many.iter().filter(|word| word.contains(' '));
            texts.extend(quoted.map(|word| (*word).to_owned()));
            texts
        }
    }
}

/// The commands that a script for `expect` starts.
fn spawned(script: &Field) -> Vec<String> {
    let parts = script.raw().split([';', '\n']).map(str::trim_start);
    let commands = parts.filter_map(|part| {
        part.strip_prefix("spawn ")
            .or_else(|| part.strip_prefix("exec "))
    });
    commands.map(str::to_owned).collect()
}
