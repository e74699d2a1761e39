//! What a call is about, apart from how it is put: how a sweep is told from rewording.
//!
//! An agent that asks sixty hosts the same question is at work, and one that asks one host in sixty ways is
//! not, though the sixty calls differ in both cases. So the arguments are told apart by what they are: short
//! values name a thing; texts of several words, and what stands under the name of a question, are wording;
//! pages and offsets are places in one list. A call that changes a file is about that file, whatever it writes
//! or replaces there. Of a command the programs and flags are its form, quoted texts
//! are wording, and all other words name things.
//!
//! Bounded by: 64 values, four levels deep, 48 words of text.
//! Odd cases: a number in a text is wording too, since counting one's attempts is no news; the sum of all numbers
//! is kept apart, so that a count can be told from a number that means something, wherever it stands.

use super::approach::{is_command_name, is_question_name};
use super::command::{CommandParts, Quotes};
use super::json::JsonValue;
use super::noise_names::{is_cache_buster, is_nonce, is_remark};
use super::words::WordList;
use crate::cell::hash::{hash_bytes, mix};
use crate::digest::{DigestKey, Fingerprint};
use crate::id::Id;
use crate::observation::{MAX_SAID, Subject};

const MAX_VALUES: usize = 64;
const MAX_DEPTH: usize = 4;
const MAX_WORDS: usize = 48;
/// A text of so many words is wording.
const TEXT_WORDS: usize = 3;
/// All values of a call that controls something are together at most this long.
const CONTROL_BYTES: usize = 48;
/// How much of a command is read.
const COMMAND_BYTES: usize = 4096;
/// So many words of a command may be its program and subcommand.
const PROGRAM_WORDS: usize = 2;

/// Under these names stands a place in a list.
const PLACES: WordList = WordList::new(
    "page offset cursor skip start limit per_page page_size page_token pagetoken next_token after \
     before position index from_line start_line end_line",
);

/// What the arguments of a call of `tool` are about. If it changes a file, `file` is the name of the argument with
/// its path.
pub(super) fn subject(
    key: &DigestKey,
    (server, tool): (Option<&Id>, &Id),
    args: &JsonValue<'_>,
    command: Option<&str>,
    file: Option<&'static str>,
) -> Subject {
    let mut reading = Reading {
        key,
        form: hash_bytes(tool.as_str().as_bytes()),
        thing: 0,
        values: 0,
        bytes: 0,
        controls: command.is_none(),
        has_command: command.is_some(),
        file,
        words: Vec::with_capacity(MAX_WORDS),
        lower: Vec::with_capacity(32),
        count: 0,
    };
    if let Some(server) = server {
        reading.form = mix(reading.form, hash_bytes(server.as_str().as_bytes()));
    }
    if let Some(command) = command {
        reading.command(command);
    }
    reading.value("", args, 0);
    let mut said = reading.words;
    said.sort_unstable();
    said.dedup();
    let mut kept = [0; MAX_SAID];
    kept.iter_mut()
        .zip(said)
        .for_each(|(kept, word)| *kept = word);
    Subject {
        form: short(key, Fingerprint::Form, reading.form),
        thing: short(key, Fingerprint::Thing, reading.thing),
        controls: reading.controls && reading.bytes <= CONTROL_BYTES,
        said: kept,
        count: reading.count,
    }
}

/// A fingerprint under the store's key: nobody finds out by guessing what was meant.
fn short(key: &DigestKey, kind: Fingerprint, sum: u64) -> u32 {
    if sum == 0 {
        return 0;
    }
    key.fingerprint_32(kind, &sum.to_be_bytes()).max(1)
}

/// The arguments, read one by one.
struct Reading<'k> {
    key: &'k DigestKey,
    form: u64,
    thing: u64,
    values: usize,
    bytes: usize,
    controls: bool,
    has_command: bool,
    file: Option<&'static str>,
    words: Vec<u16>,
    /// A word in lower case.
    lower: Vec<u8>,
    count: u32,
}

