//! A policy in force, as written and as a pause leaves it, with what the log keeps of both.

use std::sync::{Arc, OnceLock};

use sprag_core::Policy;
use sprag_store::ActivePolicy;

/// The policy as it is, and with every mode capped at shadow.
#[derive(Debug)]
pub(super) struct Policies {
    pub(super) normal: Arc<ActivePolicy>,
    /// Made when it is first needed: writing a policy down takes as long as a good part of a hook.
    paused: OnceLock<Arc<ActivePolicy>>,
}

impl Policies {
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            normal: Arc::new(ActivePolicy::new(policy)),
            paused: OnceLock::new(),
        }
    }

    pub(super) fn paused(&self) -> &Arc<ActivePolicy> {
        let make = || {
            Arc::new(ActivePolicy::new(
                self.normal.policy.clone().with_pause(true),
            ))
        };
        self.paused.get_or_init(make)
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
        for active in [&policies.normal, policies.paused()] {
            assert!(read_policy(&active.digest, &active.text).is_some());
            assert!(read_policy(&active.digest, "").is_none());
        }
        assert_ne!(policies.normal.digest, policies.paused().digest);
    }
}
