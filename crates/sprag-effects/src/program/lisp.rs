//! `emacs --batch --eval`: calls that remove files or run a command.

use sprag_core::Verb;

use crate::args::Args;
use crate::expand::{Field, HOME};
use crate::script::{positions, strings};
use crate::walk::Walker;

/// Functions with the path or the command as their first argument.
const CALLS: [(&str, bool); 6] = [
    ("(delete-directory ", false),
    ("(delete-file ", false),
    ("(shell-command ", true),
    ("(shell-command-to-string ", true),
    ("(async-shell-command ", true),
    ("(compile ", true),
];

pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    for text in args.values(&["--eval", "-eval", "--execute", "-e"]) {
        if !walker.spend(CALLS.len() * text.raw().len()) {
            return;
        }
        for (call, command) in CALLS {
            for at in positions(text.raw(), call) {
                let rest = text.raw().get(at + call.len()..).unwrap_or_default();
                let quoted = rest.trim_start().starts_with('"');
                let Some(first) = strings(rest).into_iter().next().filter(|_| quoted) else {
                    continue;
                };
                if command {
                    walker.nested_text(&Field::literal(first));
                    continue;
                }
                let path = match first.strip_prefix('~') {
                    Some(rest) => format!("{HOME}{rest}"),
                    None => first,
                };
                let recursive = call.contains("directory");
                walker.path_effect(Verb::Delete, "emacs", &Field::literal(path), recursive);
            }
        }
    }
}
