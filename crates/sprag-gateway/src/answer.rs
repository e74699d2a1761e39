//! An answer of the model on its way to the client: its calls are judged, its words are listened to,
//! and what no verdict touches passes as the bytes it came as.

use sprag_core::ChantDetector;

use crate::judge::{CallFate, Judge};
use crate::limits::HELD_BYTES;
use crate::request::{RemovedCall, ToolCall};
use crate::sse::{SseEvent, SseSplitter};
use crate::stop;
use crate::stream::{AnswerStream, Sign};

/// A streamed answer.
pub(crate) struct StreamedAnswer {
    judge: Judge,
    stream: Box<dyn AnswerStream>,
    splitter: SseSplitter,
    held: Vec<u8>,
    words: ChantDetector,
    thoughts: ChantDetector,
    /// Calls that were taken out, with the texts in their places.
    removed: Vec<RemovedCall>,
    is_over: bool,
    is_reported: bool,
}

impl StreamedAnswer {
    pub(crate) fn new(judge: Judge, stream: Box<dyn AnswerStream>) -> Self {
        Self {
            judge,
            stream,
            splitter: SseSplitter::default(),
            held: Vec::new(),
            words: ChantDetector::default(),
            thoughts: ChantDetector::default(),
            removed: Vec::new(),
            is_over: false,
            is_reported: false,
        }
    }

    /// The gateway ended the answer: nothing more is wanted of the upstream.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes what has come and returns what goes on now.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
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

    /// The upstream's stream is over. Returns what was held of it; calls that never became whole are
    /// not among it.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        self.report();
        if self.is_over {
            return Vec::new();
        }
        self.splitter.rest()
    }

    /// Reports what the answer cost, once.
    fn report(&mut self) {
        if !std::mem::replace(&mut self.is_reported, true) {
            let removed = std::mem::take(&mut self.removed);
            self.judge.keep(self.stream.id(), removed);
            self.judge.finish(self.stream.tokens());
        }
    }

    fn event(&mut self, event: &SseEvent, out: &mut Vec<u8>) {
        let Some(data) = &event.data else {
            out.extend_from_slice(&event.raw);
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

    fn listen(&mut self, text: &str, thought: bool, out: &mut Vec<u8>) {
        let detector = if thought {
            &mut self.thoughts
        } else {
            &mut self.words
        };
        if detector.push(text.as_bytes()).is_some() {
            self.end(&stop::chanted(), out);
        }
    }

    fn judge_calls(&mut self, calls: &[ToolCall], out: &mut Vec<u8>) {
        let mut texts = Vec::with_capacity(calls.len());
        for call in calls {
            match self.judge.call(call, self.stream.id()) {
                CallFate::Runs => texts.push(None),
                CallFate::Refused(text) => {
                    self.removed.push(call.removed(&text));
                    texts.push(Some(text));
                }
                CallFate::Stopped(text) => {
                    self.removed.push(call.removed(&text));
                    return self.end(&text, out);
                }
            }
        }
        let held = std::mem::take(&mut self.held);
        out.extend(self.stream.settle(&held, &texts));
    }

    fn end(&mut self, text: &str, out: &mut Vec<u8>) {
        self.is_over = true;
        self.held.clear();
        self.judge.tally.add_stops(1);
        out.extend(self.stream.ending(text));
    }
}

/// Whoever goes away in the middle of an answer has still paid for it.
impl Drop for StreamedAnswer {
    fn drop(&mut self) {
        self.report();
    }
}
