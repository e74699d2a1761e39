//! `python -c`, `node -e` and the like: calls that obviously remove files or run a command.

use sprag_core::Verb;

use crate::args::Args;
use crate::expand::{Field, HOME, UNKNOWN};
use crate::script::{assigned, calls, first_string, strings_of_list};
use crate::walk::Walker;

/// Runs the text that an interpreter is given; false if it is given none.
pub(super) fn run(walker: &mut Walker<'_>, args: &Args<'_>) -> bool {
    let option: &[&str] = match args.program {
        "python" | "python3" => &["-c"],
        "node" | "tsx" | "ts-node" | "deno" => &["-e", "--eval", "-p", "--print", "eval"],
        "php" => &["-r"],
        _ => &["-e"],
    };
    let text = args.value(option).or_else(|| {
        let operands = args.operands(&[]);
        let reads_input =
            operands.is_empty() || operands.first().is_some_and(|field| field.raw() == "-");
        reads_input.then(|| walker.input.take()).flatten()
    });
    let Some(text) = text else {
        return false;
    };
    crate::guard::look_script(walker, args.program, text.raw());
    code(walker, args.program, text.raw());
    true
}

/// Notes what `text` destroys, code in the language of the program `by`.
pub(super) fn code(walker: &mut Walker<'_>, by: &str, text: &str) {
    if !walker.spend(4 * text.len()) {
        return;
    }
    super::orm::run(walker, by, text);
    if by == "perl" {
        unlinked(walker, text);
    }
    for (call, arguments) in calls(text) {
        one(walker, by, text, &call, &arguments);
    }
}

/// Perl's `unlink`, which needs no parentheses: `unlink glob("data/*.csv")`.
fn unlinked(walker: &mut Walker<'_>, text: &str) {
    for (at, word) in text.match_indices("unlink ") {
        let rest = text.get(at + word.len()..).unwrap_or_default().trim_start();
        let globs = rest.starts_with("glob") || rest.starts_with('<');
        let rest = rest
            .trim_start_matches("glob")
            .trim_start_matches(['(', ' ']);
        let inside = match rest.strip_prefix('<') {
            Some(glob) => glob.split_once('>').map(|(glob, _)| glob.to_owned()),
            None => first_string(rest.split([')', ';']).next().unwrap_or_default()),
        };
        let mut field = inside.map_or_else(Field::unknown, Field::literal);
        field.globs = globs;
        walker.path_effect(Verb::Delete, "perl unlink", &field, false);
    }
}

fn one(walker: &mut Walker<'_>, by: &str, text: &str, call: &str, arguments: &str) {
    let last = call.rsplit(['.', ':']).next().unwrap_or(call);
    match (call, last) {
        ("os.system" | "os.popen" | "system", _)
        | (_, "execSync" | "exec" | "shell_exec" | "passthru") => {
            if let Some(text) = first_string(arguments) {
                walker.nested_text(&Field::literal(text));
            }
        }
        (_, "run" | "call" | "check_call" | "check_output" | "Popen")
            if call.contains("subprocess") =>
        {
            if let Some(list) = strings_of_list(arguments) {
                let argv: Vec<Field> = list.into_iter().map(Field::literal).collect();
                walker.wrapped(&argv);
            } else if let Some(text) = first_string(arguments) {
                walker.nested_text(&Field::literal(text));
            }
        }
        (
            _,
            "rmtree" | "rm_rf" | "rm_r" | "remove_dir" | "remove_dir_all" | "remove_tree"
            | "removeSync" | "emptyDirSync",
        ) => removed(walker, by, last, &path(text, arguments), true),
        (_, "rmSync" | "rmdirSync") => {
            let recursive = arguments.contains("recursive");
            removed(walker, by, last, &path(text, arguments), recursive);
        }
        (_, "rm") if call.contains("fs") => {
            let recursive = arguments.contains("recursive");
            removed(walker, by, last, &path(text, arguments), recursive);
        }
        ("os.remove" | "os.unlink", _) | (_, "unlinkSync" | "unlink") => {
            removed(walker, by, last, &path(text, arguments), false);
        }
        _ => {}
    }
}

fn removed(walker: &mut Walker<'_>, by: &str, call: &str, path: &Field, recursive: bool) {
    walker.path_effect(Verb::Delete, &format!("{by} {call}"), path, recursive);
}

/// The path that the first argument names: a string, a variable that holds one, a home or a temporary folder.
fn path(text: &str, arguments: &str) -> Field {
    let arguments = arguments.trim();
    let first = arguments.split(',').next().unwrap_or_default().trim();
    let variable = first
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
    let value = match variable.then(|| assigned(text, first)).flatten() {
        Some(value) => value,
        None => arguments,
    };
    let temporary = [
        "mkdtemp",
        "tmpdir",
        "gettempdir",
        "TemporaryDirectory",
        "mktmpdir",
    ];
    if temporary.iter().any(|word| value.contains(word)) {
        return Field::literal(format!("/tmp/{UNKNOWN}"));
    }
    match first_string(value).or_else(|| home_path(value)) {
        Some(path) if path == "~" || path.starts_with("~/") => {
            Field::literal(path.replacen('~', HOME.encode_utf8(&mut [0; 4]), 1))
        }
        Some(path) => Field::literal(path),
        None => Field::unknown(),
    }
}

/// `os.path.expanduser("~/x")`, `os.homedir()`, `Path.home() / "x"`.
fn home_path(value: &str) -> Option<String> {
    if let Some((_, inside)) = value.split_once("expanduser(") {
        return first_string(inside.split(')').next().unwrap_or_default());
    }
    let after = ["Path.home()", "os.homedir()"]
        .iter()
        .find_map(|home| value.strip_prefix(home))?;
    let mut path = "~".to_owned();
    for part in after
        .split('/')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        path.push('/');
        path.push_str(&first_string(part)?);
    }
    Some(path)
}
