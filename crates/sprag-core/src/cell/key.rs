//! The key of one cell: how a store finds it, writes it down and indexes its log by it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::keys::{CellKeys, InboxKey};
use crate::id::Id;

/// Between the two ids of a pair. No id holds a control character.
const BETWEEN: char = '\n';

/// Which cell: its kind and the ids that distinguish it from others of its kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CellKey {
    /// A session.
    Session(Id),
    /// A flow.
    Flow(Id),
    /// Two sessions that talk, sorted.
    Pair(Id, Id),
    /// An inbox of one session.
    Inbox(Id),
    /// An inbox that all sessions of an agent share.
    AgentInbox(Id),
    /// A conversation.
    Conversation(Id),
    /// An agent.
    Agent(Id),
    /// A tool use.
    Alias(Id),
    /// A task.
    Task(Id),
}

impl CellKey {
    /// The keys of the cells that an event touches.
    pub fn all(keys: &CellKeys) -> impl Iterator<Item = Self> {
        let sessions = keys.session.iter().chain(&keys.peer).chain(&keys.above);
        sessions
            .map(|id| Self::Session(id.clone()))
            .chain(keys.flow.iter().map(|id| Self::Flow(id.clone())))
            .chain(keys.family.iter().map(|id| Self::Flow(id.clone())))
            .chain(keys.pair.as_ref().map(Self::of_pair))
            .chain(keys.inbox.as_ref().map(Self::of_inbox))
            .chain(
                keys.conversation
                    .iter()
                    .map(|id| Self::Conversation(id.clone())),
            )
            .chain(keys.agent.iter().map(|id| Self::Agent(id.clone())))
            .chain(keys.alias.iter().map(|id| Self::Alias(id.clone())))
            .chain(keys.task.iter().map(|id| Self::Task(id.clone())))
    }

    /// The key of the cell that two sessions share.
    #[must_use]
    pub fn of_pair((first, second): &(Id, Id)) -> Self {
        Self::Pair(first.clone(), second.clone())
    }

    /// The key of an inbox.
    #[must_use]
    pub fn of_inbox(inbox: &InboxKey) -> Self {
        match inbox {
            InboxKey::Session(id) => Self::Inbox(id.clone()),
            InboxKey::Agent(id) => Self::AgentInbox(id.clone()),
        }
    }

    /// The kind as a number. Stores write it down, so a number never changes its meaning.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Session(_) => 0,
            Self::Flow(_) => 1,
            Self::Pair(..) => 2,
            Self::Inbox(_) => 3,
            Self::AgentInbox(_) => 4,
            Self::Conversation(_) => 5,
            Self::Agent(_) => 6,
            Self::Alias(_) => 7,
            Self::Task(_) => 8,
        }
    }

    /// The id, and the second one of a pair.
    const fn ids(&self) -> (&Id, Option<&Id>) {
        match self {
            Self::Pair(first, second) => (first, Some(second)),
            Self::Session(id)
            | Self::Flow(id)
            | Self::Inbox(id)
            | Self::AgentInbox(id)
            | Self::Conversation(id)
            | Self::Agent(id)
            | Self::Alias(id)
            | Self::Task(id) => (id, None),
        }
    }

    /// The ids as one text; with [`kind`](Self::kind) it names the cell.
    #[must_use]
    pub fn name(&self) -> String {
        match self.ids() {
            (first, Some(second)) => format!("{first}{BETWEEN}{second}"),
            (id, None) => id.as_str().to_owned(),
        }
    }

    /// The key that [`kind`](Self::kind) and [`name`](Self::name) make; none if they name no cell.
    #[must_use]
    pub fn parse(kind: u8, name: &str) -> Option<Self> {
        let id = || Id::new(name).ok();
        Some(match kind {
            0 => Self::Session(id()?),
            1 => Self::Flow(id()?),
            2 => {
                let (first, second) = name.split_once(BETWEEN)?;
                Self::Pair(Id::new(first).ok()?, Id::new(second).ok()?)
            }
            3 => Self::Inbox(id()?),
            4 => Self::AgentInbox(id()?),
            5 => Self::Conversation(id()?),
            6 => Self::Agent(id()?),
            7 => Self::Alias(id()?),
            8 => Self::Task(id()?),
            _ => return None,
        })
    }

    /// 64 bits under which a log's index finds the events of this cell. Two cells that share them
    /// by accident only make a replay fold a few more events.
    #[must_use]
    pub fn index(&self) -> u64 {
        let (first, second) = self.ids();
        let hash = fnv(0xcbf2_9ce4_8422_2325, &[self.kind()]);
        let hash = fnv(hash, first.as_str().as_bytes());
        match second {
            Some(second) => fnv(fnv(hash, b"\n"), second.as_str().as_bytes()),
            None => hash,
        }
    }
}

fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Serialize for CellKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.kind(), self.name()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CellKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (kind, name) = <(u8, String)>::deserialize(deserializer)?;
        Self::parse(kind, &name).ok_or_else(|| serde::de::Error::custom("not the name of a cell"))
    }
}
