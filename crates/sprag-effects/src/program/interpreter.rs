//! `python -c`, `node -e` and the like: calls that obviously remove files or run a command.

use sprag_core::Verb;

use crate::args::Args;
use crate::expand::{Field, HOME, UNKNOWN};
use crate::script::{
    assigned, bare_calls, calls, first_string, positions, shell_templates, strings, strings_of_list,
};
use crate::walk::Walker;

/// Whether `program` runs code that it is given as text.
pub(super) fn is_one(program: &str) -> bool {
    #[rustfmt::skip]
    const ALL: [&str; 19] = [
        "python", "python3", "python2", "ipython", "pypy3", "node", "nodejs", "bun", "deno", "tsx",
        "ts-node", "ruby", "perl", "php", "lua", "Rscript", "elixir", "julia", "groovy",
    ];
    ALL.contains(&program)
}

/// A migration tool that is a script (`php artisan`), or code as text.
pub(super) fn script_or_code(walker: &mut Walker<'_>, args: &Args<'_>) {
    let scripts =
        matches!(args.program, "php" | "ruby" | "node") || args.program.starts_with("python");
    if !(scripts && super::migration::script(walker, args)) {
        run(walker, args);
    }
}

/// `awk 'BEGIN { system("rm -rf x") }'`.
pub(super) fn awk(walker: &mut Walker<'_>, args: &Args<'_>) {
    let operands = args.operands(&["-F", "-v", "-f"]);
    if let Some(text) = operands
        .first()
        .filter(|text| text.raw().contains("system("))
    {
        code(walker, "awk", text.raw());
    }
}

/// Runs the text that an interpreter is given, if any.
fn run(walker: &mut Walker<'_>, args: &Args<'_>) {
    let option: &[&str] = match args.program {
        "python" | "python3" | "python2" | "ipython" | "pypy3" => &["-c"],
        "node" | "nodejs" | "tsx" | "ts-node" | "deno" | "bun" => {
            &["-e", "--eval", "-p", "--print", "eval"]
        }
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
        return;
    };
    crate::guard::look_script(walker, args.program, text.raw());
    code(walker, args.program, text.raw());
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
    let listed = if by == "ruby" { word_lists(text) } else { None };
    let text = listed.as_deref().unwrap_or(text);
    let mut all = calls(text);
    if matches!(by, "ruby" | "perl" | "elixir" | "rails runner") {
        all.extend(bare_calls(text));
    }
    for (call, arguments) in &all {
        one(walker, by, text, (call, arguments));
    }
    for command in shell_templates(text) {
        walker.nested_text(&Field::literal(command));
    }
    super::sdk::run(walker, by, text, &all);
}

/// Ruby's `%w[a b]` as strings, which they are.
fn word_lists(text: &str) -> Option<String> {
    let (before, rest) = text.split_once("%w")?;
    let close = match rest.chars().next()? {
        '[' => ']',
        '(' => ')',
        '{' => '}',
        _ => return None,
    };
    let (words, after) = rest.get(1..)?.split_once(close)?;
    let words: Vec<String> = words
        .split_whitespace()
        .map(|word| format!("'{word}'"))
        .collect();
    Some(format!("{before}{}{after}", words.join(", ")))
}

