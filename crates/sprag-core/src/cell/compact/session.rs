//! The small part of a session: all but the memory of its steps.

use super::bytes::{Reader, Value, Writer, maybe_after, maybe_before};
use super::calls::{read_pending, write_pending};
use crate::cell::progress::{Last, Progress, Streaks};
use crate::cell::session::{Calls, Refusals, ResettableState};
use crate::cell::{Destructive, Mark, SessionCell, Spending};
use crate::id::Id;
use crate::policy::Classifier;
use crate::time::Timestamp;

const TOUCHED: u8 = 1;
const GENERATION: u8 = 2;
const AGENT: u8 = 3;
const STEPS: u8 = 4;
const KILLED: u8 = 5;
const BLOCKED: u8 = 6;
const FLAGS: u8 = 7;
const TIMES: u8 = 8;
const COUNTS: u8 = 9;
const CALLS: u8 = 10;
const DESTRUCTIVE: u8 = 11;
const PENDING: u8 = 12;
const DISPATCHES: u8 = 13;
const SPENT: u8 = 14;
const STREAKS: u8 = 15;
const PROGRESS: u8 = 16;
const LAST: u8 = 17;

const USER_SEEN: u64 = 1;
const STEP_SEEN: u64 = 1 << 1;
const PLAIN: u64 = 1 << 2;

impl SessionCell {
    /// Appends everything but the memory of its steps.
    pub fn write_small(&self, out: &mut Vec<u8>) {
        let Self {
            touched,
            generation,
            agent,
            steps,
            killed,
            blocked,
            held,
        } = self;
        let mut out = Writer(out);
        out.field(TOUCHED, touched.0);
        // A first generation is not worth a word.
        out.field(GENERATION, u64::from(*generation) ^ 1);
        if let Some(agent) = agent {
            out.part(AGENT, |out| {
                out.0.extend_from_slice(agent.as_str().as_bytes())
            });
        }
        out.field(STEPS, *steps);
        for (field, mark) in [(KILLED, killed), (BLOCKED, blocked)] {
            if let Some(mark) = mark {
                out.part(field, |out| mark.write(out, *touched));
            }
        }
        held.write(&mut out, *touched);
    }

    /// Reads what [`Self::write_small`] wrote; none where it did not write that.
    #[must_use]
    pub fn read_small(bytes: &[u8]) -> Option<Self> {
        let mut cell = Self::default();
        let mut from = Reader(bytes);
        while let Some((field, value)) = from.field()? {
            let Ok(field) = u8::try_from(field) else {
                continue;
            };
            match value {
                Value::Number(value) => cell.set(field, value)?,
                Value::Part(part) => cell.set_part(field, part)?,
            }
        }
        Some(cell)
    }

