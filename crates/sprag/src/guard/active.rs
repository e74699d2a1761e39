//! A policy in force, as written and as a pause leaves it, with what the log keeps of both.

use std::sync::Arc;

use sprag_core::Policy;
use sprag_store::ActivePolicy;

/// The policy as it is, and with every mode capped at shadow.
#[derive(Debug)]
pub(super) struct Policies {
    pub(super) normal: Arc<ActivePolicy>,
    pub(super) paused: Arc<ActivePolicy>,
}

impl Policies {
    pub(super) fn new(policy: Policy) -> Self {
        let paused = policy.clone().with_pause(true);
        Self {
            normal: Arc::new(ActivePolicy::new(policy)),
            paused: Arc::new(ActivePolicy::new(paused)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sprag_store::read_policy;

    #[test]
    fn what_the_log_keeps_reads_back_paused_or_not() {
        let policy = Policy::from_toml(
            "[flow]\nmax_depth = 3\n[[override]]\nagent = \"a\"\nrules.\"flow.*\" = \"enforce\"\n",
        );
        let policies = Policies::new(policy.unwrap());
        for active in [&policies.normal, &policies.paused] {
            assert!(read_policy(&active.digest, &active.text).is_some());
            assert!(read_policy(&active.digest, "").is_none());
        }
        assert_ne!(policies.normal.digest, policies.paused.digest);
    }
}
