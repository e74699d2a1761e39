//! Volatile noise in texts: what changes from run to run without being news.
//!
//! A loop whose answer carries a time stamp is still a loop. So before two answers of one call are
//! compared, points in time, spans of time, random ids, process numbers, addresses and names of
//! temporary files are replaced by a mark. What is left decides: a changed percentage, count, state
//! or line is news.
//!
//! One pass over the text, no backtracking: at the start of each word a few patterns are tried, each
//! of which reads no further than the word or a few characters on. Of a text over 80 KiB only the
//! first 64 KiB, the last 16 KiB and the length are looked at.
//!
//! Odd cases: a short text of which a third are spans of time is a measurement, and they are its news; plain decimal numbers are never noise, unless they are a time since the epoch or
//! stand after a word that says so (`pid 4711`); a hexadecimal word is noise from 12 digits on if it
//! has letters and digits; of an address, from 5 digits on, only the place in its page is kept.

mod request;

use super::noise_words::{is_asked, is_month, is_signal, is_unit, is_volatile_name, is_weekday};

/// What stands for noise.
const MARK: char = '\u{1}';

const HEAD_BYTES: usize = 64 * 1024;
const TAIL_BYTES: usize = 16 * 1024;

/// An address has at least so many digits, the last of which are the place in its page.
const ADDRESS_DIGITS: usize = 5;
const PAGE_DIGITS: usize = 3;

/// How many names of a path are looked at.
const PATH_PARTS: usize = 8;

/// A longer text is more than a measurement.
const MEASUREMENT_BYTES: usize = 600;

/// Appends `text` to `out` with volatile noise replaced.
pub(crate) fn normalise(text: &str, out: &mut String) {
    if text.len() <= MEASUREMENT_BYTES && is_measurement(text) {
        return out.push_str(text);
    }
    if text.len() <= HEAD_BYTES + TAIL_BYTES {
        return Scanner::new(text).run(out);
    }
    let head = text.floor_char_boundary(HEAD_BYTES);
    let tail = text.ceil_char_boundary(text.len() - TAIL_BYTES);
    Scanner::new(text.get(..head).unwrap_or_default()).run(out);
    out.push(MARK);
    out.push_str(&text.len().to_string());
    Scanner::new(text.get(tail..).unwrap_or_default()).run(out);
}

