//! Seeds: each is one history under one policy, the same on every machine.

use std::thread;

use super::engine::CasePolicy;
use super::policies;
use super::rng::Rng;
use super::samples::Samples;

/// How many histories in a row are judged under one policy.
const HISTORIES_PER_POLICY: u64 = 64;

/// The policy of a seed, and of the others of its block.
pub(crate) fn policy_of(seed: u64) -> CasePolicy {
    let block = seed / HISTORIES_PER_POLICY;
    CasePolicy::new(policies::policy(&mut Rng::new(!block)))
}

/// The same with rules that ask.
pub(crate) fn asking_policy_of(seed: u64) -> CasePolicy {
    let block = seed / HISTORIES_PER_POLICY;
    CasePolicy::new(policies::policy_that_asks(&mut Rng::new(!block)))
}

/// Folds every seed below `count` on two threads, each with the policy that `policy` makes of the
/// first seed of its block.
pub(crate) fn fold_seeds<T: Default + Send>(
    count: u64,
    policy: fn(u64) -> CasePolicy,
    fold: impl Fn(&mut T, u64, &CasePolicy, &Samples) + Sync,
) -> [T; 2] {
    let half = |first: u64| {
        let samples = Samples::new();
        let mut state = T::default();
        for block in (first..count.div_ceil(HISTORIES_PER_POLICY)).step_by(2) {
            let start = block * HISTORIES_PER_POLICY;
            let policy = policy(start);
            for seed in start..(start + HISTORIES_PER_POLICY).min(count) {
                fold(&mut state, seed, &policy, &samples);
            }
        }
        state
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        [half(0), other.join().expect("the other half")]
    })
}

/// Shows every seed below `count` to `check`, likewise.
pub(crate) fn each_seed(
    count: u64,
    policy: fn(u64) -> CasePolicy,
    check: impl Fn(u64, &CasePolicy, &Samples) + Sync,
) {
    fold_seeds(count, policy, |(): &mut (), seed, policy, samples| {
        check(seed, policy, samples);
    });
}
