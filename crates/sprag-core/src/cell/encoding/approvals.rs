//! The questions of a session, and what rules in shadow would have done to it.

use crate::cell::approvals::{Approval, ApprovalState, Approvals};
use crate::cell::{Mark, ShadowMark};
use crate::encoding::{Fixed, KnownRule, Text, numbered_variants};
use crate::id::Id;
use crate::numbered_fields;
use crate::time::Timestamp;

numbered_fields!(Approvals {
    1 count: u32,
    2 list: Vec<Approval>,
});

numbered_variants!(ApprovalState, "approval": 0 Open, 1 Approved, 2 Granted, 3 Declined);

numbered_fields!(Approval {
    1 code: Id,
    2 asked: Timestamp,
    3 until: Timestamp,
    4 state: ApprovalState,
    5 rule: KnownRule,
    6 what: Text,
    7 why: Text,
    8 by: Option<Text>,
    9 said: Option<Text>,
    10 exact: Fixed,
    11 deed: Fixed,
    12 commands: Vec<Text>,
    13 root: Option<Text>,
    14 agent: Option<Id>,
});

numbered_fields!(ShadowMark {
    1 kills: bool,
    2 mark: Mark,
});
