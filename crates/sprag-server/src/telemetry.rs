//! Decisions in the tools that people watch everything else with: OpenTelemetry over OTLP.
//!
//! One span for each decision, named as the conventions for generative AI name a tool call, so that it stands
//! next to the agent's own spans: under the caller's span where the request brought a `traceparent`, else joined by
//! session and tool-use id. One log record for each verdict above `allow`.
//!
//! It is on where the standard `OTEL_*` variables say so, and costs nothing where they don't. A decision only
//! puts its record into a queue of fixed length; a thread makes spans of them, and the exporter's own threads send
//! them in batches. What does not fit is counted and dropped.

#[cfg(feature = "otlp")]
mod exporter;
#[cfg(feature = "otlp")]
mod log_records;
#[cfg(feature = "otlp")]
mod names;
mod settings;
#[cfg(feature = "otlp")]
mod spans;

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sprag_store::Record;

use crate::metrics::Metrics;

pub use settings::{TelemetryError, TelemetrySettings};

/// How many decisions wait to be made into spans.
const QUEUE: usize = 4096;

/// A decision on its way out.
#[derive(Debug)]
pub(crate) struct ExportedDecision {
    pub(crate) record: Arc<Record>,
    pub(crate) took: Duration,
    /// The caller's `traceparent`.
    pub(crate) parent: Option<Box<str>>,
}

/// Exports decisions.
#[derive(Debug)]
pub struct Telemetry {
    queue: Option<SyncSender<ExportedDecision>>,
    thread: Option<JoinHandle<()>>,
    metrics: Arc<Metrics>,
}

impl Telemetry {
    /// Starts exporting; none where the settings don't ask for it.
    ///
    /// # Errors
    /// Returns an error if the settings ask for something that can't be done.
    pub fn start(
        settings: &TelemetrySettings,
        metrics: Arc<Metrics>,
    ) -> Result<Option<Self>, TelemetryError> {
        if !settings.is_on() {
            return Ok(None);
        }
        let (queue, decisions) = sync_channel(QUEUE);
        let thread = run(settings, decisions)?;
        Ok(Some(Self {
            queue: Some(queue),
            thread: Some(thread),
            metrics,
        }))
    }

    /// Exports a decision that took so long. `parent` is the request's `traceparent`. Never waits.
    pub fn decided(&self, record: &Arc<Record>, took: Duration, parent: Option<&str>) {
        let Some(queue) = &self.queue else {
            return;
        };
        let decided = ExportedDecision {
            record: Arc::clone(record),
            took,
            parent: parent.map(Into::into),
        };
        if queue.try_send(decided).is_err() {
            self.metrics.telemetry_dropped(1);
        }
    }

    /// Sends what waits, for a few seconds at most, and ends. Also done on drop.
    pub fn stop(self) {}
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to send.
            let _ = thread.join();
        }
    }
}

#[cfg(feature = "otlp")]
use exporter::run;

#[cfg(not(feature = "otlp"))]
fn run(
    _settings: &TelemetrySettings,
    _decisions: std::sync::mpsc::Receiver<ExportedDecision>,
) -> Result<JoinHandle<()>, TelemetryError> {
    Err(TelemetryError::NotBuilt)
}
