//! The thread that delivers: a small runtime of its own, so that a slow receiver takes nothing from anyone.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use sprag::{Clock, Id};
use tokio::sync::mpsc::Receiver as Queue;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Undelivered;
use super::alert::Alert;
use super::backoff::Backoff;
use super::board::{Attempt, Board};
use super::command::NotifyCommand;
use super::settings::{NotifyError, NotifySettings};
use super::webhook::WebhookClient;
use super::{Channel, Delivery, DeliveryOutcome};
use crate::log_lines::safe;
use crate::metrics::Metrics;

/// How many alerts are on their way to one destination at the same time.
const AT_ONCE: usize = 4;

/// One destination where alerts go.
#[derive(Debug)]
enum Destination {
    Webhook(WebhookClient, Backoff),
    Command(NotifyCommand),
}

/// What the thread works with.
pub(super) struct DeliveryQueue {
    destinations: Vec<Arc<Destination>>,
    queues: Vec<(Arc<Destination>, Queue<Arc<Alert>>)>,
    context: Arc<DeliveryContext>,
}

/// What every delivery needs.
struct DeliveryContext {
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    /// How many ways there are to a person.
    ways: usize,
    undelivered: Sender<Undelivered>,
    board: Board,
}

impl DeliveryQueue {
    /// None where nobody is to be told.
    pub(super) fn new(
        settings: NotifySettings,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
        undelivered: Sender<Undelivered>,
    ) -> Result<Option<Self>, NotifyError> {
        let mut destinations = Vec::new();
        if let Some(webhook) = settings.webhook {
            let receiver = WebhookClient::new(webhook, settings.timeout)?;
            destinations.push(Arc::new(Destination::Webhook(receiver, settings.backoff)));
        }
        if let Some(program) = NotifyCommand::new(settings.command, settings.timeout) {
            destinations.push(Arc::new(Destination::Command(program)));
        }
        let context = DeliveryContext {
            clock,
            metrics,
            ways: destinations.len(),
            undelivered,
            board: Board::new(
                destinations
                    .iter()
                    .map(|to| (to.channel(), to.name().to_owned()))
                    .collect(),
            ),
        };
        Ok((!destinations.is_empty()).then(|| Self {
            destinations,
            queues: Vec::new(),
            context: Arc::new(context),
        }))
    }

    pub(super) fn channels(&self) -> Vec<Channel> {
        self.destinations
            .iter()
            .map(|destination| destination.channel())
            .collect()
    }

    /// What an operator sees.
    pub(super) fn board(&self) -> &Board {
        &self.context.board
    }

    /// Takes the queue of one channel.
    pub(super) fn take(&mut self, channel: Channel, queue: Queue<Arc<Alert>>) {
        let destination = self
            .destinations
            .iter()
            .find(|destination| destination.channel() == channel);
        if let Some(destination) = destination {
            self.queues.push((Arc::clone(destination), queue));
        }
    }

    /// Starts the thread. It ends when all queues have, or some time after `give_up` was told.
    pub(super) fn run(
        self,
        give_up: oneshot::Receiver<Duration>,
    ) -> Result<JoinHandle<()>, NotifyError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(NotifyError::Thread)?;
        std::thread::Builder::new()
            .name("sprag-notify".to_owned())
            .spawn(move || runtime.block_on(self.work(give_up)))
            .map_err(NotifyError::Thread)
    }

    async fn work(self, give_up: oneshot::Receiver<Duration>) {
        let mut queues = JoinSet::new();
        for (destination, queue) in self.queues {
            queues.spawn(empty(destination, queue, Arc::clone(&self.context)));
        }
        let done = async { while queues.join_next().await.is_some() {} };
        let patience = async {
            // An error says that whoever would tell is gone.
            if let Ok(within) = give_up.await {
                sleep(within).await;
            }
        };
        tokio::select! {
            biased;
            () = done => {}
            () = patience => {
                tracing::warn!(target: "sprag", "stopped before every notification was delivered");
            }
        }
    }
}

