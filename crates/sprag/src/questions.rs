//! Which questions are open, over all sessions.
//!
//! A question lives in the cell of its session, so every store has it and a replay finds it. A person
//! types a code and names no session, and wants a list of all that is open. [`Questions`] keeps where to
//! look: it hears of records as they come, or reads the end of the log. What it finds is then taken from
//! the cells, which alone decide.
//!
//! Bounded by: [`MAX_QUESTIONS`] in all.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use sprag_core::{Approval, Decision, Id, Millis, Observed, Timestamp};
use sprag_store::{LogQuery, Record};

use crate::guard::{Guard, GuardError};

/// So many questions may be open over all sessions.
pub const MAX_QUESTIONS: usize = 1_000;
/// No question is open for longer.
const LONGEST: Millis = Millis::DAY;
/// So many pages of the log are read for open questions.
const MAX_PAGES: usize = 64;

/// A question with the session that it is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// The session.
    pub session: Id,
    /// Its agent.
    pub agent: Option<Id>,
    /// The record of the call that opened it.
    pub seq: u64,
    /// The question itself.
    #[serde(flatten)]
    pub approval: Approval,
}

/// What a record means for the questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionUpdate {
    /// Nothing new.
    Nothing,
    /// A question was opened.
    Opened,
    /// A question was opened, and there are too many: it has to be declined.
    TooMany {
        /// The session.
        session: Id,
        /// The code.
        code: Id,
    },
}

#[derive(Debug, Clone)]
struct AskedQuestion {
    session: Id,
    seq: u64,
    until: Timestamp,
    /// Somebody answered: it is kept for those who wait for the answer.
    answered: bool,
    /// Whoever hears of every record knows of it.
    told: bool,
    /// Whoever made the call may be able to ask the person in front of it.
    dialog: bool,
}

/// The questions that may be open.
#[derive(Debug, Default)]
pub struct Questions {
    asked: Mutex<HashMap<Id, AskedQuestion>>,
}

impl Questions {
    /// The questions at the end of the guard's log.
    ///
    /// # Errors
    /// Returns an error if the log can't be read.
    pub fn read(guard: &Guard) -> Result<Self, GuardError> {
        let questions = Self::default();
        questions.catch_up(guard, MAX_PAGES)?;
        for asked in questions.held().values_mut() {
            asked.told = true;
        }
        Ok(questions)
    }

    /// Reads the last pages of the log: a question may have been asked a moment ago.
    fn catch_up(&self, guard: &Guard, pages: usize) -> Result<(), GuardError> {
        let oldest = Timestamp(guard.now().0.saturating_sub(LONGEST.0));
        let mut records = Vec::new();
        let mut query = LogQuery {
            newest_first: true,
            ..LogQuery::default()
        };
        for _ in 0..pages {
            let page = guard.records(&query)?;
            let over = page.items.last().is_none_or(|record| record.at < oldest);
            let concerns = |record: &Record| {
                record.verdict.decision == Decision::Ask
                    || record.observation().is_some_and(|seen| closes(&seen.what))
            };
            records.extend(page.items.into_iter().filter(concerns));
            match page.next {
                Some(next) if !over => query.after = Some(next),
                _ => break,
            }
        }
        for record in records.iter().rev() {
            self.note(record);
        }
        Ok(())
    }

    /// Hears of a record, in the order of the log.
    pub fn observe(&self, record: &Record) -> QuestionUpdate {
        let update = self.note(record);
        let asks = record.verdict.decision == Decision::Ask;
        let Some(code) = record.verdict.approval.as_ref().filter(|_| asks) else {
            return QuestionUpdate::Nothing;
        };
        match (update, self.held().get_mut(code)) {
            (QuestionUpdate::Nothing | QuestionUpdate::Opened, Some(asked)) if !asked.told => {
                asked.told = true;
                QuestionUpdate::Opened
            }
            (QuestionUpdate::Opened, _) => QuestionUpdate::Nothing,
            (update, _) => update,
        }
    }

