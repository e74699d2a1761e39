//! The server: decisions, operators, metrics.

mod event_kind;
pub mod log_lines;
pub mod metrics;
pub mod notify;
mod outbound;
pub mod stats;
pub mod systemd;
pub mod telemetry;
