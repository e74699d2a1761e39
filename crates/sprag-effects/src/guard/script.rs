//! Scripts of other languages that reach for the guard's files: `open("~/.claude/settings.json", "w")`.
//!
//! Not a parser: a script that names one of these files in a string, and calls something that writes, counts.

use super::own_path::own;
use crate::expand::{Field, HOME};
use crate::script::{calls, strings};
use crate::walk::Walker;

/// Last words of calls that write, remove or move a file.
#[rustfmt::skip]
const WRITING: [&str; 30] = [
    "write_text", "write_bytes", "write", "dump", "writeFile", "writeFileSync", "appendFile",
    "appendFileSync", "createWriteStream", "rmtree", "remove", "unlink", "rename", "replace",
    "move", "copy", "copyfile", "copy2", "rmSync", "unlinkSync", "rm", "renameSync",
    "copyFileSync", "truncate", "connect", "chmod", "symlink", "DatabaseSync", "file_put_contents",
    "rm_rf",
];

/// Looks whether a script changes one of the guard's files, or reads its tokens.
pub(crate) fn look_script(walker: &mut Walker<'_>, text: &str) {
    let mut files = strings(text).into_iter().filter(|string| {
        let path = string.replacen('~', HOME.encode_utf8(&mut [0; 4]), 1);
        own(
            walker.places,
            &walker.environment.folder,
            &Field::literal(path),
        )
        .is_some()
    });
    let Some(file) = files.next() else {
        return;
    };
    let token = file.ends_with(".token") || files.any(|file| file.ends_with(".token"));
    walker.found.orders_guard |= token || calls(text).iter().any(writes);
}

fn writes((call, arguments): &(String, String)) -> bool {
    let last = call.rsplit(['.', ':']).next().unwrap_or(call);
    let mode = |text: &String| {
        let mode = text.trim_end_matches(['b', 't']);
        matches!(mode, "w" | "a" | "x" | "w+" | "a+" | "r+" | "wb+" | "rb+")
    };
    WRITING.contains(&last) || (last == "open" && strings(arguments).iter().any(mode))
}
