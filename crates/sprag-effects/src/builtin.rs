//! Builtins of the shell that change what later commands mean, and substitutions whose value is known.

use crate::args::Args;
use crate::expand::{Field, UNKNOWN, Value};
use crate::walk::Walker;

/// Runs a builtin; false if `args` is not one.
pub(crate) fn run(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    match args.program {
        "cd" | "pushd" => change_folder(walker, args),
        "popd" => walker.environment.folder = UNKNOWN.to_string(),
        "export" | "local" | "declare" | "typeset" | "readonly" => declare(walker, args),
        "read" | "mapfile" | "readarray" | "getopts" => {
            for field in args.operands(&["-d", "-n", "-N", "-p", "-t", "-u", "-i", "-a"]) {
                walker.environment.set(field.raw(), Value::Unknown);
            }
            for field in args.values(&["-a"]) {
                walker.environment.set(field.raw(), Value::Unknown);
            }
        }
        "printf" => {
            if let (Some(name), Some(field)) = (args.value(&["-v"]), args.fields.first())
                && field.raw() == "-v"
            {
                let value = printed(args.skip(2));
                walker
                    .environment
                    .set(name.raw(), Value::Known(vec![value]));
            }
        }
        "unset" => {
            for field in args.operands(&[]) {
                walker.environment.unset(field.raw());
            }
        }
        "set" => {
            let after = args.iter().position(|field| field.raw() == "--");
            if let Some(at) = after {
                walker.environment.arguments = Some(args.skip(at + 1).to_vec());
            }
        }
        "shift" => {
            if let Some(arguments) = &mut walker.environment.arguments
                && !arguments.is_empty()
            {
                arguments.remove(0);
            }
        }
        "source" | "." => walker.environment.sourced = true,
        "eval" => walker.nested_text(&joined(args.fields)),
        "trap" => {
            if let Some(handler) = args.operands(&[]).first() {
                walker.on_exit.push((*handler).clone());
            }
        }
        "echo" | "true" | "false" | ":" | "test" | "[" | "alias" | "pwd" | "exit" | "return"
        | "grep" | "rg" | "cat" | "ls" | "sed" | "head" | "tail" => {
            // Options such as `sed -i` may change files that belong to the guard; those are looked at
            // elsewhere. None of these removes anything.
        }
        _ => return false,
    }
    true
}

fn change_folder(walker: &mut Walker<'_>, args: &Args<'_>) {
    let folder = match args.operands(&[]).first() {
        None => crate::expand::HOME.to_string(),
        Some(field) if field.raw() == "-" => UNKNOWN.to_string(),
        Some(field) => {
            let text = field.with_unset_empty();
            if text.is_empty() {
                // `cd ""` stays; `cd $UNSET` goes home.
                crate::expand::HOME.to_string()
            } else {
                walker.places.path(&text, &walker.environment.folder).text()
            }
        }
    };
    walker.environment.folder = folder;
}

/// `export A=b`: the assignment is one argument here.
fn declare(walker: &mut Walker<'_>, args: &Args<'_>) {
    for field in args.operands(&[]) {
        let text = field.raw();
        match text.split_once('=') {
            // An array argument has been assigned already.
            Some((_, "")) => {}
            Some((name, value)) => {
                let value = if value.starts_with('~') {
                    value.replacen('~', crate::expand::HOME.encode_utf8(&mut [0; 4]), 1)
                } else {
                    value.to_owned()
                };
                walker
                    .environment
                    .set(name, Value::Known(vec![Field::literal(value)]));
            }
            None if walker.environment.get(text).is_none() => {
                walker.environment.set(text, Value::Unknown);
            }
            None => {}
        }
    }
}

/// Arguments with blanks between them, as `eval` and `ssh` see them.
pub(crate) fn joined(fields: &[Field]) -> Field {
    let mut all = Field::default();
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            all.push(" ");
        }
        all.append(field);
    }
    all
}

/// What `echo` or `printf` prints.
pub(crate) fn echoed(name: &str, fields: &[Field]) -> Field {
    let options = fields
        .iter()
        .take_while(|field| matches!(field.raw(), "-e" | "-n" | "-en" | "-ne" | "-E"))
        .count();
    let rest = fields.get(options..).unwrap_or_default();
    if name == "printf" {
        return printed(rest);
    }
    let text = joined(rest);
    let escapes = fields
        .iter()
        .take(options)
        .any(|field| field.raw().contains('e'));
    if escapes {
        return unescaped(text.raw()).map_or_else(Field::unknown, Field::literal);
    }
    text
}

