//! The options of a store in Redis.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::fail_modes::RuleFailModes;
use super::offline_log::OfflineDecision;
use crate::capacity::Capacity;

/// Called for every decision that was made without Redis.
pub type OnOfflineDecision = Arc<dyn Fn(&OfflineDecision) + Send + Sync>;

/// How a pod uses Redis.
#[derive(Clone)]
#[non_exhaustive]
pub struct RedisOptions {
    /// The address: `redis://`, `rediss://` or `unix://`; with `+sentinel` or `+cluster` before the colon.
    pub url: String,
    /// The password, if it is not in the address: an address may be seen in a process list or a log.
    pub password: Option<String>,
    /// The prefix of all keys, in braces. Pods with the same namespace share everything.
    pub namespace: String,
    /// The certificates to trust, in PEM form; none: those of the system.
    pub ca: Option<Vec<u8>>,
    /// How long a decision may wait for Redis before it is made offline.
    pub deadline: Duration,
    /// How many connections are kept open.
    pub connections: usize,
    /// What each rule does while Redis is down.
    pub fail: RuleFailModes,
    /// How many replicas must have a kill, block or reset before it is returned.
    pub replicas: u32,
    /// How many records the log in Redis keeps.
    pub max_records: u64,
    /// How many sessions Redis keeps, and how many cells a pod caches.
    pub capacity: Capacity,
    /// The name of this pod in the log; a random suffix is added.
    pub pod: String,
    /// Called for every decision that was made without Redis.
    pub on_offline: Option<OnOfflineDecision>,
}

impl RedisOptions {
    /// The default options for `url`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            password: None,
            namespace: "sprag".to_owned(),
            ca: None,
            deadline: Duration::from_millis(250),
            connections: 8,
            fail: RuleFailModes::default(),
            replicas: 0,
            max_records: 100_000,
            capacity: Capacity::default(),
            pod: format!("process {}", std::process::id()),
            on_offline: None,
        }
    }
}

/// Leaves out the password, and the address, which may contain one.
impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOptions")
            .field("namespace", &self.namespace)
            .field("deadline", &self.deadline)
            .field("connections", &self.connections)
            .field("fail", &self.fail)
            .field("replicas", &self.replicas)
            .field("max_records", &self.max_records)
            .field("pod", &self.pod)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        let mut options = RedisOptions::new("redis://user:hunter2@host/0");
        options.password = Some("hunter2".to_owned());
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
