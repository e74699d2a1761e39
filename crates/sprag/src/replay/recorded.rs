//! The items of a recording.

use sprag_core::{
    DigestKey, Event, Id, Observation, Observed, Policy, Timestamp, Verdict, effects_in_words,
};
use sprag_store::Noted;

/// One item of a recording.
#[derive(Debug)]
pub enum RecordedItem {
    /// An event.
    Event(Box<RecordedEvent>),
    /// What the guard or the store did.
    Note {
        /// The number of its record.
        number: u64,
        /// When.
        at: Timestamp,
        /// What.
        what: Noted,
    },
    /// A line of a trace that is not an event.
    Bad {
        /// Its number.
        number: u64,
        /// What is wrong with it.
        why: String,
    },
}

impl RecordedItem {
    /// Its number: of the record, or of the line.
    #[must_use]
    pub fn number(&self) -> u64 {
        match self {
            Self::Event(event) => event.number,
            Self::Note { number, .. } | Self::Bad { number, .. } => *number,
        }
    }
}

/// A recorded event.
#[derive(Debug)]
pub struct RecordedEvent {
    /// The number of its record, or of its line.
    pub number: u64,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub what: RecordedForm,
    /// The recorded verdict, if there is one.
    pub recorded: Option<Verdict>,
    /// The digest of the policy it was judged under, if it was judged.
    pub policy: Option<String>,
}

/// An event as it was recorded.
#[derive(Debug)]
pub enum RecordedForm {
    /// Digested and resolved, from a log.
    Observed(Box<Observation>),
    /// As it stood on the wire, from a trace.
    Raw(Event),
}

impl RecordedEvent {
    /// The type of the event, as on the wire.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.what {
            RecordedForm::Observed(observation) => observation.what.kind(),
            RecordedForm::Raw(event) => event.kind(),
        }
    }

    /// The session that acts; of a message from outside, the one that receives it.
    #[must_use]
    pub fn session(&self) -> &Id {
        match &self.what {
            RecordedForm::Raw(event) => event.session(),
            RecordedForm::Observed(observation) => observation.what.session(),
        }
    }

    /// What it does it to: the tool that is called, the session that is written to.
    #[must_use]
    pub fn object(&self) -> Option<&Id> {
        match &self.what {
            RecordedForm::Raw(Event::Message(event)) => Some(&event.to),
            RecordedForm::Raw(Event::Call(event)) => Some(&event.tool),
            RecordedForm::Raw(Event::Step(event)) => event.tool.as_ref(),
            RecordedForm::Raw(_) => None,
            RecordedForm::Observed(observation) => match &observation.what {
                Observed::Message(message) => Some(&message.to),
                Observed::Call(call) => call.approach.tool.as_ref(),
                Observed::Step(step) => step.approach.as_ref()?.tool.as_ref(),
                _ => None,
            },
        }
    }

    /// What a call destroys, in words: "removes `data` (workspace)".
    #[must_use]
    pub fn effects(&self) -> Vec<String> {
        let digested;
        let observation = match &self.what {
            RecordedForm::Observed(observation) => observation,
            RecordedForm::Raw(event @ Event::Call(_)) => {
                // Only the words are used, so any key and any policy will do.
                let digester = crate::digester::digester(DigestKey::fixed());
                match digester.observe(event, self.at, &Policy::default()) {
                    Ok(observation) => digested = observation,
                    Err(_) => return Vec::new(),
                }
                &digested
            }
            RecordedForm::Raw(_) => return Vec::new(),
        };
        match &observation.what {
            Observed::Call(call) => effects_in_words(&call.effects),
            _ => Vec::new(),
        }
    }
}
