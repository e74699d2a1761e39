//! Listings of sessions: filtered, sorted and page by page, the same in every store.

use std::cmp::Ordering;

use sprag_core::{Id, RuleId, Timestamp};

use crate::query::{Page, SessionState, SessionSummary, page_size};

/// What a listing of sessions is sorted by; equal ones by their ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SessionSort {
    /// Their last event.
    #[default]
    Touched,
    /// How many events they took part in.
    Events,
    /// How many of those were refused.
    Refused,
    /// Their ids.
    Id,
    /// Their agents; those without one come before any name.
    Agent,
    /// Their states: active, blocked, killed.
    State,
}

/// What a session is sorted by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortValue {
    /// A time, a count, or the rank of a state.
    Number(u64),
    /// A name.
    Name(Option<Id>),
}

impl SessionSort {
    /// What `session` is sorted by.
    #[must_use]
    pub fn value(self, session: &SessionSummary) -> SortValue {
        match self {
            Self::Touched => SortValue::Number(session.touched.0),
            Self::Events => SortValue::Number(session.tally.events),
            Self::Refused => SortValue::Number(session.tally.refused),
            Self::Id => SortValue::Name(Some(session.id.clone())),
            Self::Agent => SortValue::Name(session.agent.clone()),
            Self::State => SortValue::Number(session.state.rank()),
        }
    }
}

/// Where a listing of sessions goes on: after this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCursor {
    /// What the last one was sorted by.
    pub value: SortValue,
    /// The last one.
    pub id: Id,
}

/// Which sessions to list: the latest first, unless said otherwise.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionQuery {
    /// Only those in this state.
    pub state: Option<SessionState>,
    /// Only those of this agent.
    pub agent: Option<Id>,
    /// Only those whose id or agent holds this text.
    pub contains: Option<String>,
    /// Only those in which this rule fired last.
    pub rule: Option<RuleId>,
    /// Only those whose last event was at or after this time.
    pub since: Option<Timestamp>,
    /// Only those whose last event was before this time.
    pub until: Option<Timestamp>,
    /// In which order.
    pub sort: SessionSort,
    /// The smallest first.
    pub ascending: bool,
    /// Go on after this one.
    pub after: Option<SessionCursor>,
    /// Leave out so many first: for those who jump into the middle.
    pub skip: usize,
    /// At most this many; 0 and anything above [`MAX_PAGE`](crate::MAX_PAGE) mean
    /// [`MAX_PAGE`](crate::MAX_PAGE).
    pub limit: usize,
}

impl SessionQuery {
    /// A page of `all`, which are in no order.
    pub(crate) fn choose(
        &self,
        all: impl Iterator<Item = SessionSummary>,
    ) -> Page<SessionSummary, SessionCursor> {
        let mut found: Vec<_> = all
            .filter(|session| self.wants(session))
            .map(|session| (self.sort.value(&session), session))
            .filter(|(value, session)| self.is_left(value, &session.id))
            .collect();
        let order = |a: &(SortValue, SessionSummary), b: &(SortValue, SessionSummary)| {
            self.order((&a.0, &a.1.id), (&b.0, &b.1.id))
        };
        let last = self.skip.saturating_add(page_size(self.limit));
        if found.len() > last.saturating_add(1) {
            found.select_nth_unstable_by(last, order);
            found.truncate(last + 1);
        }
        found.sort_unstable_by(order);
        let found = found.into_iter().skip(self.skip);
        self.page(found.map(|(_, session)| session).collect())
    }

    /// How many of `all` are wanted, on whatever page.
    pub(crate) fn count(&self, all: impl Iterator<Item = SessionSummary>) -> u64 {
        let wanted = all.filter(|session| self.wants(session)).count();
        u64::try_from(wanted).unwrap_or(u64::MAX)
    }

    /// The first page of what was found, sorted already.
    pub(crate) fn page(
        &self,
        mut found: Vec<SessionSummary>,
    ) -> Page<SessionSummary, SessionCursor> {
        let size = page_size(self.limit);
        let more = found.len() > size;
        found.truncate(size);
        let next = found.last().filter(|_| more).map(|last| SessionCursor {
            value: self.sort.value(last),
            id: last.id.clone(),
        });
        Page { items: found, next }
    }

    /// Whether nothing is left out.
    pub(crate) fn is_for_all(&self) -> bool {
        let names = self.agent.is_none() && self.contains.is_none();
        let times = self.since.is_none() && self.until.is_none();
        names && times && self.state.is_none() && self.rule.is_none()
    }

    fn wants(&self, session: &SessionSummary) -> bool {
        let agent = session.agent.as_ref();
        let holds = |text: &String| {
            let named = agent.is_some_and(|agent| agent.as_str().contains(text.as_str()));
            named || session.id.as_str().contains(text.as_str())
        };
        self.state.is_none_or(|state| state == session.state)
            && self.since.is_none_or(|since| session.touched >= since)
            && self.until.is_none_or(|until| session.touched < until)
            && (self.agent.is_none() || self.agent.as_ref() == agent)
            && self.contains.as_ref().is_none_or(holds)
            && (self.rule.is_none() || self.rule == session.tally.last_rule)
    }

    fn is_left(&self, value: &SortValue, id: &Id) -> bool {
        let is_after = |after: &SessionCursor| {
            self.order((value, id), (&after.value, &after.id)) == Ordering::Greater
        };
        self.after.as_ref().is_none_or(is_after)
    }

    fn order(&self, one: (&SortValue, &Id), other: (&SortValue, &Id)) -> Ordering {
        let by_value = one.0.cmp(other.0);
        let by_value = if self.ascending {
            by_value
        } else {
            by_value.reverse()
        };
        by_value.then_with(|| one.1.cmp(other.1))
    }
}