    fn set(&mut self, field: u8, value: u64) -> Option<()> {
        match field {
            TOUCHED => self.touched = Timestamp(value),
            GENERATION => self.generation = u32::try_from(value ^ 1).ok()?,
            STEPS => self.steps = value,
            FLAGS => {
                self.held.user_seen = value & USER_SEEN != 0;
                self.held.step_seen = value & STEP_SEEN != 0;
                if value & PLAIN != 0 {
                    self.held.progress.classifier = Classifier::Plain;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn set_part(&mut self, field: u8, mut from: Reader<'_>) -> Option<()> {
        let (touched, held) = (self.touched, &mut self.held);
        let from = &mut from;
        match field {
            AGENT => self.agent = Some(Id::new(std::str::from_utf8(from.0).ok()?).ok()?),
            KILLED => self.killed = Some(Box::new(Mark::read(from, touched)?)),
            BLOCKED => self.blocked = Some(Box::new(Mark::read(from, touched)?)),
            TIMES => {
                held.since = maybe_after(touched, from.cell()?);
                held.attended_at = maybe_after(touched, from.cell()?);
            }
            COUNTS => held.read_counts(from, touched)?,
            CALLS => held.calls = Calls::read(from, touched)?,
            DESTRUCTIVE => held.destructive = Some(Box::new(Destructive::read(from, touched)?)),
            PENDING => held.pending = read_pending(from)?,
            DISPATCHES => {
                while !from.is_empty() {
                    held.dispatches.push(Id::new(from.text()?).ok()?);
                }
            }
            SPENT => held.spent = Spending::read(from)?,
            STREAKS => held.progress.streaks = Streaks::read(from)?,
            PROGRESS => held.progress.read_counts(from, touched)?,
            LAST => held.progress.last = Last::read(from)?,
            _ => {}
        }
        Some(())
    }
}

impl ResettableState {
    fn write(&self, out: &mut Writer<'_>, touched: Timestamp) {
        let Self {
            since,
            user_seen,
            step_seen,
            attended_at,
            unattended,
            actions,
            refusals,
            calls,
            destructive,
            pending,
            dispatches,
            spent,
            progress,
        } = self;
        let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
        out.field(
            FLAGS,
            flag(*user_seen, USER_SEEN)
                | flag(*step_seen, STEP_SEEN)
                | flag(progress.classifier == Classifier::Plain, PLAIN),
        );
        let times = [*since, *attended_at].map(|at| maybe_before(touched, at));
        out.row(TIMES, &times);
        let Refusals {
            count,
            counted_at,
            identical_at,
        } = *refusals;
        out.row(
            COUNTS,
            &[
                u64::from(*actions),
                u64::from(*unattended),
                u64::from(count),
                maybe_before(touched, counted_at),
                maybe_before(touched, identical_at),
            ],
        );
        if *calls != Calls::default() {
            out.part(CALLS, |out| calls.write(out, touched));
        }
        if let Some(destructive) = destructive {
            out.part(DESTRUCTIVE, |out| destructive.write(out, touched));
        }
        if !pending.is_empty() {
            out.part(PENDING, |out| write_pending(out, pending));
        }
        if !dispatches.is_empty() {
            out.part(DISPATCHES, |out| {
                for flow in dispatches {
                    out.text(flow.as_str());
                }
            });
        }
        spent.write(out);
        progress.write(out, touched);
    }

    fn read_counts(&mut self, from: &mut Reader<'_>, touched: Timestamp) -> Option<()> {
        self.actions = from.cell()?;
        self.unattended = from.cell()?;
        self.refusals = Refusals {
            count: from.cell()?,
            counted_at: maybe_after(touched, from.cell()?),
            identical_at: maybe_after(touched, from.cell()?),
        };
        Some(())
    }
}

impl Progress {
    fn write(&self, out: &mut Writer<'_>, touched: Timestamp) {
        let Self {
            classifier: _,
            approaches: _,
            pasts: _,
            outcomes: _,
            streaks,
            step,
            changed,
            news: (news_step, news_at),
            last,
        } = self;
        let news_at = Some(*news_at).filter(|at| *at != Timestamp::default());
        streaks.write(out);
        out.row(
            PROGRESS,
            &[
                u64::from(*step),
                u64::from(*changed),
                u64::from(*news_step),
                maybe_before(touched, news_at),
            ],
        );
        if *last != Last::default() {
            out.part(LAST, |out| last.write(out));
        }
    }

    fn read_counts(&mut self, from: &mut Reader<'_>, touched: Timestamp) -> Option<()> {
        self.step = from.cell()?;
        self.changed = from.cell()?;
        let step = from.cell()?;
        let at = maybe_after(touched, from.cell()?);
        self.news = (step, at.unwrap_or_default());
        Some(())
    }
}

impl Spending {
    fn write(&self, out: &mut Writer<'_>) {
        let Self {
            tokens,
            cost_micros,
            warned,
        } = *self;
        out.row(SPENT, &[tokens, cost_micros, u64::from(warned)]);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            tokens: from.cell()?,
            cost_micros: from.cell()?,
            warned: from.cell()?,
        })
    }
}

impl Streaks {
    fn write(&self, out: &mut Writer<'_>) {
        let Self {
            stagnation,
            stuck,
            echo,
            empty,
            churn,
            alike,
            barren,
        } = *self;
        let streaks = [stagnation, stuck, echo, empty, churn, alike, barren];
        out.row(STREAKS, &streaks.map(u64::from));
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            stagnation: from.cell()?,
            stuck: from.cell()?,
            echo: from.cell()?,
            empty: from.cell()?,
            churn: from.cell()?,
            alike: from.cell()?,
            barren: from.cell()?,
        })
    }
}

impl Last {
    fn write(&self, out: &mut Writer<'_>) {
        let Self {
            approach,
            answer,
            shape,
        } = self;
        out.fixed(approach.to_le_bytes());
        out.fixed(answer.to_le_bytes());
        out.fixed(shape.to_le_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            approach: u64::from_le_bytes(from.fixed()?),
            answer: u64::from_le_bytes(from.fixed()?),
            shape: u32::from_le_bytes(from.fixed()?),
        })
    }
}
