//! An answer of the model on its way to the client: its calls are judged, its words are listened to,
//! and what no verdict touches passes as the bytes it came as.

use sprag_core::ChantDetector;

use crate::judge::{Heard, Judge};
use crate::limits::{HELD_BYTES, SAID_BYTES};
use crate::pump::Passage;
use crate::request::{RemovedCall, ToolCall};
use crate::sse::{SseEvent, SseSplitter};
use crate::stop;
use crate::stream::{AnswerStream, Sign};

/// How often a unit repeats before the guard is asked first.
const COPIES: u16 = 8;

/// What the model says, or thinks.
struct Voice {
    text: String,
    chant: ChantDetector,
    copies: u16,
}

impl Default for Voice {
    fn default() -> Self {
        Self {
            text: String::new(),
            chant: ChantDetector::new(COPIES),
            copies: COPIES,
        }
    }
}

impl Voice {
    /// Takes more of the text; returns whether it repeats itself.
    fn says(&mut self, more: &str) -> bool {
        let mut room = SAID_BYTES.saturating_sub(self.text.len()).min(more.len());
        while !more.is_char_boundary(room) {
            room -= 1;
        }
        self.text.push_str(more.get(..room).unwrap_or_default());
        self.chant.push(more.as_bytes()).is_some()
    }

    /// The policy allows what was heard: only a longer chant is one.
    fn may_go_on(&mut self) {
        self.copies = self.copies.saturating_mul(2);
        self.chant = ChantDetector::new(self.copies);
    }
}

/// A streamed answer.
pub(crate) struct StreamedAnswer {
    judge: Judge,
    stream: Box<dyn AnswerStream>,
    splitter: SseSplitter,
    held: Vec<u8>,
    words: Voice,
    thoughts: Voice,
    /// Calls that were taken out, with the texts in their places.
    removed: Vec<RemovedCall>,
    is_over: bool,
    /// The guard has heard what the model said.
    is_heard: bool,
    is_reported: bool,
}

impl Passage for StreamedAnswer {
    /// Takes what has come and returns what goes on now.
    fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(chunk.len());
        self.splitter.push(chunk);
        while !self.is_over
            && let Some(event) = self.splitter.next()
        {
            self.event(&event, &mut out);
        }
        if self.splitter.held() > HELD_BYTES || self.held.len() > HELD_BYTES {
            let text = format!(
                "{}An event of this answer is too long to be judged.",
                stop::MARK
            );
            self.end(&text, &mut out);
        }
        out
    }

    /// An operator may have killed the session while the model speaks.
    fn look(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        // Before the first event of an answer its client has nothing that could be ended.
        if !self.is_over
            && self.stream.is_begun()
            && let Some(text) = self.judge.is_killed()
        {
            self.end(&text, &mut out);
        }
        out
    }

    /// The gateway ended the answer: nothing more is wanted of the upstream.
    fn is_over(&self) -> bool {
        self.is_over
    }

    /// The upstream's stream is over. Returns what was held of it; calls that never became whole are
    /// not among it.
    fn finish(&mut self) -> Vec<u8> {
        self.report();
        if self.is_over {
            return Vec::new();
        }
        self.splitter.rest()
    }
}

impl StreamedAnswer {
    pub(crate) fn new(judge: Judge, stream: Box<dyn AnswerStream>) -> Self {
        Self {
            judge,
            stream,
            splitter: SseSplitter::default(),
            held: Vec::new(),
            words: Voice::default(),
            thoughts: Voice::default(),
            removed: Vec::new(),
            is_over: false,
            is_heard: false,
            is_reported: false,
        }
    }

    /// Reports what the answer said and cost, once.
    fn report(&mut self) {
        if std::mem::replace(&mut self.is_reported, true) {
            return;
        }
        let removed = std::mem::take(&mut self.removed);
        self.judge.keep(self.stream.id(), removed);
        self.judge.finish(self.stream.tokens());
        if !self.is_heard {
            self.judge.hear_all(&self.words.text);
        }
    }

    fn event(&mut self, event: &SseEvent, out: &mut Vec<u8>) {
        let Some(data) = &event.data else {
            let passed = if self.held.is_empty() {
                out
            } else {
                &mut self.held
            };
            passed.extend_from_slice(&event.raw);
            return;
        };
        match self.stream.read(data) {
            Sign::Pass if !self.held.is_empty() => self.held.extend_from_slice(&event.raw),
            Sign::Pass | Sign::Beat => out.extend_from_slice(&event.raw),
            Sign::Said { text, thought } => {
                out.extend_from_slice(&event.raw);
                self.listen(&text, thought, out);
            }
            Sign::Hold => self.held.extend_from_slice(&event.raw),
            Sign::Calls(calls) => {
                self.held.extend_from_slice(&event.raw);
                let aside = self.stream.aside();
                self.words.says(&aside);
                self.judge_calls(&calls, out);
            }
            Sign::End => {
                let changed = (!self.removed.is_empty()).then(|| self.stream.closing(data));
                match changed.flatten() {
                    Some(changed) => out.extend(changed),
                    None => out.extend_from_slice(&event.raw),
                }
            }
        }
    }

    /// Ends an answer that only repeats itself, unless the policy allows that.
    fn listen(&mut self, text: &str, thought: bool, out: &mut Vec<u8>) {
        let voice = if thought {
            &mut self.thoughts
        } else {
            &mut self.words
        };
        if !voice.says(text) {
            return;
        }
        self.is_heard = true;
        match self.judge.hear(&voice.text) {
            Heard::Fine => voice.may_go_on(),
            Heard::Minded => self.end(&stop::chanted(), out),
            Heard::Killed(text) => self.end(&text, out),
        }
    }

    fn judge_calls(&mut self, calls: &[ToolCall], out: &mut Vec<u8>) {
        let fates = self.judge.calls(calls, self.stream.id());
        self.removed.extend(fates.removed);
        if let Some(text) = fates.stopped {
            return self.end(&text, out);
        }
        let held = std::mem::take(&mut self.held);
        out.extend(self.stream.settle(&held, &fates.texts));
    }

    fn end(&mut self, text: &str, out: &mut Vec<u8>) {
        self.is_over = true;
        self.held.clear();
        self.judge.tally().add_stops(1);
        out.extend(self.stream.ending(text));
    }
}

/// Whoever goes away in the middle of an answer has still paid for it.
impl Drop for StreamedAnswer {
    fn drop(&mut self) {
        self.report();
    }
}
