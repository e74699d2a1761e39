//! How a session gets on: its last step, its streaks and what it waited for.

use crate::cell::progress::{
    Advance, FailureWords, Grown, Last, LastTold, Progress, Sample, Streaks, Waited, Wall,
};
use crate::cell::rare::Rare;
use crate::encoding::{Fixed, encodings, numbered_variants};
use crate::numbered_fields;
use crate::policy::Classifier;
use crate::time::Timestamp;

numbered_variants!(Classifier, "classifier": 0 Informed, 1 Plain);

// The lists are written apart, as the memory of the session's steps.
numbered_fields!(Progress {
    1 step: u32,
    2 changed: u32,
    3 news: (u32, Timestamp),
    4 last: Last,
    5 streaks: Streaks,
    6 classifier: Classifier,
    7 grown: Rare<Grown>,
    8 waited: Waited,
    9 advances: Rare<Vec<Advance>>,
    10 failure: Option<Box<FailureWords>>,
    11 rounds: Vec<Sample>,
    12 last_told: LastTold,
    13 edited: u32,
    14 walls: Rare<Vec<Wall>>,
} unwritten { approaches, pasts, outcomes, given, told });

numbered_fields!(LastTold {
    1 form: Fixed,
    2 count: u32,
    3 shape: Fixed,
});

numbered_fields!(Grown {
    1 stagnation: u32,
    2 stuck: u32,
    3 empty: u32,
    4 barren: u32,
    5 churn: u32,
    6 rounds: u32,
    7 probe: u32,
    8 retold: u32,
    9 familiar: u32,
});

numbered_fields!(Waited {
    1 lull: Fixed,
    2 short_lull: Fixed,
    3 slow: Fixed,
    4 unhurried: Fixed,
});

numbered_fields!(Advance {
    1 approach: Fixed,
    2 numbers: Vec<u64>,
    3 moved: Vec<Signed>,
});

/// A small number with a sign.
struct Signed;

numbered_fields!(FailureWords {
    1 step: u32,
    2 words: Vec<u16>,
    3 tenths: Fixed,
});

numbered_fields!(Sample {
    1 key: Fixed,
    2 step: u32,
    3 tenths: Fixed,
    4 times: u8,
});

numbered_fields!(Wall {
    1 program: Fixed,
    2 step: u32,
    3 weight: u16,
    4 failures: u16,
    5 approach: Fixed,
});

numbered_fields!(Last {
    1 approach: Fixed,
    2 answer: Fixed,
});

numbered_fields!(Streaks {
    1 stagnation: u16,
    2 stuck: u16,
    3 echo: u16,
    4 empty: u16,
    5 churn: u16,
    6 alike: u16,
    7 barren: u16,
    8 aimed: u16,
    9 failing: u16,
    10 weak: u16,
    11 similar: u16,
    12 rounds: u16,
    13 repeats: u16,
    14 probe: u16,
    15 parrots: u16,
    16 waits: u16,
    17 retold: u16,
    18 unhurried: u16,
    19 swept: u16,
    20 failed_runs: u16,
    21 spared: u16,
    22 familiar: u16,
    23 familiar_steps: u16,
});

encodings! {
    Signed as i8: |value, out| out.byte(value.to_le_bytes()[0]), |from| Ok(i8::from_le_bytes([from.byte()?]));
}
