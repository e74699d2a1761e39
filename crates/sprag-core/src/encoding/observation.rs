//! Observations as numbered fields. What nearly every event has comes first: seven fields have their bits in one byte.

use super::{
    Encoding, Fixed, Malformed, Reader, Text, Writer, YesNo, encodings, numbered_variants,
};
use crate::cell::ApprovalScope;
use crate::digest::Digest;
use crate::effect::{ObservedEffect, Reach, Verb};
use crate::id::Id;
use crate::numbered_fields;
use crate::observation::{
    Answer, Approach, Call, Dispatch, Field, Hints, Identity, Message, MessageKind, Observed,
    Order, Outcome, Output, Source, Step, Subject, Tone, ToolKind, Usage, Via, Wording,
};
use crate::price::Priced;

numbered_variants!(Source, "source": 0 User, 1 Applet, 2 Scheduler);
numbered_variants!(MessageKind, "kind of message": 0 Say, 1 Spawn, 2 Return);
numbered_variants!(Identity, "identity": 0 Exact, 1 Shared);
numbered_variants!(Via, "kind of adapter": 0 Api, 1 Hook, 2 Mcp, 3 Gateway);
numbered_variants!(ToolKind, "kind of tool": 0 Run, 1 Read, 2 Poll, 3 Change);
numbered_variants!(ApprovalScope, "scope": 0 Once, 1 Session, 2 Project, 3 Agent);
numbered_variants!(Verb, "verb": 0 Delete, 1 Reset, 2 Drop, 3 Destroy, 4 Format);
numbered_variants!(Reach, "reach": 0 Scratch, 1 Workspace, 2 Outside, 3 Shared, 4 Sweeping);
numbered_variants!(Tone, "tone": 0 Telling, 1 Failure, 2 Empty, 3 Done, 4 Silent);

encodings! {
    Priced as Priced, default:
        |value, out| out.bytes(value.as_str().as_bytes()), |from| Ok(Priced::read(from.text()?));
    Subject as Subject, default: |value, out| write_subject(value, out), |from| read_subject(from);
}

/// Only the words that there are.
fn write_subject(subject: &Subject, out: &mut Writer) {
    let Subject {
        form,
        thing,
        controls,
        said,
        count,
    } = subject;
    Fixed::write(form, out);
    Fixed::write(thing, out);
    out.byte(u8::from(*controls));
    out.number(u64::from(*count));
    let words = said.iter().take_while(|word| **word != 0);
    out.count(words.clone().count());
    words.for_each(|word| out.number(u64::from(*word)));
}

fn read_subject(from: &mut Reader<'_>) -> Result<Subject, Malformed> {
    let mut subject = Subject {
        form: Fixed::read(from)?,
        thing: Fixed::read(from)?,
        controls: from.byte()? != 0,
        count: from.small()?,
        ..Subject::default()
    };
    let count = from.count()?;
    if count > subject.said.len() {
        return Err(Malformed::Missing("word"));
    }
    for word in subject.said.iter_mut().take(count) {
        *word = from.small()?;
    }
    Ok(subject)
}

macro_rules! numbered_kinds {
    ($($number:literal $variant:ident($type:ty),)+) => {
        /// The number of its kind, then its fields.
        impl Encoding<'_, Self> for Observed {
            fn write(value: &Self, out: &mut Writer) {
                match value {
                    $(Self::$variant(event) => {
                        out.byte($number);
                        <$type>::write(event, out);
                    })+
                }
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                match from.byte()? {
                    $($number => <$type>::read(from).map(Self::$variant),)+
                    other => Err(Malformed::Unknown(u64::from(other), "kind of event")),
                }
            }
        }
    };
}

numbered_kinds! {
    0 Message(Message),
    1 Call(Call),
    2 Step(Step),
    3 Usage(Usage),
    4 Kill(Order),
    5 Reset(Order),
    6 DispatchStart(Dispatch),
    7 DispatchEnd(Dispatch),
    8 Approve(Answer),
    9 Decline(Answer),
    10 Output(Output),
}

