//! Verdicts as numbered fields. Most only allow: a generation, and a message's place in its flow.

use super::{Json, Text, numbered_variants};
use crate::id::Id;
use crate::numbered_fields;
use crate::rule::RuleId;
use crate::verdict::{Code, Decision, Verdict, Would};

numbered_variants!(Decision, "decision": 0 Allow, 1 Warn, 2 Deny, 3 Block, 4 Kill, 5 Ask);
numbered_variants!(
    Code, "code": 1 SessionKilledLoopGuard, 2 SessionBlockedLoopGuard, 3 SessionStaleGeneration,
    4 ApprovalRequired, 5 SessionLimit, 6 Panic
);

numbered_fields!(Verdict {
    1 generation: u32,
    2 flow: Option<Id>,
    3 depth: Option<u32>,
    4 decision: Decision,
    5 rule: Option<RuleId>,
    6 message: Option<Text>,
    7 evidence: Option<Json>,
    8 hint: Option<Text>,
    9 also: Vec<RuleId>,
    10 would: Option<Box<Would>>,
    11 code: Option<Code>,
    12 retry_after_ms: Option<u64>,
    13 end_turn: bool,
    14 approval: Option<Id>,
    15 expires_ms: Option<u64>,
    16 notice: Option<Text>,
    17 killed_generation: Option<u32>,
} unwritten { durable });

numbered_fields!(Would {
    1 decision: Decision,
    2 rule: RuleId,
    3 message: Text,
    4 evidence: Json,
});
