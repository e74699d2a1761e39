//! The cells that hold little: inboxes, conversations, agents.

use super::destructive::Destructive;
use super::spent::Spending;
use super::window::Window;
use crate::time::{Millis, Timestamp};

/// The messages that arrived at one session or agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboxCell {
    pub(crate) touched: Timestamp,
    pub(crate) arrived: Window,
    /// Those that brought something new.
    pub(crate) new_arrived: Window,
}

impl InboxCell {
    /// What is out of the window is not even remembered, so that a store may forget it too.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        if now.since(self.touched) >= Millis::MINUTE {
            self.arrived.clear();
            self.new_arrived.clear();
        }
    }
}

/// A tracked conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationCell {
    pub(crate) touched: Timestamp,
    pub(crate) messages: u32,
    /// Those that brought something new.
    pub(crate) new_messages: u32,
}

impl ConversationCell {
    /// How much its messages count: half if they brought something new.
    pub(crate) fn weight(&self) -> u32 {
        self.messages.saturating_add(self.new_messages / 2)
    }

    /// A user wrote in it.
    pub(crate) fn start_again(&mut self) {
        self.messages = 0;
        self.new_messages = 0;
    }

    pub(crate) fn expire(&mut self, now: Timestamp) {
        if now.since(self.touched) >= Millis::DAY {
            self.start_again();
        }
    }
}

/// All sessions of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentCell {
    pub(crate) touched: Timestamp,
    pub(crate) destructive: Destructive,
    /// The same for what commands destroy outside of the workspace.
    pub(crate) commands: Destructive,
    /// The first event of the present UTC day.
    pub(crate) day_since: Timestamp,
    pub(crate) spent: Spending,
}

impl AgentCell {
    /// Starts a new budget if a new UTC day began.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        if self.day_since.utc_day() != now.utc_day() {
            self.day_since = now;
            self.spent = Spending::default();
        }
    }
}
