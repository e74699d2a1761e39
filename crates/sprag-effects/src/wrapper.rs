//! Programs that run another one: looked through, [`MAX_WRAPPERS`](crate::walk::MAX_WRAPPERS) deep.

mod launcher;
mod runner;
mod table;

use crate::args::{Args, takes_next};
use crate::builtin::joined;
use crate::expand::{Field, UNKNOWN, Value};
use crate::reach::Site;
use crate::walk::Walker;

pub(crate) use runner::unlisted;

/// The most lines or words of an input that are arguments of a command.
const MAX_LINES: usize = 32;

/// Runs a wrapper; false if `args` is not one.
pub(crate) fn run(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    if args.program == "command" && (args.has("-v") || args.has("-V")) {
        return true;
    }
    if let Some((_, valued, words)) = table::PLAIN.iter().find(|(name, ..)| *name == args.program) {
        plain(walker, args, valued, *words);
        return true;
    }
    match args.program {
        "env" => env(walker, args),
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" => shell(walker, args),
        "su" | "runuser" => {
            let text = args.value(&["-c", "--command"]);
            if let Some(text) = text {
                walker.nested_text(&text);
            }
        }
        "xargs" | "parallel" => xargs(walker, args),
        "ssh" => ssh(walker, args),
        "vagrant" if args.value(&["-c", "--command"]).is_none() => return false,
        "vagrant" | "nix-shell" | "sg" => {
            if let Some(text) = args.value(&["-c", "--command", "--run"]) {
                walker.nested_text(&text);
            }
        }
        _ => return runner::run(walker, args) || launcher::run(walker, args),
    }
    true
}

