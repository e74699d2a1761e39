//! Where a hook stopped reading a client's transcript, and what is new since.
//!
//! A small file beside the store, one for each transcript, holds the place and the answers counted last.
//! It is locked while a hook reads and reports; a hook that finds it locked leaves the part to the other one,
//! so nothing is counted twice and nobody waits.
//!
//! What stood in a transcript when it was first seen was spent before: a session that is resumed, or
//! that was running when Sprag was installed, starts at zero. Times tell that too, because a client
//! may copy an old conversation into a new file. A transcript that was cut or replaced is read again from its
//! start, and what is not newer than the last answer counted is left out.
//!
//! Bounded by: [`MAX_TAIL`] bytes a look (the next one goes on), [`LOOKS`], [`MAX_SUB_AGENTS`], [`MAX_SEEN`]
//! answers, and files that nobody used for a month are removed.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sprag::Timestamp;
use sprag_core::{DigestKey, Tokens};
use sprag_hooks::{Client, SpendReader, SpendSource, SpentLine, TranscriptLine, spent_in};

use super::transcript_file::{identity, open_transcript};

/// How much of a transcript is read by one hook.
const MAX_TAIL: u64 = 4 * 1024 * 1024;
/// How many answers are remembered, because more lines about them may follow.
const MAX_SEEN: usize = 128;
/// The longest remembered key, in characters.
const MAX_KEY: usize = 128;
/// The most bytes of a place that are read.
const MAX_PLACE: u64 = 256 * 1024;
/// An unknown answer that is older than the newest by this much is history written again.
const STALE_MS: u64 = 10 * 60 * 1000;
/// Places that nobody used for this long are removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// So many transcripts of sub-agents are followed in a session.
const MAX_SUB_AGENTS: usize = 64;
/// The most places that are looked at for removal.
const MAX_LOOKED_AT: usize = 1000;
/// Claude Code and Copilot CLI write an answer some tenths of a second after it was given. At the end of a turn no later hook would
/// see it, so the last one looks again so many times, with a pause in between.
const LOOKS: u32 = 25;
const PAUSE: Duration = Duration::from_millis(20);

/// The transcripts of one machine, with the places in them.
#[derive(Debug)]
pub(super) struct TranscriptTails {
    /// Where the places are kept.
    folder: PathBuf,
    /// Where Copilot CLI keeps its sessions: its hooks don't name their transcript.
    copilot: Option<PathBuf>,
    now: Timestamp,
    open: RefCell<Vec<(File, Place)>>,
}

/// How far a transcript was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Place {
    /// What was spent before this time is not counted, in milliseconds.
    since: u64,
    offset: u64,
    /// The file's number, to notice that it was replaced.
    file: u64,
    /// In the middle of a line that is too long.
    in_line: bool,
    /// The time of the newest answer counted.
    newest: u64,
    model: Option<String>,
    /// The client writes records, so copies of them don't count.
    has_records: bool,
    /// An answer is due: what was read last is what the model was asked.
    awaits: bool,
    seen: Vec<SeenSpend>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SeenSpend {
    key: String,
    used: [u64; 4],
}

impl TranscriptTails {
    /// Keeps places beside the store `db`.
    pub(super) fn new(db: &Path, copilot: Option<PathBuf>, now: Timestamp) -> Option<Self> {
        Some(Self {
            folder: db.parent()?.join("spend"),
            copilot,
            now,
            open: RefCell::default(),
        })
    }

