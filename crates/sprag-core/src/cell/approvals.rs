//! The questions of a session: which calls wait for a person, and what people said.
//!
//! A question belongs to one approach: server, tool and exact arguments. It has a code that a person
//! can type. The code follows from the call's keyed digest, the session, its generation and a count, so
//! a replay finds the same one.
//!
//! Bounded by: 16 open questions and 16 answers a session, each a few hundred bytes.

use super::hash::{hash_bytes, mix};
use crate::id::Id;
use crate::rule::RuleId;
use crate::time::{Millis, Timestamp};

/// So many questions of a session may be open.
pub(crate) const MAX_OPEN: usize = 16;
/// So many answers of a session are remembered.
const MAX_ANSWERED: usize = 16;
/// So many commands of a question are named.
const MAX_COMMANDS: usize = 4;
/// How long a declined approach is refused without a new question.
pub(crate) const DECLINED_FOR: Millis = Millis(600_000);
/// Characters that nobody confuses with others.
const CODE_CHARS: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyz0";
/// The length of a code.
const CODE_LENGTH: usize = 8;

words! {
    "scope",
    /// How far a person's yes goes.
    #[derive(
        Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
    )]
    #[serde(rename_all = "lowercase")]
    pub enum ApprovalScope {
        /// This call, once.
        #[default]
        Once = "once",
        /// The same on the same target, as long as the session lasts.
        Session = "session",
        /// The same as `session`; whoever sends it also writes the command into the policy, for this project.
        Project = "project",
        /// The same as `session`; whoever sends it also writes the command into the policy, for this agent.
        Agent = "agent",
    }
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// Nobody has answered.
    #[default]
    Open,
    /// The call may run, once.
    Approved,
    /// The same on the same target may run as long as the session lasts.
    Granted,
    /// The call is refused.
    Declined,
}

/// One question, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Approval {
    /// What a person types.
    pub code: Id,
    /// Where it stands.
    pub state: ApprovalState,
    /// When it was asked.
    pub asked: Timestamp,
    /// Until when it can be answered; of an approved one, until when the call may be made.
    pub until: Timestamp,
    /// The rule that asks.
    pub rule: Option<RuleId>,
    /// The call, in words.
    pub what: String,
    /// Why it is asked.
    pub why: String,
    /// The programs with their subcommands that it asks about, as `destructive.allow` names them; at most
    /// four, and none if there are more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Box<str>>,
    /// The project's folder, if the commands are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<Box<str>>,
    /// The agent that made the call, if it is known. A session keeps its agent only once a call was let through.
    #[serde(skip)]
    pub agent: Option<Id>,
    /// Who answered.
    pub by: Option<Box<str>>,
    /// What they said.
    pub said: Option<Box<str>>,
    /// The call: server, tool and exact arguments.
    #[serde(skip)]
    pub(crate) exact: u64,
    /// What `session` approves: the same on the same target.
    #[serde(skip)]
    pub(crate) deed: u64,
}

impl Approval {
    /// Whether it still means something at `now`.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        match self.state {
            ApprovalState::Granted => true,
            _ => now < self.until,
        }
    }

    /// Whether a person can still answer it at `now`.
    #[must_use]
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state == ApprovalState::Open && now < self.until
    }
}

/// What people said about a call before it is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answered {
    /// It may run: the code of the question.
    Approved(Id),
    /// It may not: who declined it, and why.
    Declined(Option<Box<str>>, Option<Box<str>>),
    /// Nobody said anything.
    Nothing,
}

/// The questions of a session, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Approvals {
    /// How many were ever asked in this generation.
    pub(crate) count: u32,
    pub(crate) list: Vec<Approval>,
}

/// A question to open.
pub(crate) struct Question<'q> {
    pub(crate) session: &'q Id,
    pub(crate) generation: u32,
    pub(crate) exact: u64,
    pub(crate) deed: u64,
    pub(crate) rule: RuleId,
    pub(crate) what: String,
    pub(crate) why: String,
    pub(crate) commands: Vec<Box<str>>,
    pub(crate) root: Option<Box<str>>,
    pub(crate) agent: Option<Id>,
}

