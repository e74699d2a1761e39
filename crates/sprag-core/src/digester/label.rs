//! The command or file behind a call, in a few words that a person recognises.
//!
//! A message that names only the tool (`Bash`) tells a person nothing. So a call keeps a short label
//! in clear: the program with its subcommand, or the name of the file. Values, flags and folders
//! are left out, since they may be private.
//!
//! Bounded by: 40 bytes.
//! Odd cases: words with anything but letters, digits, `.`, `_` and `-` are never kept, and neither are
//! words that may be a key: a part of more than 8 bytes that mixes letters and digits, or of more
//! than 16 bytes.

use super::command::first_program;
use super::json::JsonValue;
use super::words::WordList;

const MAX_BYTES: usize = 40;
const MAX_WORD_BYTES: usize = 24;

const FILE_NAMES: [&str; 7] = [
    "file_path",
    "path",
    "file",
    "filename",
    "notebook_path",
    "absolute_path",
    "filePath",
];

/// Programs whose first argument says nothing without the rest, or is a value.
const ALONE: WordList = WordList::new("echo printf export set psql mysql curl wget ssh");

/// The name of the argument that holds the path of a file, if one does.
pub(super) fn file_argument(args: &JsonValue<'_>) -> Option<&'static str> {
    let is_text = |name: &&str| matches!(args.get(name), Some(JsonValue::Text(_)));
    FILE_NAMES.into_iter().find(is_text)
}

/// The label of a call with `args`, one of which is `command`.
pub(super) fn label(args: &JsonValue<'_>, command: Option<&str>) -> Option<Box<str>> {
    if let Some(command) = command {
        return of_command(command);
    }
    match args.get(file_argument(args)?)? {
        JsonValue::Text(path) => file_name(path).map(Box::from),
        _ => None,
    }
}

fn of_command(command: &str) -> Option<Box<str>> {
    let (program, mut arguments) = first_program(command)?;
    let program = file_name(program).filter(|name| !name.starts_with('-'))?;
    // Behind a flag stands the flag's value, which may be a password.
    let argument = arguments
        .next()
        .filter(|word| !word.starts_with('-') && !ALONE.has(program))
        .and_then(|word| file_name(word.trim_matches(['"', '\''])))
        .filter(|word| word.bytes().any(|byte| byte.is_ascii_alphabetic()));
    let label = argument.map_or_else(|| program.to_owned(), |word| format!("{program} {word}"));
    (label.len() <= MAX_BYTES).then(|| label.into_boxed_str())
}

/// The last part of a path, if it is plain and short.
fn file_name(path: &str) -> Option<&str> {
    let name = path.trim_end_matches('/').rsplit(['/', '\\']).next()?;
    let plain = !name.is_empty()
        && name.len() <= MAX_WORD_BYTES
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    (plain && !name.split(['.', '_', '-']).any(may_be_a_key)).then_some(name)
}

/// Whether a word looks drawn rather than chosen, as keys and tokens do.
fn may_be_a_key(word: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
    let mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    word.len() > 16 || (mixed && word.len() > 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label_of(args: &str) -> Option<String> {
        let args = JsonValue::parse(args).unwrap();
        let command = match args.get("command") {
            Some(JsonValue::Text(text)) => Some(&**text),
            _ => None,
        };
        label(&args, command).map(String::from)
    }

    #[test]
    fn a_label_names_the_program_or_the_file() {
        for (args, expected) in [
            (r#"{"command":"cargo test --all"}"#, Some("cargo test")),
            (
                r#"{"command":"cd src && FOO=1 sudo make check"}"#,
                Some("make check"),
            ),
            (r#"{"command":"cat src/main.rs"}"#, Some("cat main.rs")),
            (
                r#"{"command":"curl -H 'Authorization: x' http://a"}"#,
                Some("curl"),
            ),
            (r#"{"command":"echo hunter2"}"#, Some("echo")),
            (r#"{"command":"ls -la"}"#, Some("ls")),
            (r#"{"command":""}"#, None),
            (r#"{"file_path":"/home/user/a.rs"}"#, Some("a.rs")),
            (r#"{"path":"/home/user/my secret plan"}"#, None),
            (r#"{"command":"mysql --password p4ss"}"#, Some("mysql")),
            (r#"{"command":"--password p4ss"}"#, None),
            (r#"{"command":"AKIA4T5KQ7WXZ2NM9PLR"}"#, None),
            (r#"{"command":"gh ghp_k3Jd82hsKq0pLmZx"}"#, Some("gh")),
            (r#"{"id":7}"#, None),
        ] {
            assert_eq!(label_of(args).as_deref(), expected, "{args}");
        }
    }
}