    fn transcript(&self, source: &SpendSource) -> Option<PathBuf> {
        if let Some(named) = &source.transcript {
            return Some(PathBuf::from(named)).filter(|path| path.is_absolute());
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_name = !source.session.is_empty() && source.session.chars().all(plain);
        let home = self.copilot.as_ref();
        let home = home.filter(|_| source.client == Client::Copilot && is_name)?;
        let session = home.join("session-state").join(&source.session);
        Some(session.join("events.jsonl"))
    }

    fn place_file(&self, transcript: &Path) -> PathBuf {
        let name = transcript.to_string_lossy();
        let digest = DigestKey::fixed().digest(&[b"transcript\n", name.as_bytes()]);
        self.folder.join(format!("{digest}.json"))
    }

    /// Locks the place of a transcript; none if another hook has it.
    fn lock(&self, transcript: &Path) -> Option<(File, Option<Place>)> {
        let path = self.place_file(transcript);
        sprag::make_private_folder(&path).ok()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let mut file = options.open(path).ok()?;
        file.try_lock().ok()?;
        let mut text = String::new();
        Read::by_ref(&mut file)
            .take(MAX_PLACE)
            .read_to_string(&mut text)
            .ok()?;
        Some((file, serde_json::from_str(&text).ok()))
    }

    /// A place in a transcript that is seen for the first time. A sub-agent's transcript is as new as the
    /// sub-agent, if its session was followed before.
    fn first(&self, source: &SpendSource, length: u64) -> Place {
        let of_session = source.of_session.as_deref().map(Path::new);
        let followed = of_session.and_then(|path| {
            let text = fs::read_to_string(self.place_file(path)).ok()?;
            let place: Place = serde_json::from_str(&text).ok()?;
            Some(place.since)
        });
        Place {
            since: followed.unwrap_or(self.now.0),
            offset: if followed.is_some() { 0 } else { length },
            ..Place::default()
        }
    }

    fn remove_old(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries.take(MAX_LOOKED_AT) {
            let modified = entry.metadata().and_then(|about| about.modified());
            let age = modified.ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > KEPT) {
                // Somebody else may have removed it.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn new_lines(&self, source: &SpendSource) -> Option<Vec<SpentLine>> {
        let path = self.transcript(source)?;
        let opened = open_transcript(&path);
        let (number, length) = opened.as_ref().map_or((0, 0), |(_, about)| identity(about));
        // A client names its transcript before it exists.
        if opened.is_none() && (!source.starts || path.symlink_metadata().is_ok()) {
            return None;
        }
        let (held, place) = self.lock(&path)?;
        let mut place = place.unwrap_or_else(|| self.first(source, length));
        place.find_again(number, length);
        let mut lines = Vec::new();
        if let Some((mut file, _)) = opened {
            let looks = if source.ends { LOOKS } else { 1 };
            let pause = || std::thread::park_timeout(PAUSE);
            lines = place.read_on(&mut file, source.client, looks, pause)?;
        }
        self.open.borrow_mut().push((held, place));
        Some(lines)
    }

    /// Gemini CLI keeps the transcripts of a session's sub-agents in a folder beside the session's own, and no hook
    /// names them.
    fn sub_agents(source: &SpendSource) -> Vec<SpendSource> {
        let main = source.transcript.as_ref().map(Path::new);
        let is_plain = Path::new(&source.session).file_name() == Some(source.session.as_ref());
        let main =
            main.filter(|main| source.client == Client::Gemini && is_plain && main.is_absolute());
        let folder = main
            .and_then(Path::parent)
            .map(|place| place.join(&source.session));
        let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
        let files = entries.into_iter().flatten().flatten();
        let files = files.map(|entry| entry.path());
        let files = files.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
        let of_file = |path: PathBuf| SpendSource {
            transcript: path.to_str().map(str::to_owned),
            of_session: source.transcript.clone(),
            starts: false,
            ends: false,
            ..source.clone()
        };
        files.take(MAX_SUB_AGENTS).map(of_file).collect()
    }
}

impl SpendReader for TranscriptTails {
    fn read(&self, source: &SpendSource) -> Vec<SpentLine> {
        if source.starts {
            self.remove_old();
        }
        let mut lines = self.new_lines(source).unwrap_or_default();
        for sub_agent in Self::sub_agents(source) {
            lines.extend(self.new_lines(&sub_agent).unwrap_or_default());
        }
        lines
    }

    fn keep(&self) {
        for (mut file, place) in self.open.take() {
            let Ok(text) = serde_json::to_string(&place) else {
                continue;
            };
            // A place that was lost on the way is found again at the transcript's end.
            let _ = file
                .seek(SeekFrom::Start(0))
                .and_then(|_| file.set_len(0))
                .and_then(|()| file.write_all(text.as_bytes()));
        }
    }
}

impl Place {
    /// Goes back to the start of a file that was cut or replaced.
    fn find_again(&mut self, file: u64, length: u64) {
        let is_other = self.file != 0 && file != 0 && self.file != file;
        if is_other || length < self.offset {
            self.offset = 0;
            self.in_line = false;
            self.since = self.since.max(self.newest.saturating_add(1));
        }
        self.file = file;
    }

    /// What is new in a transcript, or the first part of it. While an answer is due, it looks up to `looks` times.
    fn read_on(
        &mut self,
        file: &mut File,
        client: Client,
        looks: u32,
        pause: impl Fn(),
    ) -> Option<Vec<SpentLine>> {
        let mut lines = Vec::new();
        for look in 0..looks {
            if look > 0 {
                pause();
            }
            file.seek(SeekFrom::Start(self.offset)).ok()?;
            let mut bytes = Vec::new();
            file.take(MAX_TAIL).read_to_end(&mut bytes).ok()?;
            lines.extend(self.take(client, &bytes));
            if !self.awaits {
                break;
            }
        }
        Some(lines)
    }

    /// What the whole lines in `bytes` say, which stand at the place; the place moves behind them.
    fn take(&mut self, client: Client, bytes: &[u8]) -> Vec<SpentLine> {
        let length = |part: &[u8]| u64::try_from(part.len()).unwrap_or(u64::MAX);
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            if length(bytes) >= MAX_TAIL {
                self.offset = self.offset.saturating_add(length(bytes));
                self.in_line = true;
            }
            return Vec::new();
        };
        let whole = bytes.get(..=end).unwrap_or_default();
        self.offset = self.offset.saturating_add(length(whole));
        let skipped = usize::from(std::mem::take(&mut self.in_line));
        let lines = whole.split(|byte| *byte == b'\n').skip(skipped);
        let mut found = Vec::new();
        for line in lines {
            match spent_in(client, &String::from_utf8_lossy(line)) {
                Some(TranscriptLine::Model(model)) => self.model = Some(model),
                Some(TranscriptLine::Asked) => self.awaits = true,
                Some(TranscriptLine::Spent(spent)) => {
                    self.awaits = false;
                    found.extend(self.count(spent));
                }
                None => {}
            }
        }
        found
    }

    /// What `line` adds to what was counted.
    fn count(&mut self, mut line: SpentLine) -> Option<SpentLine> {
        if line.is_copy && self.has_records {
            return None;
        }
        self.has_records |= !line.is_copy;
        line.model = line.model.take().or_else(|| self.model.clone());
        line.key = line.key.chars().take(MAX_KEY).collect();
        let used = as_list(line.tokens);
        if let Some(seen) = self.seen.iter_mut().find(|seen| seen.key == line.key) {
            let mut more = [0; 4];
            for ((more, old), new) in more.iter_mut().zip(&mut seen.used).zip(used) {
                *more = new.saturating_sub(*old);
                *old = new.max(*old);
            }
            line.tokens = as_tokens(more);
            return Some(line).filter(|_| more != [0; 4]);
        }
        let at = line.at.map_or(self.newest, |at| at.0);
        let is_old = at < self.since && line.at.is_some();
        if is_old || at.saturating_add(STALE_MS) < self.newest {
            return None;
        }
        self.newest = self.newest.max(at);
        if self.seen.len() >= MAX_SEEN {
            self.seen.remove(0);
        }
        let key = line.key.clone();
        self.seen.push(SeenSpend { key, used });
        Some(line)
    }
}

fn as_list(tokens: Tokens) -> [u64; 4] {
    [
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write,
    ]
}

fn as_tokens([input, output, cache_read, cache_write]: [u64; 4]) -> Tokens {
    Tokens {
        input,
        output,
        cache_read,
        cache_write,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claude(id: &str, second: u32, output: u64) -> String {
        let line = serde_json::json!({
            "type": "assistant", "timestamp": format!("2026-11-17T10:00:{second:02}.000Z"),
            "message": {"id": id, "model": "claude-opus-5", "usage": {
                "input_tokens": 2, "output_tokens": output, "cache_read_input_tokens": 1000}},
        });
        format!("{line}\n")
    }

    fn output(lines: &[SpentLine]) -> u64 {
        lines.iter().map(|line| line.tokens.output).sum()
    }

    #[test]
    fn an_answer_of_several_lines_counts_once_and_as_its_last_line_says() {
        let mut place = Place::default();
        let text = claude("m1", 1, 1) + &claude("m1", 1, 5) + &claude("m1", 2, 5);
        let lines = place.take(Client::Claude, text.as_bytes());
        assert_eq!(output(&lines), 5);
        assert_eq!(
            lines.iter().map(|line| line.tokens.cache_read).sum::<u64>(),
            1000
        );
        // The rest of the answer comes with the next hook.
        let more = place.take(Client::Claude, claude("m1", 2, 7).as_bytes());
        assert_eq!(output(&more), 2);
    }

    #[test]
    fn the_last_answer_of_a_turn_was_missing_because_it_is_written_a_moment_later() {
        const ASKED: &str = r#"{"type":"user","message":{"role":"user","content":"a result"}}"#;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s1.jsonl");
        let write = |text: &str| {
            let mut file = File::options().append(true).create(true).open(&path);
            file.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
        };
        write(&(claude("m1", 1, 5) + ASKED + "\n"));
        let pauses = std::cell::Cell::new(0);
        let pause = || {
            pauses.set(pauses.get() + 1);
            if pauses.get() == 3 {
                write(&claude("m2", 2, 7));
            }
        };
        let mut place = Place::default();
        let mut file = File::open(&path).unwrap();
        let lines = place.read_on(&mut file, Client::Claude, LOOKS, pause);
        assert_eq!((output(&lines.unwrap()), pauses.get()), (12, 3));
        // Nothing is due: nobody waits, and an answer that never comes is waited for only so long.
        let mut look = || {
            pauses.set(10);
            let lines = place.read_on(&mut file, Client::Claude, LOOKS, pause);
            (lines.unwrap().len(), pauses.get() - 10)
        };
        assert_eq!(look(), (0, 0));
        write(&format!("{ASKED}\n"));
        assert_eq!(look(), (0, LOOKS - 1));
    }

    #[test]
    fn half_a_line_waits_for_its_end() {
        let mut place = Place::default();
        let text = claude("m1", 1, 5) + &claude("m2", 2, 6);
        let (first, _) = text.split_at(text.len() - 10);
        assert_eq!(output(&place.take(Client::Claude, first.as_bytes())), 5);
        let rest = text.get(usize::try_from(place.offset).unwrap()..).unwrap();
        assert_eq!(output(&place.take(Client::Claude, rest.as_bytes())), 6);
    }

    #[test]
    fn what_was_spent_before_the_session_was_followed_does_not_count() {
        let mut place = Place {
            since: sprag_hooks::parse_time("2026-11-17T10:00:10.000Z")
                .unwrap()
                .0,
            ..Place::default()
        };
        let text = claude("old", 9, 5) + &claude("new", 10, 6);
        assert_eq!(output(&place.take(Client::Claude, text.as_bytes())), 6);
    }

    #[test]
    fn a_file_that_was_replaced_counts_only_what_is_newer() {
        let mut place = Place::default();
        place.find_again(7, 1000);
        place.take(
            Client::Claude,
            (claude("m1", 1, 5) + &claude("m2", 2, 5)).as_bytes(),
        );
        place.find_again(8, 10_000);
        assert_eq!(place.offset, 0);
        let text = claude("m1", 1, 5) + &claude("m2", 2, 5) + &claude("m3", 3, 9);
        assert_eq!(output(&place.take(Client::Claude, text.as_bytes())), 9);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let mut place = Place::default();
        let long = vec![b'x'; usize::try_from(MAX_TAIL).unwrap()];
        assert_eq!(place.take(Client::Claude, &long), []);
        assert_eq!(place.offset, MAX_TAIL);
        let text = format!("xxx\n{}", claude("m1", 1, 5));
        assert_eq!(output(&place.take(Client::Claude, text.as_bytes())), 5);
    }

    #[test]
    fn history_that_is_written_again_does_not_count_again() {
        let mut place = Place::default();
        let line = |n: u32| {
            let line = serde_json::json!({
                "id": format!("g{n}"), "type": "gemini", "model": "gemini-2.5-pro",
                "timestamp": format!("2026-11-17T{:02}:{:02}:00.000Z", 1 + n / 60, n % 60),
                "tokens": {"input": 10, "output": 3, "cached": 4, "thoughts": 2, "tool": 0},
            });
            format!("{line}\n")
        };
        let all: String = (0..600).map(line).collect();
        assert_eq!(output(&place.take(Client::Gemini, all.as_bytes())), 600 * 5);
        assert_eq!(place.take(Client::Gemini, all.as_bytes()), []);
        assert!(place.seen.len() <= MAX_SEEN);
    }

    #[test]
    fn codex_counts_records_and_not_their_copies_on_the_screen() {
        let usage = r#"{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7}"#;
        let record = format!(
            "{{\"type\":\"token_usage_record\",\"payload\":{{\"response_id\":\"r1\",\"usage\":{usage}}}}}\n"
        );
        let count = format!(
            "{{\"type\":\"event_msg\",\"payload\":{{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{usage},\"last_token_usage\":{usage}}}}}}}\n"
        );
        let model = "{\"type\":\"turn_context\",\"payload\":{\"model\":\"gpt-5.4\"}}\n";
        let mut place = Place::default();
        let text = format!("{model}{record}{count}{count}");
        let [line] = &place.take(Client::Codex, text.as_bytes())[..] else {
            panic!("one answer");
        };
        assert_eq!(line.model.as_deref(), Some("gpt-5.4"));
        assert_eq!(as_list(line.tokens), [40, 7, 60, 0]);
        // Older versions have no records; what they repeat on the screen is one answer.
        let mut older = Place::default();
        let text = format!("{count}{count}");
        assert_eq!(older.take(Client::Codex, text.as_bytes()).len(), 1);
    }
}
