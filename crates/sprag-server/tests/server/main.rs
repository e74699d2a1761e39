//! The server and what it tells people, with real parts: guards, receivers, commands, agent servers.

#[cfg(test)]
mod activity;
#[cfg(test)]
mod agent_tools;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod callers;
#[cfg(test)]
mod dashboard;
#[cfg(test)]
mod dashboard_shapes;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod early_end;
#[cfg(test)]
mod edge;
#[cfg(test)]
mod for_good;
#[cfg(test)]
mod guard_fixture;
#[cfg(test)]
mod guardrail;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod links;
#[cfg(test)]
mod live;
#[cfg(test)]
mod log_lines;
#[cfg(test)]
mod log_notes;
#[cfg(test)]
mod log_output;
#[cfg(test)]
mod login;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod mounts;
#[cfg(test)]
mod notify;
#[cfg(test)]
mod notify_command;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod receiver;
#[cfg(test)]
#[path = "../../../sprag/tests/guard/redis_server.rs"]
mod redis_server;
#[cfg(test)]
mod relay;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod routes;
#[cfg(test)]
mod scale;
#[cfg(test)]
mod stats;
#[cfg(feature = "otlp")]
#[cfg(test)]
mod telemetry;
#[cfg(test)]
mod test_server;
#[cfg(test)]
mod unanswerable;
