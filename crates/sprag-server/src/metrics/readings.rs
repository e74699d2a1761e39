//! What is not counted but read, each time somebody scrapes.

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use sprag::Guard;
use sprag_core::Timestamp;
use sprag_store::{Census, StoreStatus};

use super::{FloatGauge, OneLabel, gauge};

/// How the guard is doing right now.
#[derive(Debug, Clone)]
pub struct Readings {
    /// When this was read.
    pub now: Timestamp,
    /// The store.
    pub status: StoreStatus,
    /// Sessions by state; none where the store can't tell.
    pub census: Option<Census>,
    /// Whether a pause is in force.
    pub paused: bool,
    /// Decisions made without the shared store.
    pub alone: u64,
}

impl Readings {
    /// Reads everything from a guard. Cheap: no session is looked at.
    #[must_use]
    pub fn of(guard: &Guard) -> Self {
        Self {
            now: guard.now(),
            status: guard.status(),
            census: guard.census().ok(),
            paused: guard.paused().is_ok_and(|pause| pause.is_some()),
            alone: guard.store().decided_offline(),
        }
    }
}

/// The gauges that show it.
#[derive(Debug)]
pub(super) struct ScrapedGauges {
    active: Gauge,
    blocked: Gauge,
    killed: Gauge,
    cells: Gauge,
    pending: Gauge,
    lag: FloatGauge,
    last_seq: Gauge,
    degraded: Gauge,
    paused: Gauge,
    alone: Gauge,
}

impl ScrapedGauges {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let sessions: Family<OneLabel, Gauge> = Family::default();
        let help = "Sessions that are remembered, by what they may do";
        registry.register("sessions", help, sessions.clone());
        let state = |word| sessions.get_or_create_owned(&[("state", word)]);
        let lag = FloatGauge::default();
        let help = "Age of the oldest record that is not on disk yet, to a tenth of a second";
        registry.register_with_unit("log_lag", help, Unit::Seconds, lag.clone());
        Self {
            active: state("active"),
            blocked: state("blocked"),
            killed: state("killed"),
            cells: gauge(
                registry,
                "cells",
                "Cells that are remembered besides sessions",
            ),
            pending: gauge(
                registry,
                "log_pending_records",
                "Records that are not on disk yet",
            ),
            lag,
            last_seq: gauge(registry, "log_last_seq", "The number of the last record"),
            degraded: gauge(registry, "store_degraded", "1 while the store can't write"),
            paused: gauge(registry, "paused", "1 while every rule is in shadow"),
            alone: gauge(
                registry,
                "decisions_alone",
                "Decisions made without the shared store since the start",
            ),
        }
    }

    pub(super) fn set(&self, readings: &Readings, lag_seconds: f64) {
        let status = &readings.status;
        if let Some(census) = readings.census {
            self.active.set(number(census.active));
            self.blocked.set(number(census.blocked));
            self.killed.set(number(census.killed));
        }
        self.cells.set(number(status.others));
        self.pending.set(number(status.pending));
        self.lag.set(lag_seconds);
        self.last_seq.set(number(status.last_seq));
        self.degraded.set(i64::from(status.degraded.is_some()));
        self.paused.set(i64::from(readings.paused));
        self.alone.set(number(readings.alone));
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