/// The position of the program behind options with values, assignments and `words` other words.
pub(crate) fn inner(args: &Args<'_>, valued: &[&str], words: usize) -> usize {
    let mut at = 0;
    let mut words = words;
    while let Some(field) = args.fields.get(at) {
        let text = field.raw();
        if text == "--" {
            return at + 1;
        }
        if text.len() > 1 && text.starts_with('-') {
            at += 1 + usize::from(takes_next(text, valued));
        } else if is_assignment(text) {
            at += 1;
        } else if words > 0 {
            words -= 1;
            at += 1;
        } else {
            return at;
        }
    }
    at
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn plain(walker: &mut Walker<'_>, args: &Args<'_>, valued: &[&str], words: usize) {
    let at = inner(args, valued, words);
    let before = args.fields.get(..at).unwrap_or_default();
    walker.apart(|walker| {
        set_all(walker, before);
        let shell = matches!(args.program, "npx" | "flock" | "watch");
        let text = if shell {
            args.value(&["-c", "--call"])
        } else {
            None
        };
        match (text, args.skip(at)) {
            (Some(text), _) => walker.nested_text(&text),
            (None, [only]) if only.raw().contains(' ') => walker.nested_text(only),
            (None, fields) => walker.wrapped(fields),
        }
    });
}

/// Assignments among arguments, as `env` and `sudo` take them.
pub(crate) fn set_all(walker: &mut Walker<'_>, fields: &[Field]) {
    for field in fields {
        if let Some((name, value)) = field
            .raw()
            .split_once('=')
            .filter(|_| is_assignment(field.raw()))
        {
            walker
                .environment
                .set(name, Value::Known(vec![Field::literal(value)]));
        }
    }
}

fn env(walker: &mut Walker<'_>, args: &Args<'_>) {
    if let Some(text) = args.value(&["-S", "--split-string"]) {
        walker.nested_text(&text);
        return;
    }
    let at = inner(args, &["-u", "--unset", "-C", "--chdir"], 0);
    walker.apart(|walker| {
        if let Some(folder) = args.fields.get(..at).and_then(|fields| {
            Args {
                program: "env",
                fields,
            }
            .value(&["-C", "--chdir"])
        }) {
            walker.environment.folder = walker
                .places
                .path(folder.raw(), &walker.environment.folder)
                .text();
        }
        set_all(walker, args.fields.get(..at).unwrap_or_default());
        walker.wrapped(args.skip(at));
    });
}

/// `sh -c text`, `sh <<EOF`, `echo text | sh`; a script file is not read.
fn shell(walker: &mut Walker<'_>, args: &Args<'_>) {
    let checks = args.short('n') && !args.long("--norc");
    if checks {
        return;
    }
    let runs_text = |field: &&Field| {
        let text = field.raw();
        text.starts_with('-') && !text.starts_with("--") && text.ends_with('c')
    };
    let at = args.iter().position(|field| runs_text(&field));
    if let Some(at) = at {
        let rest = args.skip(at + 1);
        if let Some((text, arguments)) = rest.split_first() {
            walker.apart(|walker| {
                if let Some(name) = arguments.first() {
                    let name = Value::Known(vec![name.clone()]);
                    walker.environment.set("0", name);
                }
                let arguments = arguments.get(1..).unwrap_or_default().to_vec();
                walker.environment.arguments = Some(arguments);
                walker.nested_text(text);
            });
        }
        return;
    }
    let operands = args.operands(&["-o", "-O", "--rcfile", "--init-file"]);
    let reads_input = operands.is_empty()
        || args.short('s')
        || operands.first().is_some_and(|field| field.raw() == "-");
    if reads_input && let Some(text) = walker.input.take() {
        walker.apart(|walker| walker.nested_text(&text));
    }
}

fn xargs(walker: &mut Walker<'_>, args: &Args<'_>) {
    #[rustfmt::skip]
  const VALUED: [&str; 16] = [
      "-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s", "-i", "--max-args", "--max-procs", "-j",
      "--jobs", "--delimiter", "--arg-file", "--replace",
  ];
    let at = inner(args, &VALUED, 0);
    let mark = args.fields.get(..at).and_then(|fields| {
        Args {
            program: "xargs",
            fields,
        }
        .value(&["-I", "-i", "--replace"])
    });
    let mark = match (&mark, args.program) {
        (Some(mark), _) => mark.raw().to_owned(),
        (None, "parallel") => "{}".to_owned(),
        (None, _) => String::new(),
    };
    let command: Vec<&Field> = args
        .skip(at)
        .iter()
        .take_while(|field| field.raw() != ":::")
        .collect();
    let marked = |field: &&&Field| !mark.is_empty() && field.raw().contains(&mark);
    let replaced = command.iter().any(|field| marked(&field));
    let with = |value: &str| -> Vec<Field> {
        let fill = |field: &&Field| match marked(&field) {
            true => Field::literal(field.raw().replace(&mark, value)),
            false => (*field).clone(),
        };
        command.iter().map(fill).collect()
    };
    let mut fields = with(Field::unknown().raw());
    let input = walker.input.take();
    if args.program == "parallel" && each_argument(walker, args, &fields, replaced) {
        return;
    }
    if replaced {
        match input.filter(|input| input.is_known() && !input.raw().trim().is_empty()) {
            Some(input) => {
                for line in input.raw().lines().take(MAX_LINES) {
                    walker.wrapped(&with(line.trim()));
                }
            }
            None => walker.wrapped(&fields),
        }
        return;
    }
    match input.filter(|input| !input.raw().trim().is_empty()) {
        Some(input) => {
            let words = input.raw().split_whitespace().take(MAX_LINES);
            fields.extend(words.map(Field::literal));
        }
        None => fields.push(Field::unknown()),
    }
    walker.wrapped(&fields);
}

/// `parallel rm -rf ::: a b`: once for each argument; false if none is given.
fn each_argument(
    walker: &mut Walker<'_>,
    args: &Args<'_>,
    command: &[Field],
    replaced: bool,
) -> bool {
    let given = args.iter().skip_while(|field| field.raw() != ":::");
    let mut any = false;
    for argument in given.filter(|field| field.raw() != ":::").take(MAX_LINES) {
        any = true;
        let mut argv: Vec<Field> = command
            .iter()
            .map(|field| match field.raw() {
                text if replaced && text.contains(UNKNOWN) => {
                    Field::literal(text.replace(UNKNOWN, argument.raw()))
                }
                _ => field.clone(),
            })
            .collect();
        if !replaced {
            argv.push(argument.clone());
        }
        match argv.as_slice() {
            [only] => walker.nested_text(only),
            argv => walker.wrapped(argv),
        }
    }
    any
}

fn ssh(walker: &mut Walker<'_>, args: &Args<'_>) {
    #[rustfmt::skip]
  const VALUED: [&str; 20] = [
      "-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-I", "-m", "-Q",
      "-S", "-W", "-w", "-B", "-e",
  ];
    let at = inner(args, &VALUED, 1);
    let host = args
        .operands(&VALUED)
        .first()
        .map(|field| field.shown())
        .unwrap_or_default();
    let test = crate::scratch::is_test_name(&host);
    let rest = args.skip(at);
    let text = if rest.is_empty() {
        walker.input.take()
    } else {
        Some(joined(rest))
    };
    if let Some(text) = text {
        away(walker, Site::Remote, test, |walker| {
            walker.nested_text(&text)
        });
    }
}

/// Runs `walk` on another machine or in a container.
pub(crate) fn away(
    walker: &mut Walker<'_>,
    site: Site,
    throwaway: bool,
    walk: impl FnOnce(&mut Walker<'_>),
) {
    let before = (walker.site, walker.throwaway);
    walker.site = site;
    walker.throwaway |= throwaway;
    walker.apart(|walker| {
        walker.environment.folder = String::new();
        walk(walker);
    });
    (walker.site, walker.throwaway) = before;
}
