//! The thread that delivers: a small runtime of its own, so that a slow receiver takes nothing from anyone.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use sprag::Clock;
use tokio::sync::mpsc::Receiver as Queue;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::alert::Alert;
use super::backoff::Backoff;
use super::command::Program;
use super::settings::{NotifyError, NotifySettings};
use super::webhook::Receiver;
use super::{Channel, Delivery, Outcome};
use crate::log_lines::safe;
use crate::metrics::Metrics;

/// How many alerts are on their way to one place at the same time.
const AT_ONCE: usize = 4;

/// One place where alerts go.
#[derive(Debug)]
enum Place {
    Receiver(Receiver, Backoff),
    Program(Program),
}

/// What the thread works with.
pub(super) struct Desk {
    places: Vec<Arc<Place>>,
    queues: Vec<(Arc<Place>, Queue<Arc<Alert>>)>,
    office: Arc<Office>,
}

/// What every delivery needs.
struct Office {
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
}

impl Desk {
    /// None where nobody is to be told.
    pub(super) fn new(
        settings: NotifySettings,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
    ) -> Result<Option<Self>, NotifyError> {
        let mut places = Vec::new();
        if let Some(webhook) = settings.webhook {
            let receiver = Receiver::new(webhook, settings.timeout)?;
            places.push(Arc::new(Place::Receiver(receiver, settings.backoff)));
        }
        if let Some(program) = Program::new(settings.command, settings.timeout) {
            places.push(Arc::new(Place::Program(program)));
        }
        Ok((!places.is_empty()).then(|| Self {
            places,
            queues: Vec::new(),
            office: Arc::new(Office { clock, metrics }),
        }))
    }

    pub(super) fn channels(&self) -> Vec<Channel> {
        self.places.iter().map(|place| place.channel()).collect()
    }

    /// Takes the queue of one channel.
    pub(super) fn take(&mut self, channel: Channel, queue: Queue<Arc<Alert>>) {
        let place = self.places.iter().find(|place| place.channel() == channel);
        if let Some(place) = place {
            self.queues.push((Arc::clone(place), queue));
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
        for (place, queue) in self.queues {
            queues.spawn(empty(place, queue, Arc::clone(&self.office)));
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
async fn empty(place: Arc<Place>, mut queue: Queue<Arc<Alert>>, office: Arc<Office>) {
    let mut running = JoinSet::new();
    while let Some(alert) = queue.recv().await {
        if running.len() >= AT_ONCE {
            running.join_next().await;
        }
        let (place, office) = (Arc::clone(&place), Arc::clone(&office));
        running.spawn(async move { place.deliver(&alert, &office).await });
    }
    while running.join_next().await.is_some() {}
}

impl Place {
    const fn channel(&self) -> Channel {
        match self {
            Self::Receiver(..) => Channel::Webhook,
            Self::Program(_) => Channel::Command,
        }
    }

    async fn deliver(&self, alert: &Alert, office: &Office) {
        let (name, outcome) = match self {
            Self::Receiver(receiver, backoff) => (
                receiver.host(),
                persist(receiver, *backoff, alert, office).await,
            ),
            Self::Program(program) => (program.name(), program.run(alert).await),
        };
        let result = match outcome {
            Ok(()) => Outcome::Sent,
            Err(why) => {
                let channel = self.channel().as_str();
                tracing::error!(target: "sprag", seq = alert.seq, session = safe(&alert.session), "the notification by {channel} to {name} failed: {why}");
                Outcome::Failed
            }
        };
        office.count(self.channel(), result);
    }
}

/// Tries again as long as it makes sense.
async fn persist(
    receiver: &Receiver,
    backoff: Backoff,
    alert: &Alert,
    office: &Office,
) -> Result<(), String> {
    let mut failures = 0_u32;
    loop {
        let Err(failure) = receiver.send(alert, office.clock.now()).await else {
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
        office.count(Channel::Webhook, Outcome::Retried);
        sleep(wait.max(failure.retry_after.unwrap_or_default())).await;
    }
}

impl Office {
    fn count(&self, channel: Channel, result: Outcome) {
        self.metrics.notified(Delivery { channel, result });
    }
}