/// `printf` with `%s` only; any other form of value is unknown.
pub(crate) fn printed(fields: &[Field]) -> Field {
    let Some((format, values)) = fields.split_first() else {
        return Field::default();
    };
    let Some(mut text) = unescaped(format.raw()) else {
        return Field::unknown();
    };
    let places = text.matches("%s").count();
    // The format is used again for what is left.
    let rounds = values.len().div_ceil(places.max(1)).clamp(1, 32);
    text = text.repeat(if places > 0 { rounds } else { 1 });
    let mut values = values.iter();
    let mut done = String::new();
    while let Some((before, after)) = text.split_once("%s") {
        done.push_str(before);
        done.push_str(values.next().map_or("", Field::raw));
        text = after.to_owned();
    }
    if text.contains('%') || done.contains('%') {
        return Field::unknown();
    }
    done.push_str(&text);
    Field::literal(done)
}

/// Text with the escapes of `echo -e` and `printf`; none if one of them is not read here.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            plain.push(next);
            continue;
        }
        let code = |digits: &str, radix| {
            let code = u32::from_str_radix(digits, radix).ok()?;
            char::from_u32(code).filter(|found| found.is_ascii() && *found != '\0')
        };
        plain.push(match rest.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            same @ ('\\' | '"' | '\'') => same,
            // Two digits, as everybody writes them.
            'x' => {
                let digits: String = rest.by_ref().take(2).collect();
                code(&digits, 16)?
            }
            first @ '0'..='7' => {
                let digits: String = [first].into_iter().chain(rest.by_ref().take(2)).collect();
                code(&digits, 8)?
            }
            _ => return None,
        });
    }
    Some(plain)
}

/// What a substituted command prints, if that is known.
pub(crate) fn value_of(walker: &Walker<'_>, argv: &[Field]) -> Field {
    let Some((program, fields)) = argv.split_first() else {
        return Field::default();
    };
    let args = Args {
        program: program.raw(),
        fields,
    };
    let first = || {
        args.operands(&[])
            .first()
            .map_or_else(Field::unknown, |field| (*field).clone())
    };
    let folder = &walker.environment.folder;
    match args.program {
        "mktemp" => temporary(&args),
        "pwd" => Field::literal(if folder.is_empty() {
            "."
        } else {
            folder.as_str()
        }),
        "git" if args.has("--show-toplevel") => {
            Field::literal(walker.environment.root.as_deref().unwrap_or("."))
        }
        "realpath" | "readlink" => first(),
        // What the command itself has started is nobody else's.
        "docker" | "podman" | "nerdctl" if crate::program::is_fresh_container(&args) => {
            Field::literal(format!("tmp-{UNKNOWN}"))
        }
        // A number that is not known, of a program that is.
        "pgrep" | "pidof" => Field::literal(format!("{UNKNOWN}{}", first().raw())),
        // Where a program is, is not known here; which program it is, is.
        "which" | "type" | "command" | "whereis" => match first() {
            name if name.is_known() && !name.raw().contains('/') => {
                Field::literal(format!("/usr/local/bin/{}", name.raw()))
            }
            name => name,
        },
        "dirname" => {
            let path = first();
            match path.raw().trim_end_matches('/').rsplit_once('/') {
                _ if !path.is_known() => Field::unknown(),
                Some(("", _)) => Field::literal("/"),
                Some((parent, _)) => Field::literal(parent),
                None => Field::literal("."),
            }
        }
        _ => crate::printed::listed(argv).unwrap_or_else(Field::unknown),
    }
}

fn temporary(args: &Args<'_>) -> Field {
    let template = args
        .operands(&["-p", "--tmpdir", "-t", "--suffix"])
        .first()
        .map(|field| field.raw().to_owned());
    let place = args
        .value(&["-p", "--tmpdir"])
        .map(|field| field.raw().to_owned());
    let inside = |folder: &str| Field::literal(format!("{folder}/tmp.{UNKNOWN}"));
    match (template, place) {
        (Some(template), None) if template.contains('/') => {
            let end = template.find('X').unwrap_or(template.len());
            let head = template.get(..end).unwrap_or_default();
            Field::literal(format!("{head}tmp.{UNKNOWN}"))
        }
        (_, Some(place)) if !place.is_empty() => inside(&place),
        _ => inside("/tmp"),
    }
}
