//! Everyone who hears of every record: metrics, charts, log lines, notifications.

use std::sync::Arc;
use std::time::Duration;

use sprag::{Guard, Record};

use crate::config::ServerConfig;
use crate::error::ServerError;
use crate::log_lines::LogLines;
use crate::metrics::Metrics;
use crate::notify::Notifier;
use crate::stats::Stats;

/// How long notifications that wait are still delivered when the server ends.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Who hears of every record.
#[derive(Debug)]
pub(crate) struct Watchers {
    metrics: Arc<Metrics>,
    stats: Arc<Stats>,
    lines: LogLines,
    notifier: Option<Notifier>,
}

impl Watchers {
    pub(crate) fn start(
        config: &ServerConfig,
        guard: &Guard,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, ServerError> {
        let clock = Arc::new(sprag::SystemClock);
        let notifier = Notifier::start(config.notify.clone(), clock, Arc::clone(metrics))?;
        let stats = Stats::new(guard.status().last_seq, guard.now());
        Ok(Self {
            metrics: Arc::clone(metrics),
            stats: Arc::new(stats),
            lines: LogLines::default(),
            notifier,
        })
    }

    pub(crate) fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// Hears of a record.
    pub(crate) fn observe(&self, record: &Record) {
        self.metrics.observe(record);
        self.stats.observe(record);
        let left_out = self.lines.observe(record);
        if left_out > 0 {
            self.metrics.left_out(left_out);
        }
        if let Some(notifier) = &self.notifier {
            notifier.observe(record);
        }
    }

    /// Hears that records were not told.
    pub(crate) fn missed(&self, records: u64) {
        self.metrics.missed(records);
        self.stats.missed(records);
    }

    /// Looks at how many sessions there are, and whether a storm of lines is over.
    pub(crate) fn look(&self, guard: &Guard) {
        let now = guard.now();
        if let Ok(census) = guard.census() {
            self.stats.levels(now, census);
        }
        self.metrics.left_out(self.lines.look(now));
    }

    /// Says what is left to say.
    pub(crate) fn end(self) {
        self.lines.end();
        if let Some(notifier) = self.notifier {
            notifier.stop(LAST_WORDS);
        }
    }
}
