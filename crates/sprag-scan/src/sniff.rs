//! What a file is, by what it holds.
//!
//! A name says little: transcripts get copied, renamed and mailed around. The first few lines or keys say enough, since every
//! format has words that no other has.

use serde::Deserialize;
use serde::de::IgnoredAny;
use sprag_hooks::Client;

use crate::transcript_source::TranscriptSource;

/// How much of a file is looked at.
pub(crate) const SNIFFED_BYTES: usize = 64 * 1024;
/// How a database of SQLite starts.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// How the pieces of a file stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TranscriptFormat {
    /// One a line.
    Lines,
    /// In one array.
    Array,
    /// In tables.
    Database,
}

/// The words by which formats are told apart; their values do not matter.
#[derive(Debug, Default, Deserialize)]
struct KnownWords<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a str>,
    #[serde(rename = "sessionId")]
    session_id: Option<IgnoredAny>,
    #[serde(rename = "projectHash")]
    project_hash: Option<IgnoredAny>,
    #[serde(rename = "startTime")]
    start_time: Option<IgnoredAny>,
    #[serde(rename = "$set")]
    set: Option<IgnoredAny>,
    #[serde(rename = "parentUuid")]
    parent_uuid: Option<IgnoredAny>,
    payload: Option<IgnoredAny>,
    data: Option<IgnoredAny>,
    timestamp: Option<IgnoredAny>,
    session: Option<IgnoredAny>,
    to: Option<IgnoredAny>,
    role: Option<IgnoredAny>,
    messages: Option<IgnoredAny>,
    content: Option<IgnoredAny>,
}

/// Who wrote what starts with `start`, and how it stands there; none where it is nothing that is known.
pub(crate) fn sniff(start: &[u8]) -> Option<(TranscriptSource, TranscriptFormat)> {
    if start.starts_with(SQLITE) {
        return Some((
            TranscriptSource::Client(Client::Opencode),
            TranscriptFormat::Database,
        ));
    }
    let text = start.trim_ascii_start();
    // An array stands on lines of its own, and each of them may look like a record.
    if text.starts_with(b"[") {
        return document(text);
    }
    let lines = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    let by_line = lines.take(20).find_map(|line| of_line(line.trim_ascii()));
    by_line
        .map(|source| (source, TranscriptFormat::Lines))
        .or_else(|| document(text))
}

fn of_line(line: &[u8]) -> Option<TranscriptSource> {
    let words: KnownWords<'_> = serde_json::from_slice(line).ok()?;
    let kind = words.kind.unwrap_or_default();
    let client = if words.payload.is_some() && words.timestamp.is_some() {
        Client::Codex
    } else if words.data.is_some() && words.timestamp.is_some() && kind.contains('.') {
        Client::Copilot
    } else if words.session_id.is_some()
        && (words.project_hash.is_some() || words.start_time.is_some())
    {
        // A whole conversation on one line is a document all the same.
        if words.messages.is_some() {
            return None;
        }
        Client::Gemini
    } else if words.set.is_some() {
        Client::Gemini
    } else if words.parent_uuid.is_some() || words.session_id.is_some() && !kind.is_empty() {
        Client::Claude
    } else if is_event(kind) && (words.session.is_some() || words.to.is_some()) {
        return Some(TranscriptSource::Sprag);
    } else if words.role.is_some() && words.content.is_some() || words.messages.is_some() {
        return Some(TranscriptSource::Chat);
    } else {
        return None;
    };
    Some(TranscriptSource::Client(client))
}

fn is_event(kind: &str) -> bool {
    matches!(
        kind,
        "call"
            | "step"
            | "message"
            | "usage"
            | "kill"
            | "reset"
            | "dispatch_start"
            | "dispatch_end"
    )
}

/// A document that goes on beyond what is looked at: its first keys.
fn document(text: &[u8]) -> Option<(TranscriptSource, TranscriptFormat)> {
    let has = |key: &[u8]| memchr::memmem::find(text, key).is_some();
    let is_gemini = has(b"\"sessionId\"") && (has(b"\"projectHash\"") || has(b"\"startTime\""));
    // A first line that is longer than what is looked at.
    let lines = |client| Some((TranscriptSource::Client(client), TranscriptFormat::Lines));
    if has(b"\"parentUuid\":") && has(b"\"sessionId\":") {
        return lines(Client::Claude);
    }
    if has(b"\"type\":\"session_meta\"") {
        return lines(Client::Codex);
    }
    let source = match text.first()? {
        b'{' if is_gemini && has(b"\"messages\"") => TranscriptSource::Client(Client::Gemini),
        b'{' if has(b"\"messages\"") && has(b"\"role\"") => TranscriptSource::Chat,
        b'[' if has(b"\"role\"") => TranscriptSource::Chat,
        _ => return None,
    };
    Some((source, TranscriptFormat::Array))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_told_by_its_words() {
        let told = |client, format| Some((TranscriptSource::Client(client), format));
        let client = |client| told(client, TranscriptFormat::Lines);
        for (text, expected) in [
            (
                r#"{"parentUuid":null,"type":"user","sessionId":"s"}"#,
                client(Client::Claude),
            ),
            (
                "{\"type\":\"summary\",\"leafUuid\":\"x\"}\n{\"type\":\"queue-operation\",\"sessionId\":\"s\"}",
                client(Client::Claude),
            ),
            (
                r#"{"timestamp":"t","type":"session_meta","payload":{}}"#,
                client(Client::Codex),
            ),
            (
                r#"{"sessionId":"s","projectHash":"h","startTime":"t"}"#,
                client(Client::Gemini),
            ),
            (
                r#"{"type":"session.start","data":{},"timestamp":"t"}"#,
                client(Client::Copilot),
            ),
            (
                r#"{"type":"call","session":"s","tool":"t"}"#,
                Some((TranscriptSource::Sprag, TranscriptFormat::Lines)),
            ),
            (
                r#"{"role":"user","content":"hi"}"#,
                Some((TranscriptSource::Chat, TranscriptFormat::Lines)),
            ),
            (
                r#"{"messages":[{"role":"user","content":"hi"}]}"#,
                Some((TranscriptSource::Chat, TranscriptFormat::Lines)),
            ),
            (
                "{\n \"sessionId\": \"s\",\n \"projectHash\": \"h\",\n \"messages\": [\n",
                told(Client::Gemini, TranscriptFormat::Array),
            ),
            (
                r#"{"sessionId":"s","startTime":"t","messages":[{}]}"#,
                told(Client::Gemini, TranscriptFormat::Array),
            ),
            (
                "{\"parentUuid\":null,\"sessionId\":\"s\",\"message\":\"cut off",
                client(Client::Claude),
            ),
            (
                "[\n {\"role\": \"user\", \"content\": \"hi\"}",
                Some((TranscriptSource::Chat, TranscriptFormat::Array)),
            ),
            (
                "SQLite format 3\0…",
                told(Client::Opencode, TranscriptFormat::Database),
            ),
        ] {
            assert_eq!(sniff(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn anything_else_is_nothing() {
        for text in [
            "",
            "hello",
            "{}",
            "[]",
            "{\"a\":1}\n",
            "\u{feff}",
            "%PDF-1.7",
            "[1,2",
            "{\"type\":\"call\"}",
        ] {
            assert_eq!(sniff(text.as_bytes()), None, "{text}");
        }
    }
}
