//! Questions to a store, and answers page by page: nothing is ever handed out whole.

use sprag_core::{Id, Mark, RuleId, SessionCell, Timestamp, Verdict, words};

use crate::eviction::idle_since;

/// The most items on a page.
pub const MAX_PAGE: usize = 1_000;

/// A part of a long answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T, C> {
    /// The items.
    pub items: Vec<T>,
    /// Where to go on; none at the end.
    pub next: Option<C>,
}

words! {
    "state",
    /// What a session may do.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SessionState {
        /// Go on.
        Active = "active",
        /// Talk, not act.
        Blocked = "blocked",
        /// Nothing.
        Killed = "killed",
    }
}

impl SessionState {
    /// What rules in shadow would have made of an active session.
    #[must_use]
    pub fn would(cell: &SessionCell) -> Option<Self> {
        let held = cell
            .shadow_mark()
            .filter(|_| Self::of(cell) == Self::Active)?;
        Some(match held.kills {
            true => Self::Killed,
            false => Self::Blocked,
        })
    }

    /// By the marks of a cell.
    #[must_use]
    pub fn of(cell: &SessionCell) -> Self {
        if cell.killed().is_some() {
            Self::Killed
        } else if cell.blocked().is_some() {
            Self::Blocked
        } else {
            Self::Active
        }
    }

    /// Its place in a sorted listing, and in a database.
    pub(crate) const fn rank(self) -> u64 {
        match self {
            Self::Active => 0,
            Self::Blocked => 1,
            Self::Killed => 2,
        }
    }
}

/// Counts over a session's events that no rule needs but people like to see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events that the session took part in.
    pub events: u64,
    /// Those that were refused.
    pub refused: u64,
    /// The rule that fired last.
    pub last_rule: Option<RuleId>,
}

impl Tally {
    /// Counts one more event.
    pub(crate) fn count(&mut self, verdict: &Verdict) {
        self.events = self.events.saturating_add(1);
        if verdict.refuses() {
            self.refused = self.refused.saturating_add(1);
        }
        if verdict.rule.is_some() {
            self.last_rule = verdict.rule;
        }
    }
}

/// One line of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSummary {
    /// The session.
    pub id: Id,
    /// Its agent, as first named.
    pub agent: Option<Id>,
    /// What it may do, by its own marks; a killed parent stops it too.
    pub state: SessionState,
    /// Its generation.
    pub generation: u32,
    /// What rules in shadow would have made of it: blocked or killed.
    pub would: Option<SessionState>,
    /// Its last event.
    pub touched: Timestamp,
    /// Tokens that it spent with its sub-agents, without those from a provider's cache.
    pub tokens: u64,
    /// Money that it spent with its sub-agents, in millionths of a US dollar.
    pub cost_micros: u64,
    /// Counts.
    pub tally: Tally,
}

impl SessionSummary {
    pub(crate) fn new(id: Id, cell: &SessionCell, tally: Tally) -> Self {
        let (tokens, cost_micros) = cell.spent();
        Self {
            id,
            tokens,
            cost_micros,
            agent: cell.agent().cloned(),
            state: SessionState::of(cell),
            would: SessionState::would(cell),
            generation: cell.generation(),
            touched: idle_since(cell.touched()),
            tally,
        }
    }
}

/// A session with all that is remembered of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its line in a listing.
    pub summary: SessionSummary,
    /// Why it is killed or blocked.
    pub mark: Option<Mark>,
    /// Its cell.
    pub cell: Box<SessionCell>,
}

impl Session {
    pub(crate) fn new(id: Id, cell: Box<SessionCell>, tally: Tally) -> Self {
        Self {
            summary: SessionSummary::new(id, &cell, tally),
            mark: cell.killed().or(cell.blocked()).cloned(),
            cell,
        }
    }
}

/// Which records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LogScope {
    /// All.
    #[default]
    All,
    /// What the guard and the store noted themselves.
    Notes,
    /// Those that this session took part in.
    Session(Id),
    /// Those that belong to this flow.
    Flow(Id),
    /// Those that share a cell with it, directly or through others, and all notes: folded from the
    /// log's start they give the session's verdicts again.
    Sharing(Id),
    /// At least those of [`Sharing`](Self::Sharing) that its verdicts depend on under the policies that they were
    /// recorded with. What the other sessions of its agent spent belongs to it only if one of those policies
    /// counts over them.
    Recorded(Id),
}

/// Which records to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// Which.
    pub scope: LogScope,
    /// Newest first.
    pub newest_first: bool,
    /// Go on after (newest first: before) this record.
    pub after: Option<u64>,
    /// At most this many; 0 and anything above [`MAX_PAGE`] mean [`MAX_PAGE`].
    pub limit: usize,
}

/// The page size that `limit` asks for.
pub(crate) fn page_size(limit: usize) -> usize {
    match limit {
        0 => MAX_PAGE,
        limit => limit.min(MAX_PAGE),
    }
}
