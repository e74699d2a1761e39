//! Programs that keep a command for later, or run one beside what they are for: an editor, a schedule,
//! an alias.
//!
//! What such a command destroys is not looked at, only whether it is an order to the guard.

use super::orders::PROGRAMS;
use super::script::look_script;
use crate::args::Args;
use crate::builtin::joined;
use crate::expand::Field;
use crate::script::strings;
use crate::walk::Walker;

/// Variables whose value is a command.
#[rustfmt::skip]
const COMMAND_VARIABLES: [&str; 9] = [
    "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "PAGER", "GIT_PAGER", "MANPAGER",
    "GIT_SSH_COMMAND", "PROMPT_COMMAND",
];

/// Looks at what `args` runs elsewhere or later.
pub(super) fn look(walker: &mut Walker<'_>, args: &Args<'_>) {
    if !is_near(walker, args) {
        return;
    }
    for command in variables(walker) {
        text(walker, &command);
    }
    for command in texts(walker, args) {
        text(walker, &command);
    }
    if let Some(code) = code(args) {
        look_script(walker, args.program, code.raw());
    }
}

/// Most commands name the guard nowhere.
fn is_near(walker: &Walker<'_>, args: &Args<'_>) -> bool {
    let near = |text: &str| text.contains("sprag") || text.contains("/v1/") || text.contains("/.");
    args.iter().any(|field| near(field.raw()))
        || walker.input.as_ref().is_some_and(|input| near(input.raw()))
        || walker.environment.known().any(|(_, value)| near(value))
}

fn variables(walker: &Walker<'_>) -> Vec<String> {
    let known = walker.environment.known();
    let commands = known.filter(|(name, _)| COMMAND_VARIABLES.contains(name));
    commands.map(|(_, value)| value.to_owned()).collect()
}

/// The command lines that a program is given as texts.
fn texts(walker: &Walker<'_>, args: &Args<'_>) -> Vec<String> {
    let values = |names: &[&str]| -> Vec<String> {
        let row = args.values_among(names, names);
        row.iter().map(|field| field.raw().to_owned()).collect()
    };
    let input = || walker.input.as_ref().map_or("", Field::raw);
    let after_mark = |texts: Vec<String>, mark: &str| -> Vec<String> {
        let found = texts.iter().filter_map(|text| text.split_once(mark));
        found.map(|(_, command)| command.to_owned()).collect()
    };
    let fields = || args.iter().map(|field| field.raw().to_owned()).collect();
    match args.program {
        "socat" => [fields(), fields()]
            .into_iter()
            .zip(["EXEC:", "SYSTEM:"])
            .flat_map(|(texts, mark)| after_mark(texts, mark))
            .map(|text| text.split(',').next().unwrap_or_default().to_owned())
            .collect(),
        "crontab" => input().lines().map(scheduled).collect(),
        "make" | "gmake" => {
            let lines = input().lines();
            lines
                .map(|line| line.rsplit([';', '\t']).next().unwrap_or(line).to_owned())
                .collect()
        }
        "git" => after_mark(fields(), "!"),
        "alias" => after_mark(fields(), "="),
        "vim" | "vi" | "nvim" | "ex" => after_mark(fields(), "!"),
        "osascript" => values(&["-e"])
            .iter()
            .flat_map(|text| strings(text))
            .collect(),
        "emacs" => {
            let scripts = values(&["--eval", "-eval"]);
            let runs = scripts
                .iter()
                .filter(|text| text.contains("command") || text.contains("process"));
            runs.flat_map(|text| strings(text)).collect()
        }
        _ => handed_on(args).into_iter().collect(),
    }
}

/// The command line that a program hands on as it is.
fn handed_on(args: &Args<'_>) -> Option<String> {
    let after = |word: &str| {
        let at = args.iter().position(|field| field.raw() == word)?;
        Some(joined(args.skip(at + 1)).raw().to_owned())
    };
    match args.program {
        "uv" | "pipx" => after("run"),
        name if PROGRAMS.contains(&name) => after("--"),
        name if name.starts_with("ld-linux") || name.starts_with("ld-musl") => {
            Some(joined(args.fields).raw().to_owned())
        }
        _ => None,
    }
}

/// The command of a line of a crontab: after five fields, or after `@daily`.
fn scheduled(line: &str) -> String {
    let fields = if line.starts_with('@') { 1 } else { 5 };
    let words: Vec<&str> = line.split_whitespace().skip(fields).collect();
    words.join(" ")
}

/// The text that an interpreter is given, if it is not one whose effects are looked at as well.
fn code(args: &Args<'_>) -> Option<Field> {
    match args.program {
        "awk" | "gawk" | "mawk" => args.operands(&["-v", "-F", "-f"]).first().copied().cloned(),
        "lua" | "luajit" | "bun" | "julia" | "Rscript" | "ipython" | "pypy" | "pypy3" | "tclsh" => {
            args.value(&["-e", "--eval", "-c"])
        }
        name if name.starts_with("python3.") || name.starts_with("python2") => args.value(&["-c"]),
        _ => None,
    }
}

/// Looks whether a text that a shell would execute is an order.
pub(super) fn text(walker: &mut Walker<'_>, text: &str) {
    quietly(walker, |walker| walker.nested_text(&Field::literal(text)));
}

/// Walks without noting effects.
fn quietly(walker: &mut Walker<'_>, walk: impl FnOnce(&mut Walker<'_>)) {
    let list = std::mem::take(&mut walker.found.list);
    let unparsed = walker.found.unparsed;
    walker.apart(walk);
    walker.found.list = list;
    walker.found.unparsed = unparsed;
}
