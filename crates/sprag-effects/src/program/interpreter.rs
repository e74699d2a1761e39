//! `python -c`, `node -e` and the like: calls that obviously remove files or run a command.

use sprag_core::Verb;

use crate::args::Args;
use crate::expand::Field;
use crate::script::{calls, first_string, strings_of_list};
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
    let by = args.program;
    for (call, arguments) in calls(text.raw()) {
        one(walker, by, &call, &arguments);
    }
    true
}

fn one(walker: &mut Walker<'_>, by: &str, call: &str, arguments: &str) {
    let last = call.rsplit(['.', ':']).next().unwrap_or(call);
    let path = |text: Option<String>| match text {
        Some(text) if text == "~" || text.starts_with("~/") => {
            Field::literal(text.replacen('~', crate::expand::HOME.encode_utf8(&mut [0; 4]), 1))
        }
        Some(text) => Field::literal(text),
        None => Field::unknown(),
    };
    let home = arguments.contains("expanduser")
        || arguments.contains("Path.home()")
        || arguments.contains("homedir()");
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
        ("shutil.rmtree" | "rmtree", _) | (_, "rm_rf" | "remove_dir" | "rm_r" | "removeSync") => {
            let target =
                path(first_string(arguments).or_else(|| home_path(arguments).filter(|_| home)));
            walker.path_effect(Verb::Delete, &format!("{by} {last}"), &target, true);
        }
        (_, "rmSync" | "rm" | "rmdirSync") if call.contains("fs") => {
            let recursive = arguments.contains("recursive");
            let target = path(first_string(arguments));
            walker.path_effect(Verb::Delete, &format!("{by} {last}"), &target, recursive);
        }
        ("os.remove" | "os.unlink", _) | (_, "unlinkSync" | "unlink") => {
            let target = path(first_string(arguments));
            walker.path_effect(Verb::Delete, &format!("{by} {last}"), &target, false);
        }
        _ => {}
    }
}

/// `os.path.expanduser("~/x")` and `Path.home()`.
fn home_path(arguments: &str) -> Option<String> {
    let arguments = arguments.trim();
    if arguments.starts_with("Path.home()") || arguments.starts_with("os.homedir()") {
        return Some("~".to_owned()).filter(|_| !arguments.contains('/'));
    }
    let inside = arguments.split_once("expanduser(")?.1;
    first_string(inside.trim_end_matches(')'))
}