/// Whether spans of time are what a short text says, as that of a benchmark: two or more, and a third of its
/// words.
fn is_measurement(text: &str) -> bool {
    let (mut words, mut spans) = (0, 0);
    for word in text.split_whitespace() {
        words += 1;
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        spans += usize::from(is_unit(unit));
    }
    spans >= 2 && spans * 3 >= words
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// What was not yet appended starts here.
    from: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            from: 0,
        }
    }

    fn run(mut self, out: &mut String) {
        while let Some(byte) = self.byte(self.at) {
            let (noise, end) = match byte {
                b'0'..=b'9' => (self.of_digits(), self.word_end(self.at)),
                b'a'..=b'z' | b'A'..=b'Z' => {
                    let end = self.word_end(self.at);
                    (self.of_letters(end, out), end)
                }
                b'/' => (self.of_path(), self.at + 1),
                _ => (None, self.at + 1),
            };
            match noise {
                Some(end) => self.replace(end, out),
                None => self.at = end,
            }
        }
        self.flush(self.bytes.len(), out);
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn flush(&mut self, to: usize, out: &mut String) {
        out.push_str(self.text.get(self.from..to).unwrap_or_default());
        self.from = to;
    }

    fn replace(&mut self, end: usize, out: &mut String) {
        self.flush(self.at, out);
        out.push(MARK);
        self.at = end.max(self.at + 1);
        self.from = self.at;
    }

    /// The first offset from `at` on that is not a `wanted` byte.
    fn end_of(&self, at: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest
            .iter()
            .position(|byte| !wanted(*byte))
            .unwrap_or(rest.len())
    }

    fn digits_end(&self, at: usize) -> usize {
        self.end_of(at, |byte| byte.is_ascii_digit())
    }

    fn spaces_end(&self, at: usize) -> usize {
        self.end_of(at, |byte| byte == b' ')
    }

    /// Letters, digits and underscores; other alphabets are letters too.
    fn word_end(&self, at: usize) -> usize {
        self.end_of(at, is_word)
    }

    fn word(&self, at: usize) -> &'t str {
        self.text.get(at..self.word_end(at)).unwrap_or_default()
    }

    /// `count` digits exactly at `at`: the place after them.
    fn exactly(&self, at: usize, count: usize) -> Option<usize> {
        (self.digits_end(at) == at + count).then_some(at + count)
    }

    fn of_digits(&self) -> Option<usize> {
        self.date()
            .or_else(|| self.clock(self.at))
            .or_else(|| self.address())
            .or_else(|| self.random_word())
            .or_else(|| self.epoch())
            .or_else(|| self.process_of_shell())
            .or_else(|| self.duration())
    }

    /// Of the word up to `end`. Each pattern is tried only if the word's length allows it.
    fn of_letters(&mut self, end: usize, out: &mut String) -> Option<usize> {
        let noise = match end - self.at {
            2 => self.prompt(end),
            3 => self.prompt(end).or_else(|| self.named_day()),
            8 | 12.. => self.random_word(),
            _ => None,
        };
        if noise.is_some() {
            return noise;
        }
        let value = self.volatile_value(end)?;
        self.flush(value, out);
        self.at = value;
        let end = self.end_of(value, |byte| is_word(byte) || matches!(byte, b'.' | b'-'));
        Some(self.date().map_or(end, |date| date.max(end)))
    }

    /// `2026-03-01`, `2026/03/01`, and what follows of `T10:00:00.5Z`.
    fn date(&self) -> Option<usize> {
        let mut end = self.exactly(self.at, 4)?;
        let between = self.byte(end).filter(|byte| matches!(byte, b'-' | b'/'))?;
        end = self.exactly(end + 1, 2)?;
        if self.byte(end) != Some(between) {
            return None;
        }
        end = self.exactly(end + 1, 2).or_else(|| {
            let day = end + 3;
            (self.digits_end(end + 1) == day && self.byte(day) == Some(b'T')).then_some(day)
        })?;
        if matches!(self.byte(end), Some(b'T' | b' ' | b't')) {
            end = self.clock(end + 1).unwrap_or(end);
        }
        Some(end)
    }

    /// `9:30`, `10:00:00`, `10:00:00.123+02:00`, `10:00 PM`; not the place in `a.rs:12:30`.
    fn clock(&self, at: usize) -> Option<usize> {
        let hours = self.digits_end(at);
        let place = at.checked_sub(1).and_then(|before| self.byte(before)) == Some(b':');
        if place || !(1..=2).contains(&(hours - at)) || self.byte(hours) != Some(b':') {
            return None;
        }
        let mut end = self.exactly(hours + 1, 2)?;
        if self.byte(end) == Some(b':') {
            end = self.exactly(end + 1, 2)?;
        }
        let fraction = self.digits_end(end + 1);
        if matches!(self.byte(end), Some(b'.' | b',')) && fraction > end + 1 {
            end = fraction;
        }
        match self.byte(end) {
            Some(b'Z') => end += 1,
            Some(b'+' | b'-') => {
                let zone = self.end_of(end + 1, |byte| byte.is_ascii_digit() || byte == b':');
                if (3..=6).contains(&(zone - end)) {
                    end = zone;
                }
            }
            Some(byte) if is_word(byte) || byte == b':' => return None,
            _ => {}
        }
        let half = self.byte(end).map_or(end, |_| self.spaces_end(end));
        if matches!(self.word(half), "AM" | "PM" | "am" | "pm") {
            end = half + 2;
        }
        Some(end)
    }

    /// `0x7ffc1a2b3c4d`, but for its last three digits: within its page a place stays the same.
    fn address(&self) -> Option<usize> {
        let digits = self.word(self.at).strip_prefix("0x")?;
        let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let significant = digits.trim_start_matches('0').len();
        (hexadecimal && significant >= ADDRESS_DIGITS).then(|| self.word_end(self.at) - PAGE_DIGITS)
    }

    /// A uuid, or 12 and more hexadecimal digits with letters among them.
    fn random_word(&self) -> Option<usize> {
        let end = self.end_of(self.at, |byte| byte.is_ascii_hexdigit());
        if end - self.at == 8 && self.byte(end) == Some(b'-') {
            return self.uuid(end);
        }
        let word = self.bytes.get(self.at..end)?;
        let random = word.len() >= 12
            && !self.byte(end).is_some_and(is_word)
            && word.iter().any(u8::is_ascii_digit)
            && word.iter().any(u8::is_ascii_alphabetic);
        random.then_some(end)
    }

    fn uuid(&self, first: usize) -> Option<usize> {
        let mut end = first;
        for count in [4, 4, 4, 12] {
            let from = end + 1;
            if self.byte(end) != Some(b'-') {
                return None;
            }
            end = self.end_of(from, |byte| byte.is_ascii_hexdigit());
            if end - from != count {
                return None;
            }
        }
        (!self.byte(end).is_some_and(is_word)).then_some(end)
    }

    /// Seconds, milliseconds or microseconds since 1970, from 2017 to 2036.
    fn epoch(&self) -> Option<usize> {
        let end = self.digits_end(self.at);
        let number = self.text.get(self.at..end)?;
        let seconds: u64 = number.get(..10)?.parse().ok()?;
        let whole = matches!(number.len(), 10 | 13 | 16) && !self.byte(end).is_some_and(is_word);
        if !whole || !(1_500_000_000..2_100_000_000).contains(&seconds) {
            return None;
        }
        let fraction = self.digits_end(end + 1);
        let fractional = self.byte(end) == Some(b'.') && fraction > end + 1;
        Some(if fractional { fraction } else { end })
    }

    /// The process in the shell's own message: `a.sh: line 17: 1729 Killed`, `4711 Aborted`.
    fn process_of_shell(&self) -> Option<usize> {
        let end = self.digits_end(self.at);
        let word = self.word(self.spaces_end(end));
        (self.byte(end) == Some(b' ') && is_signal(word)).then_some(end)
    }

    /// `12 ms`, `0.0024 seconds`, `1m30s`, `0m0.003s`.
    fn duration(&self) -> Option<usize> {
        let mut end = self.digits_end(self.at);
        while matches!(self.byte(end), Some(b'm' | b'h'))
            && self.byte(end + 1).is_some_and(|byte| byte.is_ascii_digit())
        {
            end = self.digits_end(end + 1);
        }
        if self.byte(end) == Some(b'.') && self.byte(end + 1)?.is_ascii_digit() {
            end = self.digits_end(end + 1);
        }
        let unit = if self.byte(end) == Some(b' ') {
            end + 1
        } else {
            end
        };
        let name = self.word(unit);
        is_unit(name).then_some(unit + name.len())
    }

    /// `Tue Nov 14`, `Nov 14, 2023`, `Sep  3`: the clock that follows is found by itself.
    fn named_day(&self) -> Option<usize> {
        let mut at = self.at;
        if is_weekday(self.word(at)) {
            at = self.word_end(at);
            at = self.spaces_end(if self.byte(at) == Some(b',') {
                at + 1
            } else {
                at
            });
        }
        if !is_month(self.word(at)) {
            return None;
        }
        let day = self.spaces_end(self.word_end(at));
        let end = self.digits_end(day);
        if !(1..=2).contains(&(end - day)) || day == self.word_end(at) {
            return None;
        }
        let year = self.spaces_end(if self.byte(end) == Some(b',') {
            end + 1
        } else {
            end
        });
        let dated = year > end
            && self
                .exactly(year, 4)
                .is_some_and(|end| !self.byte(end).is_some_and(is_word));
        Some(if dated { year + 4 } else { end })
    }

    /// Where the value after a word like `pid` or `request_id`, which ends at `name_end`, begins.
    fn volatile_value(&self, name_end: usize) -> Option<usize> {
        let name = self.text.get(self.at..name_end)?;
        let mut at = name_end;
        if is_asked(name) {
            return self.request_value(name_end);
        }
        let follows = |text| {
            self.bytes
                .get(..self.at)
                .is_some_and(|before| before.ends_with(text))
        };
        let is_of_the_run = match name {
            "line" => follows(b"sh: ".as_slice()),
            "Id" | "id" | "ID" => follows(b"rocess ".as_slice()),
            _ => is_volatile_name(name),
        };
        if !is_of_the_run {
            return None;
        }
        let quote = |byte| matches!(byte, b'"' | b'\'' | b'\\');
        at = self.spaces_end(self.end_of(at, quote));
        if matches!(self.byte(at), Some(b':' | b'=')) {
            at = self.spaces_end(at + 1);
        }
        at = self.end_of(at, quote);
        let value = self.end_of(at, |byte| is_word(byte) || matches!(byte, b'.' | b'-'));
        let numbered = self.bytes.get(at..value)?.iter().any(u8::is_ascii_digit);
        numbered.then_some(at)
    }

    /// `/tmp/tmpa8f3`, `/var/folders/x1`: noise down to the last name that looks made up.
    fn of_path(&mut self) -> Option<usize> {
        let rest = self.text.get(self.at..)?;
        let below = ["/tmp/", "/var/tmp/", "/var/folders/"]
            .into_iter()
            .find(|prefix| rest.starts_with(prefix))?
            .len();
        let path = self.at + below;
        let end = self.end_of(path, |byte| {
            is_word(byte) || matches!(byte, b'-' | b'.' | b'/')
        });
        let mut at = path;
        let mut last_made_up = None;
        for name in self.text.get(path..end)?.split('/').take(PATH_PARTS) {
            at += name.len();
            if name.starts_with("tmp") || name.bytes().any(|byte| byte.is_ascii_digit()) {
                last_made_up = Some(at);
            }
            at += 1;
        }
        last_made_up
    }
}

