//! A person hears of a kill, a block, a question or a notice: by a webhook, by a command, or both.
//!
//! A guard that stops an agent at night has done half of its work; the other half is that somebody looks. What is
//! told is the record of the stop and one sentence, never a captured payload. Telling must never hold a
//! decision up and never take memory without bound, so [`Notifier::observe`] only puts an alert into a queue of fixed
//! length; a thread of its own delivers. What does not fit is counted and logged.
//!
//! The same kill is told once. A session that is blocked again within a minute was told of already; the next
//! alert says how many were folded into it.

mod alert;
mod alert_history;
mod backoff;
mod board;
mod command;
mod delivery_queue;
mod settings;
mod signature;
mod webhook;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use sprag::{Clock, Id};
use sprag_core::words;
use sprag_store::Record;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;

use crate::approval_link::LinkSigner;
use crate::log_lines::safe;
use crate::metrics::Metrics;

use alert::Alert;
use alert_history::{AlertHistory, FoldAction};
pub use backoff::Backoff;
pub use board::{Attempt, Board};
use delivery_queue::DeliveryQueue;
pub use settings::{NotifyError, NotifySettings, Webhook, WebhookSecret, split_command};
pub use signature::sign;

/// How many alerts wait for one channel.
const QUEUE: usize = 256;

words! {
    "channel",
    /// Where an alert goes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Channel {
        /// To an HTTP receiver.
        Webhook = "webhook",
        /// To a program on this machine.
        Command = "command",
    }
}

/// What became of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It was delivered.
    Sent,
    /// One try failed; there will be another.
    Retried,
    /// It was given up.
    Failed,
    /// The queue was full.
    Dropped,
}

impl DeliveryOutcome {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Retried => "retried",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }
}

/// What became of an alert on its way to one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// Where it was to go.
    pub channel: Channel,
    /// What became of it.
    pub result: DeliveryOutcome,
}

impl Delivery {
    /// Everything that can happen.
    pub const ALL: [Self; 7] = [
        Self::new(Channel::Webhook, DeliveryOutcome::Sent),
        Self::new(Channel::Webhook, DeliveryOutcome::Retried),
        Self::new(Channel::Webhook, DeliveryOutcome::Failed),
        Self::new(Channel::Webhook, DeliveryOutcome::Dropped),
        Self::new(Channel::Command, DeliveryOutcome::Sent),
        Self::new(Channel::Command, DeliveryOutcome::Failed),
        Self::new(Channel::Command, DeliveryOutcome::Dropped),
    ];

    const fn new(channel: Channel, result: DeliveryOutcome) -> Self {
        Self { channel, result }
    }
}

/// A question of which nobody could be told.
#[derive(Debug)]
pub(crate) struct Undelivered {
    pub(crate) session: Id,
    pub(crate) approval: Id,
    pub(crate) why: String,
}

/// Tells people of kills, blocks, questions and notices.
#[derive(Debug)]
pub struct Notifier {
    undelivered: Mutex<std::sync::mpsc::Receiver<Undelivered>>,
    queues: Vec<(Channel, Sender<Arc<Alert>>)>,
    history: Mutex<AlertHistory>,
    operator_kills: bool,
    source: String,
    links: Option<LinkSigner>,
    metrics: Arc<Metrics>,
    board: Board,
    thread: Option<JoinHandle<()>>,
    give_up: Option<oneshot::Sender<Duration>>,
}

impl Notifier {
    /// Starts the thread that delivers; none where nobody is to be told.
    ///
    /// # Errors
    /// Returns an error if the settings are wrong, or the thread can't be started.
    pub fn start(
        settings: NotifySettings,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
    ) -> Result<Option<Self>, NotifyError> {
        let (operator_kills, source) = (settings.operator_kills, settings.source.clone());
        let (lost, undelivered) = std::sync::mpsc::channel();
        let queue = DeliveryQueue::new(settings, clock, Arc::clone(&metrics), lost)?;
        let Some(mut queue) = queue else {
            return Ok(None);
        };
        let mut queues = Vec::new();
        for channel_of in queue.channels() {
            let (sender, receiver) = channel(QUEUE);
            queue.take(channel_of, receiver);
            queues.push((channel_of, sender));
        }
        let board = queue.board().clone().with_queues(&queues);
        let (give_up, gives_up) = oneshot::channel();
        let thread = queue.run(gives_up)?;
        Ok(Some(Self {
            undelivered: Mutex::new(undelivered),
            queues,
            history: Mutex::default(),
            operator_kills,
            source,
            links: None,
            metrics,
            board,
            thread: Some(thread),
            give_up: Some(give_up),
        }))
    }

    /// Puts a link into each question that it tells.
    pub(crate) fn with_links(mut self, links: Option<LinkSigner>) -> Self {
        self.links = links;
        self
    }

    /// Tells of a record where it is a new stop. Never waits.
    pub fn observe(&self, record: &Record) {
        let Some(mut alert) = Alert::of(record, self.operator_kills) else {
            return;
        };
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        match history.tell(&alert) {
            FoldAction::Suppress => {
                self.metrics.notification_folded();
                return;
            }
            FoldAction::Send(others) => alert.finish(record, &self.source, others),
        }
        drop(history);
        for (channel, queue) in &self.queues {
            let told = alert.on(*channel, self.links.as_ref());
            if queue.try_send(Arc::new(told)).is_err() {
                self.metrics
                    .notified(Delivery::new(*channel, DeliveryOutcome::Dropped));
                tracing::error!(target: "sprag", seq = alert.seq, session = safe(&alert.session), "a notification by {} was dropped: {QUEUE} are waiting already", channel.as_str());
            }
        }
    }

    /// What an operator sees of notifications.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Questions of which nobody could be told since this was last asked.
    pub(crate) fn undelivered(&self) -> Vec<Undelivered> {
        let lost = self.undelivered.lock();
        lost.unwrap_or_else(PoisonError::into_inner)
            .try_iter()
            .collect()
    }

    /// Delivers what waits, for at most `within`, and ends the thread.
    pub fn stop(mut self, within: Duration) {
        self.end(within);
    }

    fn end(&mut self, within: Duration) {
        self.queues.clear();
        if let Some(give_up) = self.give_up.take() {
            // The thread is gone already where this fails.
            let _ = give_up.send(within);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}
