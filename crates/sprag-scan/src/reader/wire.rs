//! Sprag's own logs: events in the wire format, one a line, as `sprag decide` reads them and traces hold them.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;
use sprag_core::{Event, EventError, Id, Payload, StepEvent};

use super::TranscriptReader;
use crate::transcript_item::{
    ItemKind, ResultBody, Sink, TokenCounts, TranscriptCall, TranscriptItem,
};

/// How many calls wait for their step.
const MAX_PENDING: usize = 4_096;

/// Reads the lines of one file.
#[derive(Default)]
pub(crate) struct Wire {
    pending: HashSet<String>,
    made_up: u64,
}

impl TranscriptReader for Wire {
    fn read(&mut self, piece: &[u8], sink: Sink<'_>) -> Result<(), serde_json::Error> {
        let event = Event::parse(piece).map_err(unreadable)?;
        let at = event.at();
        let session = event.session().clone();
        let session = session.as_str();
        let mut tell = |what: ItemKind<'_>| sink(TranscriptItem { session, at, what });
        match event {
            Event::Call(call) => {
                let id = call.id.as_ref().or(call.use_id.as_ref()).map(Id::as_str);
                let id = self.open(id);
                tell(ItemKind::Call(TranscriptCall {
                    id: &id,
                    server: call.server.as_ref().map(|server| server.as_str().into()),
                    tool: call.tool.as_str().into(),
                    args: call.args.as_ref().and_then(raw).map(Cow::Borrowed),
                }));
            }
            Event::Step(step) => self.step(&step, &mut tell),
            Event::Usage(usage) => tell(ItemKind::Tokens(TokenCounts {
                input: usage.input_tokens,
                cached: 0,
                output: usage.output_tokens,
            })),
            Event::Message(message) if message.from.is_none() => tell(ItemKind::Prompt),
            other => tell(ItemKind::Wire(Box::new(other))),
        }
        Ok(())
    }
}

impl Wire {
    /// The id of a call, made up where it has none.
    fn open(&mut self, id: Option<&str>) -> String {
        let id = match id {
            Some(id) => id.to_owned(),
            None => {
                self.made_up += 1;
                format!("call-{}", self.made_up)
            }
        };
        if self.pending.len() >= MAX_PENDING {
            self.pending.clear();
        }
        self.pending.insert(id.clone());
        id
    }

    /// A step whose call was told ends it; any other says itself what was done.
    fn step(&mut self, step: &StepEvent, tell: &mut dyn FnMut(ItemKind<'_>)) {
        let id = step.id.as_ref().or(step.use_id.as_ref()).map(Id::as_str);
        let id = match id {
            Some(id) if self.pending.remove(id) => id.to_owned(),
            _ => {
                let (tool, args) = match (&step.tool, &step.approach) {
                    (Some(tool), _) => (tool.as_str(), step.args.as_ref()),
                    (None, Some(program)) => ("program", Some(program)),
                    (None, None) => return,
                };
                let id = self.open(id);
                self.pending.remove(&id);
                tell(ItemKind::Call(TranscriptCall {
                    id: &id,
                    server: step.server.as_ref().map(|server| server.as_str().into()),
                    tool: tool.into(),
                    args: args.and_then(raw).map(Cow::Borrowed),
                }));
                id
            }
        };
        tell(ItemKind::Outcome {
            id: &id,
            answer: step
                .result
                .as_ref()
                .and_then(raw)
                .map_or(ResultBody::Nothing, ResultBody::Raw),
            is_error: step.is_error,
        });
    }
}

fn raw(payload: &Payload) -> Option<&RawValue> {
    serde_json::from_str(payload.as_json()).ok()
}

fn unreadable(error: EventError) -> serde_json::Error {
    serde::de::Error::custom(error)
}
