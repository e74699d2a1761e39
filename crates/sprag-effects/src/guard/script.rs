//! Scripts of other languages that reach for the guard: `open("~/.claude/settings.json", "w")`,
//! `subprocess.run(["sprag", "approve", code])`, `requests.post(".../v1/pause")`.
//!
//! Not a parser. What counts is which strings a script has, and that it calls something that writes, runs or
//! sends. A path may be put together: `join(home, ".claude", "settings.json")`.

use super::orders::{PROGRAMS, is_order_address, orders};
use super::own_path::Own;
use crate::expand::{Field, HOME};
use crate::script::{assigned, calls, strings};
use crate::walk::Walker;

/// Last words of calls that write, remove, move or unpack a file.
#[rustfmt::skip]
const WRITING: [&str; 40] = [
    "write_text", "write_bytes", "write", "dump", "writeFile", "writeFileSync", "appendFile",
    "appendFileSync", "createWriteStream", "rmtree", "remove", "unlink", "rename", "replace",
    "move", "copy", "copyfile", "copy2", "rmSync", "unlinkSync", "rm", "renameSync",
    "copyFileSync", "truncate", "connect", "chmod", "symlink", "DatabaseSync", "file_put_contents",
    "rm_rf", "extractall", "unpack_archive", "copytree", "cpSync", "cp", "copyFile", "symlinkSync",
    "link", "linkSync", "touch",
];
/// Last words of calls that run a program.
#[rustfmt::skip]
const RUNNING: [&str; 30] = [
    "system", "popen", "run", "call", "check_call", "check_output", "Popen", "getoutput",
    "getstatusoutput", "exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync",
    "execv", "execvp", "execvpe", "execl", "execlp", "posix_spawn", "Command", "shell_exec",
    "passthru", "proc_open", "execute", "capture2", "capture3", "create_subprocess_shell", "sh",
];
/// Programs in whose language a text in backquotes is a command.
const BACKQUOTES: [&str; 3] = ["ruby", "perl", "php"];
/// Words of which one stands in every string that starts a path of the guard's.
#[rustfmt::skip]
const NEAR: [&str; 11] = [
    "sprag", ".claude", ".codex", ".gemini", ".cursor", ".copilot", ".github", ".local", ".config",
    ".opencode", "plugin",
];
/// The most strings that make up a path.
const MAX_PIECES: usize = 4;

/// Looks whether a script, in the language of `program`, changes one of the guard's files, reads its tokens
/// or gives it an order.
pub(crate) fn look_script(walker: &mut Walker<'_>, program: &str, text: &str) {
    if !NEAR.iter().any(|word| text.contains(word)) && !text.contains("/v1/") {
        return;
    }
    if !walker.spend(4 * text.len()) {
        return;
    }
    let strings = strings(text);
    let calls = calls(text);
    walker.found.orders_guard |=
        touches(walker, &strings, &calls) || asks(text, &strings, &calls) || lists_order(&strings);
    for command in commands(program, text, &calls) {
        super::launch::text(walker, &command);
    }
}

fn last(call: &str) -> &str {
    call.rsplit(['.', ':']).next().unwrap_or(call)
}

/// Whether the script names one of the guard's files and writes, or names a token.
fn touches(walker: &Walker<'_>, strings: &[String], calls: &[(String, String)]) -> bool {
    let writes = || calls.iter().any(writes);
    (0..strings.len()).any(|start| {
        let near = |text: &String| NEAR.iter().any(|word| text.contains(word));
        if !strings.get(start).is_some_and(near) {
            return false;
        }
        (1..=MAX_PIECES).any(|length| {
            let Some(pieces) = strings.get(start..start + length) else {
                return false;
            };
            let path = pieces.join("/");
            let path = path.replacen('~', HOME.encode_utf8(&mut [0; 4]), 1);
            let field = Field::literal(path);
            let token = field.raw().ends_with(".token");
            match walker.own(&field) {
                Some(Own::Store) if token => true,
                Some(_) => writes(),
                None => walker.is_guards_folder(&field) && calls.iter().any(takes_folder),
            }
        })
    })
}

fn writes((call, arguments): &(String, String)) -> bool {
    let last = last(call);
    let mode = |text: &String| {
        let mode = text.trim_end_matches(['b', 't']);
        matches!(mode, "w" | "a" | "x" | "w+" | "a+" | "r+" | "wb+" | "rb+")
    };
    WRITING.contains(&last) || (last == "open" && strings(arguments).iter().any(mode))
}

/// Whether a call replaces or removes a whole folder.
fn takes_folder((call, _): &(String, String)) -> bool {
    matches!(
        last(call),
        "extractall" | "unpack_archive" | "rmtree" | "move" | "rename" | "renameSync" | "rm_rf"
    )
}

/// Whether the script sends an order to the guard's server.
fn asks(text: &str, strings: &[String], calls: &[(String, String)]) -> bool {
    if !strings.iter().any(|string| is_order_address(string, false)) {
        return false;
    }
    let verb = |string: &String| matches!(string.as_str(), "POST" | "PUT" | "PATCH" | "DELETE");
    let sends = |(call, _): &(String, String)| matches!(last(call), "post" | "put" | "patch");
    let data = text.contains("data=") && calls.iter().any(|(call, _)| last(call) == "urlopen");
    strings.iter().any(verb) || calls.iter().any(sends) || data
}

/// Whether one string is the guard's program and those after it an order: `["sprag", "approve", …]`.
fn lists_order(strings: &[String]) -> bool {
    strings.iter().enumerate().any(|(at, string)| {
        let name = string.rsplit('/').next().unwrap_or(string);
        let words = strings.iter().skip(at + 1).take(MAX_PIECES);
        let words: Vec<Field> = words.map(Field::literal).collect();
        PROGRAMS.contains(&name) && orders(&words)
    })
}

/// The commands that a script runs as texts.
fn commands(program: &str, text: &str, calls: &[(String, String)]) -> Vec<String> {
    let mut commands = Vec::new();
    for (call, arguments) in calls {
        if !RUNNING.contains(&last(call)) {
            continue;
        }
        let first = strings(arguments).into_iter().next();
        let variable = || {
            strings(assigned(text, arguments.trim())?)
                .into_iter()
                .next()
        };
        commands.extend(first.or_else(variable));
    }
    if BACKQUOTES.contains(&program) {
        commands.extend(text.split('`').skip(1).step_by(2).map(str::to_owned));
        for word in ["system ", "exec "] {
            let rests = text.split(word).skip(1);
            commands.extend(rests.filter_map(|rest| strings(rest).into_iter().next()));
        }
    }
    commands.retain(|command| command.contains("sprag"));
    commands
}
