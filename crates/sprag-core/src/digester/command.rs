//! What a shell command is for, by the first words of its parts.
//!
//! Not a shell: quotes are respected, here-documents are skipped, and that is all. A line that reads,
//! changes and runs is a run; one that waits is a poll.

use super::words::WordList;
use crate::observation::ToolKind;

/// Words before a command that do not change what it does, those of the shell's loops among them.
const PREFIXES: WordList =
    WordList::new("sudo time nohup env exec command do then else if elif while until ! { (");

/// Commands that leave everything as it is and print nothing of their own.
const SILENT: WordList = WordList::new("cd export set source true : .");

const WAITS: WordList = WordList::new("sleep wait squeue nvidia-smi ps top jobs pgrep watch");

const READS: WordList = WordList::new(
    "cat ls head tail grep egrep rg find wc pwd which file stat tree less more printenv \
     whoami uname id df du strings xxd hexdump objdump readelf nm sed awk diff date \
     hostname type od sort uniq cut jq md5sum sha256sum basename",
);

/// Programs that fetch something; with a method or a body they may change it too.
const FETCHES: WordList = WordList::new("curl wget http https");

/// What makes a fetch more than a look.
const SENDS: WordList = WordList::new(
    "-d --data --data-raw --data-binary -F --form -T --upload-file -X --request --post-data POST PUT PATCH DELETE",
);

const CHANGES: WordList = WordList::new(
    "rm mv cp mkdir touch chmod chown ln tee patch useradd groupadd usermod truncate \
     unzip tar install dd rmdir",
);

const PACKAGERS: WordList = WordList::new("pip pip3 npm yarn apt apt-get yum conda brew cargo");

const PACKAGE_CHANGES: WordList = WordList::new("install add update upgrade remove uninstall");

const GIT_READS: WordList =
    WordList::new("status diff log show branch blame ls-files rev-parse remote");

const GIT_CHANGES: WordList = WordList::new(
    "add commit push checkout reset stash merge rebase apply rm mv clone pull init fetch \
     restore cherry-pick switch",
);

/// How much of a command is read.
const MAX_BYTES: usize = 4096;

/// What `command` is for.
pub(super) fn shell_kind(command: &str) -> ToolKind {
    let command = command
        .get(..command.floor_char_boundary(MAX_BYTES))
        .unwrap_or(command);
    let (mut polls, mut changes, mut reads, mut runs) = (false, false, false, false);
    for part in CommandParts(command) {
        match part_kind(part) {
            Some(ToolKind::Poll) => polls = true,
            Some(ToolKind::Change) => changes = true,
            Some(ToolKind::Read) => reads = true,
            Some(ToolKind::Run) => runs = true,
            None => {}
        }
    }
    if polls && !changes {
        ToolKind::Poll
    } else if runs {
        ToolKind::Run
    } else if changes {
        ToolKind::Change
    } else if reads {
        ToolKind::Read
    } else {
        ToolKind::Run
    }
}

/// The words of each part of `command`, the program by its bare name.
pub(super) fn command_words(command: &str) -> impl Iterator<Item = impl Iterator<Item = &str>> {
    CommandParts(command).map(|part| {
        let mut words = words_of_part(part);
        let program = words.next().and_then(|word| word.rsplit('/').next());
        program.into_iter().chain(words)
    })
}

/// The first program of `command` that does something, with its arguments.
pub(super) fn first_program(command: &str) -> Option<(&str, impl Iterator<Item = &str>)> {
    CommandParts(command).find_map(|part| {
        let mut words = words_of_part(part);
        let program = words.next()?;
        let idle = program.starts_with('#') || SILENT.has(program);
        (!idle).then_some((program, words))
    })
}

/// The words of one part, without what stands before the command.
pub(super) fn words_of_part(part: &str) -> impl Iterator<Item = &str> + Clone {
    part.split_whitespace()
        .skip_while(|word| PREFIXES.has(word) || is_assignment(word))
}