    fn note(&self, record: &Record) -> QuestionUpdate {
        let Some(observation) = record.observation() else {
            return QuestionUpdate::Nothing;
        };
        match &observation.what {
            Observed::Approve(answer) | Observed::Decline(answer) => {
                if let Some(asked) = self.held().get_mut(&answer.approval) {
                    asked.answered = true;
                }
            }
            Observed::Kill(order) | Observed::Reset(order) => {
                let mut held = self.held();
                let void = held
                    .values_mut()
                    .filter(|asked| asked.session == order.session);
                void.for_each(|asked| asked.answered = true);
            }
            Observed::Call(call) if record.verdict.decision == Decision::Ask => {
                return self.opened(&call.session, record);
            }
            _ => {}
        }
        QuestionUpdate::Nothing
    }

    fn opened(&self, session: &Id, record: &Record) -> QuestionUpdate {
        let (Some(code), Some(left)) = (&record.verdict.approval, record.verdict.expires_ms) else {
            return QuestionUpdate::Nothing;
        };
        let mut held = self.held();
        if held.contains_key(code) {
            return QuestionUpdate::Nothing;
        }
        if held.len() >= MAX_QUESTIONS {
            held.retain(|_, asked| asked.until > record.at && !asked.answered);
        }
        if held.len() >= MAX_QUESTIONS {
            return QuestionUpdate::TooMany {
                session: session.clone(),
                code: code.clone(),
            };
        }
        let asked = AskedQuestion {
            session: session.clone(),
            seq: record.seq,
            until: record.at.plus(Millis(left)),
            answered: false,
            told: false,
            dialog: false,
        };
        held.insert(code.clone(), asked);
        QuestionUpdate::Opened
    }

    /// The session of the question with this code, and the question itself as long as it means something:
    /// open, or answered and not used.
    ///
    /// # Errors
    /// Returns an error if the store can't be read.
    pub fn find(
        &self,
        guard: &Guard,
        code: &Id,
    ) -> Result<Option<(Id, Option<Question>)>, GuardError> {
        if !self.held().contains_key(code) {
            self.catch_up(guard, 1)?;
        }
        let asked = self.held().get(code).cloned();
        let Some(asked) = asked else {
            return Ok(None);
        };
        let question = look(guard, code, &asked)?;
        Ok(Some((asked.session, question)))
    }

    /// Takes note that an adapter of the agent's own client asked: it may show a dialog.
    pub fn asked_by_client(&self, record: &Record) {
        self.note(record);
        let Some(code) = &record.verdict.approval else {
            return;
        };
        if let Some(asked) = self.held().get_mut(code) {
            asked.dialog = true;
        }
    }

    /// Whether the agent's own client may ask.
    #[must_use]
    pub fn has_dialog(&self, code: &Id) -> bool {
        self.held().get(code).is_some_and(|asked| asked.dialog)
    }

    /// Every question that is open, the oldest first.
    ///
    /// # Errors
    /// Returns an error if the store can't be read.
    pub fn open(&self, guard: &Guard) -> Result<Vec<Question>, GuardError> {
        let now = guard.now();
        let asked: Vec<(Id, AskedQuestion)> = {
            let mut held = self.held();
            held.retain(|_, asked| asked.until > now);
            let pairs = held.iter().filter(|(_, asked)| !asked.answered);
            pairs
                .map(|(code, asked)| (code.clone(), asked.clone()))
                .collect()
        };
        let mut open = Vec::new();
        for (code, asked) in asked {
            let found = look(guard, &code, &asked)?;
            open.extend(found.filter(|question| question.approval.is_open(now)));
        }
        open.sort_by_key(|question| (question.approval.asked, question.seq));
        Ok(open)
    }

    fn held(&self) -> std::sync::MutexGuard<'_, HashMap<Id, AskedQuestion>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closes(what: &Observed) -> bool {
    matches!(
        what,
        Observed::Approve(_) | Observed::Decline(_) | Observed::Kill(_) | Observed::Reset(_)
    )
}

/// What the session's cell says of a question.
fn look(guard: &Guard, code: &Id, asked: &AskedQuestion) -> Result<Option<Question>, GuardError> {
    let now = guard.now();
    let Some(session) = guard.session(asked.session.as_str())? else {
        return Ok(None);
    };
    let mut held = session.cell.approvals(now);
    let found = held.find(|held| held.code == *code);
    Ok(found.map(|approval| Question {
        session: asked.session.clone(),
        agent: session.summary.agent.clone().or(approval.agent.clone()),
        seq: asked.seq,
        approval: approval.clone(),
    }))
}