impl Reading<'_> {
    fn value(&mut self, name: &str, value: &JsonValue<'_>, depth: usize) {
        self.values += 1;
        if self.values > MAX_VALUES || depth > MAX_DEPTH || is_nonce(name) {
            return;
        }
        match value {
            JsonValue::Object(entries) => {
                for (name, value) in entries {
                    if depth > 0 || !self.is_part_of_command(name) {
                        self.form = mix(self.form, hash_bytes(name.as_bytes()));
                        self.value(name, value, depth + 1);
                    }
                }
            }
            JsonValue::Array(items) => {
                for item in items {
                    self.value(name, item, depth + 1);
                }
            }
            JsonValue::Text(text) if self.is_written(name) || is_wording(name, text) => {
                self.text(text);
            }
            JsonValue::Text(text) if !PLACES.has(name) => self.names(name, text),
            JsonValue::Number(number) if !PLACES.has(name) => {
                let mut text = String::new();
                number.write(&mut text);
                self.names(name, &text);
            }
            JsonValue::Text(_) | JsonValue::Number(_) | JsonValue::Bool(_) | JsonValue::Null => {}
        }
    }

    /// The command itself, which was read already, and what is remarked about it.
    fn is_part_of_command(&self, name: &str) -> bool {
        self.has_command && (is_command_name(name) || is_remark(name))
    }

    /// Whether what stands under this name is put into the file or taken out of it.
    fn is_written(&self, name: &str) -> bool {
        self.file.is_some_and(|file| file != name)
    }

    /// A value that names something.
    fn names(&mut self, name: &str, value: &str) {
        self.bytes += value.len();
        self.controls &= !value.contains(['/', '\n', '@']);
        let mut named = hash_bytes(name.as_bytes());
        for part in without_places(value) {
            named = mix(named, hash_bytes(part.as_bytes()));
        }
        self.thing = mix(self.thing, named);
    }

    /// What is said in words: runs of letters and digits.
    fn text(&mut self, text: &str) {
        self.controls = false;
        if text.is_ascii() {
            return self.ascii_text(text.as_bytes());
        }
        let words = text.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            self.lower.extend(word.to_lowercase().bytes());
            if !self.word() {
                return;
            }
        }
    }

    /// The same for a text without other letters, as most are: bytes are quicker to look at than characters.
    fn ascii_text(&mut self, text: &[u8]) {
        for word in text.split(|byte| !byte.is_ascii_alphanumeric()) {
            self.lower.extend(word.iter().map(u8::to_ascii_lowercase));
            if !word.is_empty() && !self.word() {
                return;
            }
        }
    }

    /// Takes the word in `lower`, and returns false if there are too many.
    fn word(&mut self) -> bool {
        let fits = self.words.len() < MAX_WORDS;
        if fits {
            // `64MB` is a number and a word.
            let is_digit = |byte: &&u8| byte.is_ascii_digit();
            let digits = self.lower.iter().take_while(is_digit).count();
            let (number, word) = self.lower.split_at(digits);
            if digits > 0
                && let Ok(Ok(number)) = std::str::from_utf8(number).map(str::parse::<u32>)
            {
                self.count = self.count.max(1).wrapping_add(number);
            }
            if !word.is_empty() {
                let kind = Fingerprint::SaidWord;
                self.words.push(self.key.fingerprint_16(kind, word).max(1));
            }
        }
        self.lower.clear();
        fits
    }

    fn command(&mut self, command: &str) {
        let command = command
            .get(..command.floor_char_boundary(COMMAND_BYTES))
            .unwrap_or(command);
        for part in CommandParts(command) {
            for (at, word) in shell_words(part).enumerate() {
                self.values += 1;
                if self.values > MAX_VALUES {
                    return;
                }
                self.command_word(at, word);
            }
        }
    }

    fn command_word(&mut self, at: usize, word: &str) {
        let bare = word.trim_matches(['"', '\'']);
        if bare.contains(char::is_whitespace) {
            return self.text(bare);
        }
        let (flag, value) = bare.split_once('=').unwrap_or((bare, ""));
        let is_flag = flag.starts_with('-') && !flag.bytes().any(|byte| byte.is_ascii_digit());
        let is_plain = |byte: u8| byte.is_ascii_alphabetic() || byte == b'-';
        let is_program = at < PROGRAM_WORDS && (at == 0 || bare.bytes().all(is_plain));
        if is_flag || is_program {
            let form = if is_flag { flag } else { bare };
            self.form = mix(self.form, hash_bytes(form.as_bytes()));
            if is_flag && !value.is_empty() {
                self.names(flag, value);
            }
        } else {
            self.names("", bare);
        }
    }
}

/// A value, but for the parameters of a URL that hold a place in a list or keep a cache from answering.
fn without_places(value: &str) -> impl Iterator<Item = &str> {
    let (page, query) = value.split_once('?').unwrap_or((value, ""));
    let parameters = query.split('&').filter(|parameter| {
        let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
        !name.is_empty() && !PLACES.has(name) && !is_cache_buster(name)
    });
    std::iter::once(page).chain(parameters)
}

