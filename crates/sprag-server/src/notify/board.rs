//! What an operator sees of notifications: the ways there are, the last attempts, and a test.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::json;
use sprag::{Decision, Timestamp, rfc3339};
use tokio::sync::mpsc::{Sender, WeakSender};
use utoipa::ToSchema;

use super::Channel;
use super::alert::Alert;

/// How many attempts are remembered.
const ATTEMPTS: usize = 50;

/// What became of one notification on one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Attempt {
    /// When it was given out.
    pub at: u64,
    /// `webhook` or `command`.
    #[schema(value_type = String, example = "webhook")]
    pub channel: &'static str,
    /// The record that it is about; 0 for a test.
    pub seq: u64,
    /// What was said.
    pub text: String,
    /// `sent`, `failed` or `dropped`.
    #[schema(value_type = String, example = "sent")]
    pub result: &'static str,
    /// Why it failed.
    #[schema(required)]
    pub why: Option<String>,
}

/// What an operator sees of notifications; cheap to clone.
#[derive(Debug, Clone)]
pub struct Board {
    channels: Arc<[(Channel, String)]>,
    attempts: Arc<Mutex<VecDeque<Attempt>>>,
    /// Weak, so that the queues end with the notifier.
    queues: Vec<(Channel, WeakSender<Arc<Alert>>)>,
}

impl Board {
    pub(super) fn new(channels: Vec<(Channel, String)>) -> Self {
        Self {
            channels: channels.into(),
            attempts: Arc::default(),
            queues: Vec::new(),
        }
    }

    pub(super) fn with_queues(mut self, queues: &[(Channel, Sender<Arc<Alert>>)]) -> Self {
        let weak = queues
            .iter()
            .map(|(channel, queue)| (*channel, queue.downgrade()));
        self.queues = weak.collect();
        self
    }

    /// The ways, and where each leads.
    pub(crate) fn channels(&self) -> &[(Channel, String)] {
        &self.channels
    }

    /// The last attempts, the newest first.
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        let attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.iter().rev().cloned().collect()
    }

    pub(super) fn note(&self, attempt: Attempt) {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        if attempts.len() == ATTEMPTS {
            attempts.pop_front();
        }
        attempts.push_back(attempt);
    }

    /// Sends a test on every way, and answers on which.
    pub(crate) fn test(&self, by: &str, now: Timestamp) -> Vec<&'static str> {
        let text = format!("This is a test that {by} sent from Sprag. Nothing was stopped.");
        let body = json!({
            "specversion": "1.0",
            "id": format!("test-{}", now.0),
            "source": "sprag",
            "type": "dev.sprag.test",
            "time": rfc3339(now),
            "text": text,
        });
        let alert = Arc::new(Alert::test(now, text, body.to_string()));
        let sent = self.queues.iter().filter(|(channel, queue)| {
            let queue = queue.upgrade();
            let sent = queue.is_some_and(|queue| queue.try_send(Arc::clone(&alert)).is_ok());
            if !sent {
                self.note(Attempt {
                    at: now.0,
                    channel: channel.as_str(),
                    seq: 0,
                    text: alert.text.clone(),
                    result: "dropped",
                    why: Some("too many are waiting already".to_owned()),
                });
            }
            sent
        });
        sent.map(|(channel, _)| channel.as_str()).collect()
    }
}

impl Alert {
    /// One that is about nothing.
    fn test(now: Timestamp, text: String, body: String) -> Self {
        Self {
            seq: 0,
            at: now,
            session: "test".to_owned(),
            agent: None,
            generation: 1,
            verdict: Decision::Allow,
            approval: None,
            until: now,
            link: None,
            failures: Arc::default(),
            rule: None,
            by: None,
            why: text.clone(),
            destroys: String::new(),
            id: format!("test-{}", now.0),
            text,
            body,
        }
    }
}