fn is_word(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        let mut out = String::new();
        normalise(text, &mut out);
        out.replace(MARK, "#")
    }

    #[test]
    fn what_changes_from_run_to_run_is_marked() {
        for (text, without) in [
            ("at 2026-03-01T10:00:00Z", "at #"),
            ("at 2026-03-01 10:00:00.123+02:00,", "at #,"),
            ("2026/03/01 done", "# done"),
            ("Tue Nov 14 13:30:08 UTC 2023", "# # UTC 2023"),
            ("Sep  3 05:43 a.txt", "# # a.txt"),
            ("10:07 PM", "#"),
            (
                "built a, b and c for you in 1.5 s, 12ms, 1m30s",
                "built a, b and c for you in #, #, #",
            ),
            ("Wall time: 0.0024 seconds", "Wall time: #"),
            ("real\t0m0.003s", "real\t#"),
            ("id 6fa459ea-ee8a-3ca4-894e-db77e160355e.", "id #."),
            ("commit 9e3779b19e37 ok", "commit # ok"),
            ("<object at 0x7f43050d7290>", "<object at #290>"),
            ("rip 0x401136", "rip #136"),
            ("a.sh: line 1709: 1729 Killed", "a.sh: line #: # Killed"),
            ("/tmp/pytest-of-u/pytest-7/x0/a", "#/a"),
            ("listening on port 54321", "listening on port #"),
            ("Randomized with seed 4711", "Randomized with seed #"),
            ("Process Group PGID: 22418", "Process Group PGID: #"),
            ("<shellId: 0>", "<shellId: #>"),
            ("ended (process Id: 4711)", "ended (process Id: #)"),
            ("Out[12]: (104, 14)", "#]: (104, 14)"),
            ("In [3]: df.head()", "#]: df.head()"),
            ("stale, req=5813", "stale, req=#"),
            ("app failed. (request 1a2b3c4d)", "app failed. (request #)"),
            (
                "{\"request_id\":\"ab-12\",\"n\":3}",
                "{\"request_id\":\"#\",\"n\":3}",
            ),
            ("\"duration_ms\": 1234", "\"duration_ms\": #"),
            ("checked at 1760000123", "checked at #"),
            ("/tmp/tmpa8f3/x.py", "#/x.py"),
            (
                "/bin/bash: line 62215: javac: command not found",
                "/bin/bash: line #: javac: command not found",
            ),
        ] {
            assert_eq!(normal(text), without);
        }
    }

    #[test]
    fn what_is_news_stays() {
        for text in [
            "running 42%",
            "20 failed, 0 passed",
            "src/a.rs:12:30: error",
            "line 12: syntax error",
            "/tmp/solve.py",
            "0x401a in main",
            "123456789012345",
            "deadbeef",
            "request 12 of 40",
            "In [a room]",
            "state: queued",
            "mean 412 us, stddev 33 us",
            "time: [4.10 ms 4.12 ms 4.15 ms]",
            "v1.2.3, 5 items",
            "größe: 7 µm",
            "",
        ] {
            assert_eq!(normal(text), text);
        }
    }

    #[test]
    fn of_a_long_text_both_ends_and_the_length_count() {
        let long = |end: &str, len: usize| normal(&format!("start{}{end}", "x".repeat(len)));
        assert_eq!(long("end", 100_000), long("end", 100_000));
        assert_ne!(long("end", 100_000), long("and", 100_000));
        assert_ne!(long("end", 100_000), long("end", 100_001));
        assert!(long("end", 10_000_000).len() < 100_000);
    }
}
