//! What a chart asks, and what it gets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sprag_core::{Millis, RuleId, Timestamp};
use utoipa::ToSchema;

use super::bucket::Bucket;
use super::{Ring, Stats};

/// Which time, and how fine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct StatsQuery {
    /// From when on, in milliseconds since the epoch; an hour ago where it is not said.
    pub since: Option<u64>,
    /// Up to when, in milliseconds since the epoch; until now where it is not said.
    pub until: Option<u64>,
    /// The least length of a bucket, in seconds. The next longer one that is kept is taken: 10, 300 or 3600; where
    /// it is not said, the finest that reaches back to `since`.
    pub step: Option<u64>,
}

/// Counts over time.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct StatsResponse {
    /// When this was asked, in milliseconds since the epoch.
    pub now: u64,
    /// The length of a bucket, in seconds.
    pub step: u64,
    /// From when on nothing is missing, in milliseconds since the epoch; later than `since` where the log does not
    /// reach back so far or is still being read.
    pub complete_since: Option<u64>,
    /// Whether the log from before the start was read.
    pub rebuilt: bool,
    /// Records that were not counted because too many came at once.
    pub missed: u64,
    /// One for each span of time, oldest first, empty ones too.
    pub buckets: Vec<BucketCounts>,
}

/// The counts of one span of time.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BucketCounts {
    /// When it starts, in milliseconds since the epoch.
    pub at: u64,
    /// Events by type.
    pub events: EventCounts,
    /// Events by what was answered.
    pub verdicts: VerdictCounts,
    /// How often each rule decided; rules that did not are left out.
    #[schema(value_type = BTreeMap<String, u32>)]
    pub enforced: BTreeMap<&'static str, u32>,
    /// How often each rule in shadow would have decided.
    #[schema(value_type = BTreeMap<String, u32>)]
    pub shadow: BTreeMap<&'static str, u32>,
    /// Sessions by state at the end of the span; none where nobody looked.
    pub sessions: Option<SessionCounts>,
}

/// Events by type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[expect(missing_docs, reason = "the types of the wire format, word by word")]
pub struct EventCounts {
    pub message: u32,
    pub call: u32,
    pub step: u32,
    pub usage: u32,
    pub kill: u32,
    pub reset: u32,
    pub dispatch_start: u32,
    pub dispatch_end: u32,
    pub approve: u32,
    pub decline: u32,
    /// What models said.
    pub output: u32,
}

/// Events by what was answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[expect(missing_docs, reason = "the verdicts of the wire format, word by word")]
pub struct VerdictCounts {
    pub allow: u32,
    pub warn: u32,
    pub ask: u32,
    pub deny: u32,
    pub block: u32,
    pub kill: u32,
}

/// Sessions by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SessionCounts {
    /// Those that may go on.
    pub active: u64,
    /// Those that may talk, not act.
    pub blocked: u64,
    /// Those that may do nothing.
    pub killed: u64,
}

impl Stats {
    /// Answers a chart's question.
    #[must_use]
    pub fn answer(&self, query: &StatsQuery, now: Timestamp) -> StatsResponse {
        let hour_ago = now.0.saturating_sub(Millis::HOUR.0);
        let since = Timestamp(query.since.unwrap_or(hour_ago).min(now.0));
        let until = Timestamp(query.until.unwrap_or(now.0).min(now.0));
        let state = self.state();
        let wanted = |ring: &&Ring| match query.step {
            Some(seconds) => ring.step().0 >= seconds.saturating_mul(1000),
            None => now.since(since) <= ring.reach(),
        };
        let [.., coarsest] = &state.rings;
        let ring = state.rings.iter().find(wanted).unwrap_or(coarsest);
        StatsResponse {
            now: now.0,
            step: ring.step().0 / 1000,
            complete_since: state.complete_since.map(|since| since.0),
            rebuilt: state.rebuilt,
            missed: state.missed,
            buckets: ring
                .between(since, until)
                .map(|(at, bucket)| BucketCounts::of(at, bucket))
                .collect(),
        }
    }
}

impl BucketCounts {
    fn of(at: Timestamp, bucket: &Bucket) -> Self {
        let [
            message,
            call,
            step,
            usage,
            kill,
            reset,
            dispatch_start,
            dispatch_end,
            approve,
            decline,
            output,
        ] = bucket.events;
        let [allow, warn, ask, deny, block, killed] = bucket.verdicts;
        Self {
            at: at.0,
            events: EventCounts {
                message,
                call,
                step,
                usage,
                kill,
                reset,
                dispatch_start,
                dispatch_end,
                approve,
                decline,
                output,
            },
            verdicts: VerdictCounts {
                allow,
                warn,
                ask,
                deny,
                block,
                kill: killed,
            },
            enforced: by_rule(&bucket.enforced),
            shadow: by_rule(&bucket.shadow),
            sessions: bucket.levels.map(|census| SessionCounts {
                active: census.active,
                blocked: census.blocked,
                killed: census.killed,
            }),
        }
    }
}

fn by_rule(counts: &[u32]) -> BTreeMap<&'static str, u32> {
    let rules = RuleId::ALL.iter().zip(counts);
    rules
        .filter(|(_, count)| **count > 0)
        .map(|(rule, count)| (rule.as_str(), *count))
        .collect()
}