numbered_fields!(Message {
    1 to: Id,
    2 from: Option<Id>,
    3 flow: Option<Id>,
    4 agent: Option<Id>,
    5 to_agent: Option<Id>,
    6 content: Option<Digest>,
    7 conversation: Option<Id>,
    8 source: Source,
    9 kind: MessageKind,
    10 identity: Identity,
    11 generation: Option<u32>,
    12 unblock: bool,
    13 use_id: Option<Id>,
    14 family: Option<Id>,
    15 task: Option<Id>,
    16 wording: Option<Wording>,
});

numbered_fields!(Wording {
    1 normal: Digest,
    2 words: u32,
    3 figures: Vec<u64>,
});

numbered_fields!(Call {
    1 session: Id,
    2 agent: Option<Id>,
    3 flow: Option<Id>,
    4 id: Option<Id>,
    5 use_id: Option<Id>,
    6 approach: Approach,
    7 hints: Hints,
    8 generation: Option<u32>,
    9 identity: Identity,
    10 turn: Option<Fixed>,
    11 via: Via,
    12 effects: Vec<ObservedEffect>,
    13 unparsed: bool,
    14 orders_guard: bool,
    15 path_reach: Option<Reach>,
    16 family: Option<Id>,
    17 root: Option<Text>,
    18 dialog: bool,
});

numbered_fields!(ObservedEffect {
    1 verb: Verb,
    2 reach: Reach,
    3 by: Text,
    4 target: Digest,
    5 text: Option<Text>,
    6 vital: bool,
    7 replaceable: bool,
});

numbered_fields!(Hints {
    1 read_only: Option<YesNo>,
    2 destructive: Option<YesNo>,
    3 idempotent: Option<YesNo>,
});

numbered_fields!(Step {
    1 session: Id,
    2 agent: Option<Id>,
    3 flow: Option<Id>,
    4 id: Option<Id>,
    5 use_id: Option<Id>,
    6 approach: Option<Approach>,
    7 outcome: Outcome,
    8 generation: Option<u32>,
    9 identity: Identity,
    10 via: Via,
    11 family: Option<Id>,
});

numbered_fields!(Approach {
    1 server: Option<Id>,
    2 tool: Option<Id>,
    3 exact: Digest,
    4 normal: Digest = exact,
    5 kind: ToolKind,
    6 fields: Vec<Field>,
    7 oversized: bool,
    8 label: Option<Text>,
    9 waits: bool,
    10 moves: bool,
    11 asks: bool,
    12 aims: bool,
    13 delegates: bool,
    14 probes: bool,
    15 argument: Fixed,
    16 about: Subject,
});

numbered_fields!(Field {
    1 name: Text,
    2 digest: Digest,
    3 text: Option<Text>,
});

numbered_fields!(Outcome {
    1 exact: Digest,
    2 normal: Digest = exact,
    3 is_error: bool,
    4 tone: Tone,
    5 shape: Fixed,
    6 oversized: bool,
    7 numbers: Vec<u64>,
    8 long: bool,
    9 absent: bool,
    10 ends_failing: bool,
    11 weak: bool,
    12 words: Vec<u16>,
    13 said: Fixed,
    14 one_word: bool,
    15 pending: bool,
});

numbered_fields!(Usage {
    1 session: Id,
    2 agent: Option<Id>,
    3 flow: Option<Id>,
    4 tokens: u64,
    5 cost_micros: u64,
    6 generation: Option<u32>,
    7 identity: Identity,
    8 model: Option<Id>,
    9 output_tokens: u64,
    10 cache_write_tokens: u64,
    11 cache_read_tokens: u64,
    12 prices: Priced,
    13 pending: bool,
    14 id: Option<Id>,
});

numbered_fields!(Output {
    1 session: Id,
    2 agent: Option<Id>,
    3 flow: Option<Id>,
    4 text: Option<Digest>,
    5 chant: u16,
    6 generation: Option<u32>,
    7 identity: Identity,
});

numbered_fields!(Order {
    1 session: Id,
    2 by: Option<Text>,
    3 why: Option<Text>,
});

numbered_fields!(Answer {
    1 session: Id,
    2 approval: Id,
    3 scope: ApprovalScope,
    4 by: Option<Text>,
    5 why: Option<Text>,
});

numbered_fields!(Dispatch {
    1 session: Id,
    2 flow: Option<Id>,
});
