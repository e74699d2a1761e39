//! The server: decisions, operators, metrics.