/// Delivers what comes through a queue, a few at a time, until the queue ends.
async fn empty(
    destination: Arc<Destination>,
    mut queue: Queue<Arc<Alert>>,
    context: Arc<DeliveryContext>,
) {
    let mut running = JoinSet::new();
    while let Some(alert) = queue.recv().await {
        if running.len() >= AT_ONCE {
            running.join_next().await;
        }
        let (destination, context) = (Arc::clone(&destination), Arc::clone(&context));
        running.spawn(async move { destination.deliver(&alert, &context).await });
    }
    while running.join_next().await.is_some() {}
}

impl Destination {
    const fn channel(&self) -> Channel {
        match self {
            Self::Webhook(..) => Channel::Webhook,
            Self::Command(_) => Channel::Command,
        }
    }

    /// The host, or the program: what may be shown of where it leads.
    fn name(&self) -> &str {
        match self {
            Self::Webhook(receiver, _) => receiver.host(),
            Self::Command(program) => program.name(),
        }
    }

    async fn deliver(&self, alert: &Alert, context: &DeliveryContext) {
        let name = self.name();
        let outcome = match self {
            Self::Webhook(receiver, backoff) => persist(receiver, *backoff, alert, context).await,
            Self::Command(program) => program.run(alert).await,
        };
        context.note(self.channel(), alert, &outcome);
        let result = match outcome {
            Ok(()) => DeliveryOutcome::Sent,
            Err(why) => {
                let channel = self.channel().as_str();
                tracing::error!(target: "sprag", seq = alert.seq, session = safe(&alert.session), "the notification by {channel} to {name} failed: {why}");
                context.failed(
                    alert,
                    format!("the notification by {channel} failed: {why}"),
                );
                DeliveryOutcome::Failed
            }
        };
        context.count(self.channel(), result);
    }
}

/// Tries again as long as it makes sense.
async fn persist(
    receiver: &WebhookClient,
    backoff: Backoff,
    alert: &Alert,
    context: &DeliveryContext,
) -> Result<(), String> {
    let mut failures = 0_u32;
    loop {
        let Err(failure) = receiver.send(alert, context.clock.now()).await else {
            return Ok(());
        };
        failures = failures.saturating_add(1);
        if !failure.passing {
            return Err(failure.why);
        }
        let chance = getrandom::u32().unwrap_or_default();
        let Some(wait) = backoff.wait(failures, chance) else {
            return Err(format!("{} (given up after {failures} tries)", failure.why));
        };
        context.count(Channel::Webhook, DeliveryOutcome::Retried);
        sleep(wait.max(failure.retry_after.unwrap_or_default())).await;
    }
}

impl DeliveryContext {
    /// A question that reached nobody on any way has to be answered by the guard itself.
    fn failed(&self, alert: &Alert, why: String) {
        let failures = alert.failures.fetch_add(1, Ordering::AcqRel) + 1;
        let Some(approval) = alert.approval.clone().filter(|_| failures >= self.ways) else {
            return;
        };
        if let Ok(session) = Id::new(&alert.session) {
            // Nobody listens any more when the server ends.
            let _ = self.undelivered.send(Undelivered {
                session,
                approval,
                why,
            });
        }
    }

    /// Remembers what became of an alert, for whoever looks.
    fn note(&self, channel: Channel, alert: &Alert, outcome: &Result<(), String>) {
        let (result, why) = match outcome {
            Ok(()) => (DeliveryOutcome::Sent, None),
            Err(why) => (DeliveryOutcome::Failed, Some(why.clone())),
        };
        self.board.note(Attempt {
            at: self.clock.now().0,
            channel: channel.as_str(),
            seq: alert.seq,
            text: alert.text.clone(),
            result: result.as_str(),
            why,
        });
    }

    fn count(&self, channel: Channel, result: DeliveryOutcome) {
        self.metrics.notified(Delivery { channel, result });
    }
}