/// Perl's `unlink`, which needs no parentheses: `unlink glob("data/*.csv")`.
fn unlinked(walker: &mut Walker<'_>, text: &str) {
    const WORD: &str = "unlink ";
    for at in positions(text, WORD) {
        let rest = text.get(at + WORD.len()..).unwrap_or_default().trim_start();
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

fn one(walker: &mut Walker<'_>, by: &str, text: &str, (call, arguments): (&str, &str)) {
    let last = call.rsplit(['.', ':']).next().unwrap_or(call);
    let last = last.trim_end_matches('!');
    let shells = matches!(
        last,
        "execSync" | "exec" | "shell_exec" | "passthru" | "shell" | "os_execute"
    );
    let runs = matches!(
        last,
        "run" | "call" | "check_call" | "check_output" | "Popen"
    );
    match (call, last) {
        ("os.system" | "os.popen" | "os.execute" | "system", _) => command(walker, arguments),
        _ if shells => command(walker, arguments),
        _ if runs && call.contains("subprocess") => command(walker, arguments),
        (_, "execFileSync" | "spawnSync" | "execFile" | "spawn" | "cmd" | "system2") => {
            command(walker, arguments);
        }
        (
            _,
            "rmtree"
            | "rm_rf"
            | "rm_r"
            | "remove_dir"
            | "remove_dir_all"
            | "remove_tree"
            | "removeSync"
            | "emptyDirSync"
            | "remove_entry_secure",
        ) => removed(walker, by, last, &path(text, arguments), true),
        (_, "rmSync" | "rmdirSync") => {
            let recursive = arguments.contains("recursive");
            removed(walker, by, last, &path(text, arguments), recursive);
        }
        ("Deno.remove" | "Deno.removeSync" | "fs.remove" | "rm", _) | (_, "rm")
            if by == "julia" && call == "rm" || call.contains("Deno") || uses_files(text) =>
        {
            let recursive = arguments.contains("recursive");
            removed(walker, by, last, &path(text, arguments), recursive);
        }
        ("array_map", _) if by == "php" => mapped(walker, arguments),
        (_, "unlink" | "rmdir") if call.starts_with('.') || first_string(arguments).is_none() => {
            object_removed(walker, by, text, last, arguments);
        }
        ("os.remove" | "os.unlink" | "os.rmdir" | "file.remove", _)
        | ("File.delete" | "File.unlink" | "File.rm" | "File.rm_rf" | "Dir.rmdir", _)
        | (_, "unlinkSync" | "unlink" | "rm_f") => {
            let recursive = arguments.contains("recursive");
            removed(walker, by, last, &path(text, arguments), recursive);
        }
        _ => {}
    }
}

/// Whether JavaScript loads the module for files, or calls it.
fn uses_files(text: &str) -> bool {
    text.contains("fs.")
        || text.contains("fs/promises")
        || text.contains("fs')")
        || text.contains("fs\")")
}

/// A command as one string, as a list, as several strings, or as a program and a list.
fn command(walker: &mut Walker<'_>, arguments: &str) {
    if let Some(list) = strings_of_list(arguments) {
        let argv: Vec<Field> = list.into_iter().map(Field::literal).collect();
        walker.wrapped(&argv);
        return;
    }
    let Some(first) = first_string(arguments) else {
        return;
    };
    if first.contains(' ') {
        walker.nested_text(&Field::literal(first));
    } else {
        let argv: Vec<Field> = strings(arguments).into_iter().map(Field::literal).collect();
        walker.wrapped(&argv);
    }
}

/// PHP's `array_map("unlink", glob("storage/*"))`.
fn mapped(walker: &mut Walker<'_>, arguments: &str) {
    if !matches!(first_string(arguments).as_deref(), Some("unlink" | "rmdir")) {
        return;
    }
    let inner = calls(arguments);
    let inside = inner.iter().find_map(|(call, arguments)| {
        let globs = call == "glob";
        first_string(arguments).filter(|_| globs)
    });
    let mut field = inside.map_or_else(Field::unknown, Field::literal);
    field.globs = true;
    walker.path_effect(Verb::Delete, "php unlink", &field, false);
}

/// `Path("x").unlink()`, or the same on each of what such a path lists: the paths that the text names.
fn object_removed(walker: &mut Walker<'_>, by: &str, text: &str, call: &str, arguments: &str) {
    let named: Vec<String> = calls(text)
        .into_iter()
        .filter(|(call, _)| call.rsplit('.').next() == Some("Path"))
        .filter_map(|(_, arguments)| first_string(&arguments))
        .collect();
    let bare = arguments.trim().is_empty() || arguments.contains("missing_ok");
    if !bare || named.is_empty() {
        removed(walker, by, call, &path(text, arguments), false);
        return;
    }
    let lists = ["glob(", "iterdir("].iter().any(|word| text.contains(word));
    for path in named {
        let path = if lists {
            format!("{path}/{UNKNOWN}")
        } else {
            path
        };
        removed(walker, by, call, &Field::literal(path), false);
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
        None => listed(text).unwrap_or_else(Field::unknown),
    }
}

/// What stands below the one folder that the code lists: `os.walk("data")`, `glob.glob("data/*")`.
fn listed(text: &str) -> Option<Field> {
    let all = calls(text);
    let mut places = all.iter().filter_map(|(call, arguments)| {
        let last = call.rsplit(['.', ':']).next().unwrap_or(call);
        let globs = matches!(last, "glob" | "iglob" | "globSync");
        #[rustfmt::skip]
        let lists = matches!(
            last,
            "walk" | "listdir" | "scandir" | "readdirSync" | "readdir" | "children" | "entries"
        );
        let place = first_string(arguments).or_else(|| home_path(arguments))?;
        match (globs, lists) {
            (true, _) => Some(place),
            (_, true) => Some(format!("{place}/{UNKNOWN}")),
            _ => None,
        }
    });
    let place = places.next()?;
    let path = match place.strip_prefix('~') {
        Some(rest) => format!("{HOME}{rest}"),
        None => place,
    };
    Some(Field::literal(path))
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
