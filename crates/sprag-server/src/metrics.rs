//! What the server counts, for Prometheus: OpenMetrics text with labels that can't grow.
//!
//! A label takes its value from a list that is fixed when the program is built: a rule, a verdict, a mode, an
//! origin, a state, a kind of event. Never a session, an agent or a tool: agents choose those, and a runaway
//! agent would fill the memory of whoever scrapes. Counting must not slow a decision down, so every
//! counter is found once, when it is made, and counting is one addition.
//!
//! What the store knows (sessions by state, what is not on disk yet) is read when somebody
//! scrapes: [`Readings`].

mod lag;
mod readings;
mod rule_counts;
mod spend_counts;
mod store_errors;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use sprag_core::{Message, MessageKind, Observed, Source};
use sprag_store::{Record, StoreError};

use crate::event_kind::{KINDS, index};
use crate::notify::Delivery;

use lag::LogLag;
pub use readings::Readings;
use rule_counts::RuleCounts;
use spend_counts::SpendCounts;
use store_errors::{STORE_ERRORS, store_error_index};

/// The media type of [`Metrics::encode`].
pub const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type OneLabel = [(&'static str, &'static str); 1];
type TwoLabels = [(&'static str, &'static str); 2];
type FloatGauge = Gauge<f64, AtomicU64>;

const ORIGINS: [&str; 4] = ["agent", "user", "applet", "scheduler"];
/// Most decisions take microseconds; one that waits for the disk takes milliseconds.
const LATENCY_BUCKETS: [f64; 12] = [
    5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 1e-3, 5e-3, 0.025, 0.1, 0.5, 2.5,
];
const DEPTH_BUCKETS: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 20.0];