impl Approvals {
    /// What people said about a call.
    pub(crate) fn answered(&self, exact: u64, deed: u64, now: Timestamp) -> Answered {
        let live = || self.list.iter().filter(|held| held.is_live(now));
        let granted = |held: &&Approval| held.state == ApprovalState::Granted && held.deed == deed;
        let approved =
            |held: &&Approval| held.state == ApprovalState::Approved && held.exact == exact;
        if let Some(held) = live().find(granted).or_else(|| live().find(approved)) {
            return Answered::Approved(held.code.clone());
        }
        live()
            .rfind(|held| held.state == ApprovalState::Declined && held.exact == exact)
            .map_or(Answered::Nothing, |held| {
                Answered::Declined(held.by.clone(), held.said.clone())
            })
    }

    /// Whether a person granted `deed` for the session.
    pub(crate) fn grants(&self, deed: u64) -> bool {
        let granted = |held: &Approval| held.state == ApprovalState::Granted && held.deed == deed;
        self.list.iter().any(granted)
    }

    /// Whether a person declined something since a user last spoke, as long as that still means something: an answer
    /// that does not is dropped with the next question.
    pub(crate) fn has_declined(&self, now: Timestamp) -> bool {
        let declined = |held: &Approval| held.state == ApprovalState::Declined;
        self.list
            .iter()
            .any(|held| declined(held) && held.is_live(now))
    }

    /// The approved call is made: an approval for once is used up.
    pub(crate) fn use_up(&mut self, code: &Id) {
        self.list
            .retain(|held| held.code != *code || held.state == ApprovalState::Granted);
    }

    /// The open question about a call, or a new one; none if too many are open.
    pub(crate) fn ask(
        &mut self,
        question: Question<'_>,
        expires: Millis,
        now: Timestamp,
    ) -> Option<&Approval> {
        self.list.retain(|held| held.is_live(now));
        let same = |held: &Approval| held.is_open(now) && held.exact == question.exact;
        if let Some(at) = self.list.iter().position(same) {
            return self.list.get(at);
        }
        if self.list.iter().filter(|held| held.is_open(now)).count() >= MAX_OPEN {
            return None;
        }
        self.count = self.count.saturating_add(1);
        let named = (1..=MAX_COMMANDS).contains(&question.commands.len());
        self.list.push(Approval {
            code: approval_code(
                question.exact,
                question.session,
                question.generation,
                self.count,
            )?,
            state: ApprovalState::Open,
            asked: now,
            until: now.plus(expires),
            rule: Some(question.rule),
            what: question.what,
            why: question.why,
            commands: if named { question.commands } else { Vec::new() },
            root: question.root.filter(|_| named),
            agent: question.agent,
            by: None,
            said: None,
            exact: question.exact,
            deed: question.deed,
        });
        self.list.last()
    }

    /// The question with this code.
    pub(crate) fn find_mut(&mut self, code: &Id) -> Option<&mut Approval> {
        self.list.iter_mut().find(|held| held.code == *code)
    }

    /// Forgets the oldest answers beyond the bound.
    pub(crate) fn forget(&mut self) {
        let answered = |held: &Approval| held.state != ApprovalState::Open;
        let mut over = self.list.iter().filter(|held| answered(held)).count();
        self.list.retain(|held| {
            let goes = answered(held) && over > MAX_ANSWERED;
            over -= usize::from(goes);
            !goes
        });
    }

    /// A user spoke: what was declined may be asked again.
    pub(crate) fn spoken_to(&mut self) {
        self.list
            .retain(|held| held.state != ApprovalState::Declined);
    }

    /// A call that was asked about was made all the same: its client let it run. The question, with the
    /// call that it is about.
    pub(crate) fn let_run(
        &mut self,
        is_asked: impl Fn(&Approval) -> bool,
        now: Timestamp,
    ) -> Option<(Id, u64)> {
        let held = self
            .list
            .iter_mut()
            .find(|held| held.is_open(now) && is_asked(held))?;
        held.state = ApprovalState::Granted;
        held.by = Some("the client".into());
        let found = (held.code.clone(), held.exact);
        self.forget();
        Some(found)
    }
}

/// The code of the question number `count` of a session's generation, about a call with this digest.
#[must_use]
pub fn approval_code(exact: u64, session: &Id, generation: u32, count: u32) -> Option<Id> {
    let session = hash_bytes(session.as_str().as_bytes());
    let place = mix(u64::from(generation), u64::from(count));
    let mut bits = mix(mix(exact, session), place);
    let mut text = String::with_capacity(CODE_LENGTH);
    for _ in 0..CODE_LENGTH {
        let at = usize::try_from(bits % 32).unwrap_or(0);
        text.push(char::from(CODE_CHARS.get(at).copied().unwrap_or(b'x')));
        bits >>= 5;
    }
    Id::new(&text).ok()
}