/// Whether a text is wording: it has several words, a number being worth two, or stands under the name of a
/// question. A text of several lines is a document, and names itself.
fn is_wording(name: &str, text: &str) -> bool {
    let words = text.split_whitespace();
    let worth = |word: &str| 1 + usize::from(word.bytes().any(|byte| byte.is_ascii_digit()));
    let enough = || {
        let mut sum = 0;
        words.clone().enumerate().any(|(at, word)| {
            sum += worth(word);
            at > 0 && sum >= TEXT_WORDS
        })
    };
    is_question_name(name) || !text.trim_end().contains('\n') && enough()
}

/// The words of a part of a command; what is quoted hangs together.
fn shell_words(part: &str) -> impl Iterator<Item = &str> {
    let mut rest = part;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let mut quotes = Quotes::default();
        let end = rest
            .char_indices()
            .find(|(_, character)| !quotes.hold(*character) && character.is_whitespace())
            .map_or(rest.len(), |(at, _)| at);
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, args: &str) -> Subject {
        let args = JsonValue::parse(args).unwrap();
        let command = match args.get("command") {
            Some(JsonValue::Text(text)) => Some(text.clone().into_owned()),
            _ => None,
        };
        let key = DigestKey::new(&[7; 32]);
        subject(
            &key,
            (None, &Id::new(tool).unwrap()),
            &args,
            command.as_deref(),
            (tool == "Edit").then_some("file_path"),
        )
    }

    #[test]
    fn the_same_asked_of_another_thing_has_the_same_form_and_another_thing() {
        for (tool, one, other) in [
            (
                "http_get",
                r#"{"url":"https://h/1"}"#,
                r#"{"url":"https://h/2"}"#,
            ),
            (
                "Bash",
                r#"{"command":"nc -zv -w 2 10.0.0.1 22"}"#,
                r#"{"command":"nc -zv -w 2 10.0.0.1 23"}"#,
            ),
            (
                "insert",
                r#"{"table":"a","values":{"id":1}}"#,
                r#"{"table":"a","values":{"id":2}}"#,
            ),
            (
                "Edit",
                r#"{"file_path":"a/x.rs","old_string":"one"}"#,
                r#"{"file_path":"b/x.rs","old_string":"one"}"#,
            ),
        ] {
            let (one, other) = (of(tool, one), of(tool, other));
            assert_eq!(one.form, other.form, "{tool}");
            assert_ne!(one.thing, other.thing, "{tool}");
        }
    }

    #[test]
    fn rewording_and_turning_a_page_leave_the_thing_as_it_is() {
        for (tool, one, other) in [
            (
                "send",
                r#"{"to":"a","body":"this is attempt 1"}"#,
                r#"{"to":"a","body":"now attempt number 2"}"#,
            ),
            (
                "Edit",
                r#"{"file_path":"a/x.rs","old_string":"one","new_string":"two"}"#,
                r#"{"file_path":"a/x.rs","old_string":"three","new_string":"four"}"#,
            ),
            ("list", r#"{"page":1,"of":"x"}"#, r#"{"page":2,"of":"x"}"#),
            (
                "Bash",
                r#"{"command":"curl -s 'https://h/list?page=1&of=x'"}"#,
                r#"{"command":"curl -s 'https://h/list?page=2&of=x'"}"#,
            ),
            (
                "Bash",
                r#"{"command":"git commit -m 'trigger ci 1'"}"#,
                r#"{"command":"git commit -m 'trigger ci 2'"}"#,
            ),
        ] {
            let (one, other) = (of(tool, one), of(tool, other));
            assert_eq!((one.form, one.thing), (other.form, other.thing), "{tool}");
        }
    }

    #[test]
    fn a_count_is_kept_apart_from_the_words() {
        let (one, other) = (
            of("think", r#"{"thought":"Still at step 7 of it"}"#),
            of("think", r#"{"thought":"Still at step 8 of it"}"#),
        );
        assert_eq!((one.said, one.count + 1), (other.said, other.count));
    }

    #[test]
    fn a_few_short_values_control_and_texts_and_paths_do_not() {
        assert!(of("set_valve", r#"{"id":3,"state":"open"}"#).controls);
        assert!(!of("edit", r#"{"path":"a/b.rs","text":"x"}"#).controls);
        assert!(!of("say", r#"{"text":"one two three"}"#).controls);
        assert!(!of("Bash", r#"{"command":"rm x"}"#).controls);
    }
}