/// The counters of one server.
pub struct Metrics {
    registry: Registry,
    events: [Counter; KINDS.len()],
    messages: [Counter; ORIGINS.len()],
    rules: RuleCounts,
    spend: SpendCounts,
    depth: Histogram,
    depth_sum: AtomicU64,
    depth_count: AtomicU64,
    depth_average: FloatGauge,
    longest: Gauge,
    latency: Histogram,
    store_errors: [Counter; STORE_ERRORS.len()],
    not_durable: Counter,
    deliveries: [Counter; Delivery::ALL.len()],
    stream_clients: Gauge,
    missed: Counter,
    folded: Counter,
    lines_left_out: Counter,
    spans_dropped: Counter,
    lag: LogLag,
    scraped: readings::ScrapedGauges,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

/// Registers a family with one label and answers its counters, one a value.
fn family<const N: usize>(
    registry: &mut Registry,
    (name, help): (&str, &str),
    label: &'static str,
    values: [&'static str; N],
) -> [Counter; N] {
    let family: Family<OneLabel, Counter> = Family::default();
    registry.register(name, help, family.clone());
    values.map(|value| family.get_or_create_owned(&[(label, value)]))
}

fn counter(registry: &mut Registry, name: &str, help: &str) -> Counter {
    let counter = Counter::default();
    registry.register(name, help, counter.clone());
    counter
}

fn gauge(registry: &mut Registry, name: &str, help: &str) -> Gauge {
    let gauge = Gauge::default();
    registry.register(name, help, gauge.clone());
    gauge
}

/// What is counted of the store's failures.
fn register_store(registry: &mut Registry) -> ([Counter; STORE_ERRORS.len()], Counter) {
    let failed = ("store_errors", "Times that the store failed");
    let errors = family(registry, failed, "kind", STORE_ERRORS);
    let help = "Kills, blocks and resets that were answered and enforced, and could not be written";
    let not_durable = counter(registry, "verdicts_not_durable", help);
    (errors, not_durable)
}

/// What is counted of that which nobody gets to see.
fn register_left_out(registry: &mut Registry) -> [Counter; 4] {
    [
        (
            "records_missed",
            "Records that the server's own listener was too slow for",
        ),
        (
            "notifications_folded",
            "Stops that were not told again because they were told a moment ago",
        ),
        (
            "log_lines_left_out",
            "Log lines that were left out because there were too many alike",
        ),
        (
            "telemetry_dropped",
            "Decisions that were not exported because the exporter was too slow",
        ),
    ]
    .map(|(name, help)| counter(registry, name, help))
}

impl Metrics {
    /// Counters that stand at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("sprag");
        let all = &mut registry;
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        all.register("build", "The build that answers", version);
        let events = family(all, ("events", "Events that were judged"), "type", KINDS);
        let said = (
            "messages",
            "Messages that were judged, by who is behind them",
        );
        let messages = family(all, said, "origin", ORIGINS);
        let rules = RuleCounts::register(all);
        let spend = SpendCounts::register(all);
        let depth = Histogram::new(DEPTH_BUCKETS);
        let help =
            "Length of the chain of calls behind each message of an agent that was let through";
        all.register("chain_depth", help, depth.clone());
        let depth_average = FloatGauge::default();
        let help = "Average length of those chains since the start";
        all.register("chain_depth_average", help, depth_average.clone());
        let help = "Longest chain of calls that was let through since the start";
        let longest = gauge(all, "chain_depth_longest", help);
        let latency = Histogram::new(LATENCY_BUCKETS);
        let help = "Time from an event to its verdict";
        all.register_with_unit("decision_duration", help, Unit::Seconds, latency.clone());
        let (store_errors, not_durable) = register_store(all);
        let deliveries = Self::register_deliveries(all);
        let help = "Clients that listen to the stream of records";
        let stream_clients = gauge(all, "stream_clients", help);
        let [missed, folded, lines_left_out, spans_dropped] = register_left_out(all);
        let scraped = readings::ScrapedGauges::register(all);
        Self {
            registry,
            events,
            messages,
            rules,
            spend,
            depth,
            depth_sum: AtomicU64::new(0),
            depth_count: AtomicU64::new(0),
            depth_average,
            longest,
            latency,
            store_errors,
            not_durable,
            deliveries,
            stream_clients,
            missed,
            folded,
            lines_left_out,
            spans_dropped,
            lag: LogLag::default(),
            scraped,
        }
    }

    fn register_deliveries(registry: &mut Registry) -> [Counter; Delivery::ALL.len()] {
        let family: Family<TwoLabels, Counter> = Family::default();
        let help = "Notifications by where they go and what became of them";
        registry.register("notifications", help, family.clone());
        Delivery::ALL.map(|delivery| {
            let (channel, result) = (delivery.channel.as_str(), delivery.result.as_str());
            family.get_or_create_owned(&[("channel", channel), ("result", result)])
        })
    }

    /// Counts a record of the log.
    pub fn observe(&self, record: &Record) {
        self.lag.observe(record);
        let Some(observation) = record.observation() else {
            return;
        };
        let what = &observation.what;
        if let Some(count) = self.events.get(index(what)) {
            count.inc();
        }
        self.rules.count(&record.verdict);
        match what {
            Observed::Message(message) => self.observe_message(message, record),
            Observed::Usage(usage) => self.spend.count(usage),
            _ => {}
        }
    }

    fn observe_message(&self, message: &Message, record: &Record) {
        let origin = match (&message.from, message.source) {
            (Some(_), _) => 0,
            (None, Source::User) => 1,
            (None, Source::Applet) => 2,
            (None, Source::Scheduler) => 3,
        };
        if let Some(count) = self.messages.get(origin) {
            count.inc();
        }
        let of_a_chain = message.from.is_some() && message.kind != MessageKind::Return;
        if let Some(depth) = record.verdict.depth
            && of_a_chain
            && !record.verdict.refuses()
        {
            self.depth.observe(f64::from(depth));
            self.depth_sum.fetch_add(depth.into(), Ordering::Relaxed);
            self.depth_count.fetch_add(1, Ordering::Relaxed);
            self.longest
                .inner()
                .fetch_max(depth.into(), Ordering::Relaxed);
        }
    }

    /// Counts the time that one verdict took.
    pub fn decided(&self, took: Duration) {
        self.latency.observe(took.as_secs_f64());
    }

    /// Counts a failure of the store.
    pub fn store_failed(&self, error: &StoreError) {
        if let Some(count) = self.store_errors.get(store_error_index(error)) {
            count.inc();
        }
    }

    /// Counts a kill, block or reset that was answered and could not be written.
    pub fn not_durable(&self) {
        self.not_durable.inc();
    }

    /// Counts what became of a notification.
    pub fn notified(&self, delivery: Delivery) {
        let place = Delivery::ALL.iter().position(|known| *known == delivery);
        if let Some(count) = place.and_then(|place| self.deliveries.get(place)) {
            count.inc();
        }
    }

    /// Counts a stop that was folded into an earlier notification.
    pub fn notification_folded(&self) {
        self.folded.inc();
    }

    /// Counts records that the server's listener missed.
    pub fn missed(&self, records: u64) {
        self.missed.inc_by(records);
    }

    /// Counts log lines that were left out.
    pub fn left_out(&self, lines: u64) {
        self.lines_left_out.inc_by(lines);
    }

    /// Counts decisions that were not exported.
    pub fn telemetry_dropped(&self, decisions: u64) {
        self.spans_dropped.inc_by(decisions);
    }

    /// A client began to listen to the stream; it is counted until the answer is dropped.
    #[must_use]
    pub fn stream_client(&self) -> StreamClient {
        self.stream_clients.inc();
        StreamClient(self.stream_clients.clone())
    }

    /// Whether an operator listens to the stream.
    pub(crate) fn is_watched(&self) -> bool {
        self.stream_clients.get() > 0
    }

    /// Everything as OpenMetrics text.
    #[must_use]
    pub fn encode(&self, readings: &Readings) -> String {
        let lag = self.lag.seconds(readings);
        self.scraped.set(readings, lag);
        let count = self.depth_count.load(Ordering::Relaxed);
        if count > 0 {
            let sum = self.depth_sum.load(Ordering::Relaxed);
            self.depth_average.set(ratio(sum, count));
        }
        let mut text = String::new();
        // Writing to a string fails only where a metric is broken; what was written before it is still true.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an average need not be exact beyond 2^53"
)]
fn ratio(sum: u64, count: u64) -> f64 {
    sum as f64 / count as f64
}

/// A client of the stream, counted while this lives.
#[derive(Debug)]
pub struct StreamClient(Gauge);

impl Drop for StreamClient {
    fn drop(&mut self) {
        self.0.dec();
    }
}