fn part_kind(part: &str) -> Option<ToolKind> {
    let mut words = words_of_part(part);
    let first = words.next()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    let argument = || {
        words
            .clone()
            .find(|word| !word.starts_with('-'))
            .unwrap_or_default()
    };
    if name.starts_with('#') || SILENT.has(name) {
        return None;
    }
    if name == "git" {
        return Some(if GIT_READS.has(argument()) {
            ToolKind::Read
        } else if GIT_CHANGES.has(argument()) {
            ToolKind::Change
        } else {
            ToolKind::Run
        });
    }
    let in_place = name == "sed" && part.contains(" -i");
    let fetches = FETCHES.has(name) && !words.clone().any(|word| SENDS.has(word));
    let prints = READS.has(name) || matches!(name, "echo" | "printf");
    let changes = CHANGES.has(name)
        || prints && (in_place || redirects(part))
        || PACKAGERS.has(name) && PACKAGE_CHANGES.has(argument());
    Some(if WAITS.has(name) {
        ToolKind::Poll
    } else if changes {
        ToolKind::Change
    } else if READS.has(name) || fetches {
        ToolKind::Read
    } else {
        ToolKind::Run
    })
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Whether a part writes to a file, `/dev/null` aside.
fn redirects(part: &str) -> bool {
    let mut quotes = Quotes::default();
    for (at, character) in part.char_indices() {
        if quotes.hold(character) || character != '>' {
            continue;
        }
        let rest = part
            .get(at + 1..)
            .unwrap_or_default()
            .trim_start_matches('>');
        let target = rest.trim_start();
        if !rest.starts_with('&') && !target.starts_with("/dev/null") && !target.is_empty() {
            return true;
        }
    }
    false
}

/// Which quotes are open.
#[derive(Default)]
pub(super) struct Quotes {
    open: Option<char>,
    escaped: bool,
}

impl Quotes {
    /// Whether nothing is expanded here.
    pub(super) fn is_literal(&self) -> bool {
        self.open == Some('\'')
    }

    /// Takes the next character, and returns whether it is quoted or a quote.
    pub(super) fn hold(&mut self, character: char) -> bool {
        if self.escaped {
            self.escaped = false;
            return true;
        }
        if character == '\\' && self.open != Some('\'') {
            self.escaped = true;
            return true;
        }
        match self.open {
            Some(quote) if quote == character => self.open = None,
            None if matches!(character, '"' | '\'') => self.open = Some(character),
            open => return open.is_some(),
        }
        true
    }
}

/// The parts of a command between `;`, `&`, `|` and line ends; what follows `<<` is a document.
pub(super) struct CommandParts<'c>(pub(super) &'c str);

impl<'c> Iterator for CommandParts<'c> {
    type Item = &'c str;

    fn next(&mut self) -> Option<&'c str> {
        if self.0.is_empty() {
            return None;
        }
        let mut quotes = Quotes::default();
        let mut end = self.0.len();
        let mut next = end;
        let mut document = false;
        let mut before = ' ';
        for (at, character) in self.0.char_indices() {
            if quotes.hold(character) {
                before = ' ';
                continue;
            }
            document |= before == '<' && character == '<';
            let joins = character == '&' && before == '>';
            if matches!(character, ';' | '|' | '\n' | '&') && !joins {
                end = at;
                let rest_is_document = document && character == '\n';
                next = if rest_is_document {
                    self.0.len()
                } else {
                    at + 1
                };
                break;
            }
            before = character;
        }
        let part = self.0.get(..end).unwrap_or_default();
        self.0 = self.0.get(next..).unwrap_or_default();
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_apart_by_their_first_words() {
        for (command, kind) in [
            ("cat a.txt", ToolKind::Read),
            ("cd src && ls -la | grep foo", ToolKind::Read),
            ("strings a.out 2>/dev/null | head", ToolKind::Read),
            ("git -C . status", ToolKind::Run),
            ("git status", ToolKind::Read),
            ("git commit -am 'x; rm -rf /'", ToolKind::Change),
            ("mkdir -p /srv/a", ToolKind::Change),
            ("cat > a.py <<EOF\nimport os\nEOF", ToolKind::Change),
            ("echo hi > a.txt", ToolKind::Change),
            ("sed -i s/a/b/ f", ToolKind::Change),
            ("sudo apt-get install -y jq", ToolKind::Change),
            ("sleep 30 && cat log", ToolKind::Poll),
            ("ps aux | grep job", ToolKind::Poll),
            ("python solve.py", ToolKind::Run),
            ("FOO=1 make test 2>&1 | tail -5", ToolKind::Run),
            ("echo attempt 1 && ls", ToolKind::Run),
            ("echo 'a > b'", ToolKind::Run),
            ("", ToolKind::Run),
        ] {
            assert_eq!(shell_kind(command), kind, "{command}");
        }
    }
}
