//! Cells as numbered fields, see [`crate::encoding`].
//!
//! A store keeps a cell for every agent that ever ran, and sends one over a network with every event. So the two
//! long lists of a session have rows of their own: its memory of steps and the calls that wait for one.

mod approvals;
mod memory;
mod pending;
mod progress;

use std::collections::VecDeque;

use super::alias::{Seen, Sighting};
use super::approvals::Approvals;
use super::calls::Calls;
use super::flow::{FlowMember, FlowStarter};
use super::pace::{Gaps, Pace};
use super::progress::Progress;
use super::rare::Rare;
use super::said::Said;
use super::session::{Refusals, ResettableState};
use super::spent::{ModelSpending, Reservation};
use super::starts::{OpenStart, OpenStarts, Starter};
use super::task::{RunTrace, TaskCell, TaskRun};
use super::window::Window;
use super::{
    AgentCell, AliasCell, Answers, ConversationCell, Destructive, FlowCell, FlowNews, InboxCell,
    Mark, MessageRun, NearLosses, PairCell, SessionCell, ShadowMark, Spending, Statement,
};
use crate::encoding::{Fixed, KnownRule, Malformed, Or, Text, encodings};
use crate::id::Id;
use crate::numbered_fields;
use crate::observation::Source;
use crate::sender::Owner;
use crate::time::Timestamp;
use crate::verdict::Verdict;
use pending::PendingRows;

type Times = VecDeque<Timestamp>;
type TimedKeys = VecDeque<(Fixed, Timestamp)>;

// `touched` comes first: the other times are written as their distance from it.
numbered_fields!(SessionCell {
    1 touched: Timestamp,
    2 generation: Or<1>,
    3 agent: Option<Id>,
    4 steps: u64,
    5 killed: Option<Box<Mark>>,
    6 blocked: Option<Box<Mark>>,
    7 held: ResettableState,
    8 owner: Option<Owner>,
    9 starter: Option<Box<Starter>>,
    10 family: Option<Id>,
    11 last_killed: u32,
});

numbered_fields!(Mark {
    1 at: Timestamp,
    2 rule: KnownRule,
    3 why: Text,
    4 by: Option<Text>,
});

numbered_fields!(ResettableState {
    1 since: Option<Timestamp>,
    2 step_seen: bool,
    3 actions: u32,
    4 calls: Calls,
    5 progress: Progress,
    6 user_seen: bool,
    7 attended_at: Option<Timestamp>,
    8 pending: PendingRows,
    9 refusals: Rare<Refusals>,
    10 unattended: u32,
    11 destructive: Option<Box<Destructive>>,
    12 dispatches: Rare<Vec<Id>>,
    13 spent: Rare<Spending>,
    14 pace: Pace,
    15 refused_in_block: u32,
    16 run_started: Option<Timestamp>,
    17 user_unblocks: bool,
    18 approvals: Rare<Approvals>,
    19 reporting: Vec<Fixed>,
    20 commands: Option<Box<Destructive>>,
    21 near: Option<Box<NearLosses>>,
    22 output: Said,
    23 opened: bool,
    24 run: RunTrace,
    25 shadow_mark: Option<Box<ShadowMark>>,
    26 did: Vec<Fixed>,
});

numbered_fields!(RunTrace {
    1 digest: Fixed,
    2 steps: u32,
    3 works: bool,
});

numbered_fields!(TaskCell {
    1 touched: Timestamp,
    2 runs: Vec<TaskRun>,
    3 warned: Option<Timestamp>,
});

numbered_fields!(TaskRun {
    1 session: Id,
    2 generation: Or<1>,
    3 at: Timestamp,
});

numbered_fields!(Said {
    1 words: Fixed,
    2 times: u16,
    3 chants: u16,
});

numbered_fields!(Pace {
    1 gaps: Gaps,
    2 answered: Option<Timestamp>,
    3 active: Option<Timestamp>,
    4 in_turn: bool,
    5 turn: Fixed,
    6 turn_start: u32,
});

numbered_fields!(Refusals {
    1 count: u32,
    2 counted_at: Option<Timestamp>,
    3 identical_at: Option<Timestamp>,
});

numbered_fields!(Destructive {
    1 window: Window,
    2 targets: TimedKeys,
    3 names: VecDeque<(Text, Timestamp)>,
});

numbered_fields!(NearLosses {
    1 targets: TimedKeys,
    2 outcomes: Vec<Fixed>,
});

numbered_fields!(Spending {
    1 tokens: u64,
    2 cost_micros: u64,
    3 warned: u8,
    4 cache_read_tokens: u64,
    5 unpriced_tokens: u64,
    6 models: Vec<ModelSpending>,
    7 reserved: Vec<Reservation>,
});

numbered_fields!(ModelSpending {
    1 model: Option<Id>,
    2 tokens: u64,
    3 cost_micros: u64,
});

numbered_fields!(Reservation {
    1 id: Fixed,
    2 tokens: u64,
    3 cost_micros: u64,
    4 until: Timestamp,
});

numbered_fields!(FlowCell {
    1 touched: Timestamp,
    2 started: Option<(FlowStarter, Timestamp)>,
    3 chain_since: Timestamp,
    4 last_attempt: Timestamp,
    5 members: Vec<FlowMember>,
    6 calls: Window,
    7 total: u32,
    8 spent: Spending,
    9 starts: OpenStarts,
    10 new_calls: Window,
    11 news: FlowNews,
});

numbered_fields!(FlowNews {
    1 said: VecDeque<Statement>,
    2 at: Option<Timestamp>,
    3 repeated: u32,
});

numbered_fields!(Statement {
    1 content: Fixed,
    2 words: Option<u32>,
    3 figures: Vec<u64>,
});

numbered_fields!(OpenStarts {
    1 list: Vec<OpenStart>,
    2 by_sub_agents: TimedKeys,
});

numbered_fields!(OpenStart {
    1 child: Option<Id>,
    2 call: Fixed,
    3 starter: Starter,
    4 last: Timestamp,
});

numbered_fields!(Starter {
    1 by: Id,
    2 generation: Or<1>,
});

numbered_fields!(FlowMember {
    1 id: Id,
    2 parent: Option<Id>,
    3 last: Timestamp,
    4 counted: bool,
    5 revisits: u32,
    6 steps: u64,
    7 by_news: bool,
});

numbered_fields!(PairCell {
    1 touched: Timestamp,
    2 steps: (u64, u64),
    3 talk: Window,
    4 there: MessageRun,
    5 back: MessageRun,
    6 warned: bool,
});

numbered_fields!(MessageRun {
    1 content: Option<Fixed>,
    2 flow: Fixed,
    3 count: u32,
    4 answers: Answers,
});

numbered_fields!(InboxCell {
    1 touched: Timestamp,
    2 arrived: Window,
    3 new_arrived: Window,
});

numbered_fields!(ConversationCell {
    1 touched: Timestamp,
    2 messages: u32,
    3 new_messages: u32,
});

numbered_fields!(AgentCell {
    1 touched: Timestamp,
    2 destructive: Destructive,
    3 day_since: Timestamp,
    4 spent: Spending,
    5 commands: Destructive,
});

numbered_fields!(AliasCell {
    1 touched: Timestamp,
    2 seen: Vec<Sighting>,
});

numbered_fields!(Sighting {
    1 session: Id,
    2 call: Option<Box<Seen>>,
    3 step: Option<Box<Seen>>,
});

numbered_fields!(Seen {
    1 at: Timestamp,
    2 what: Fixed,
    3 by: u8,
    4 again: u8,
    5 verdict: Verdict,
});

encodings! {
    // A token's name has no star and is never empty.
    Owner as Owner: |value, out| Text::write(&match value {
        Owner::Adapters => "*",
        Owner::Anonymous => "",
        Owner::Token(name) => name.as_str(),
    }, out), |from| {
        let text: &str = Text::read(from)?;
        match text {
            "*" => Ok(Owner::Adapters),
            "" => Ok(Owner::Anonymous),
            name => Id::new(name).map(Owner::Token).map_err(|_| Malformed::Text),
        }
    };
    Gaps as Gaps, default: |value, out| {
        out.count(value.tenths().len());
        value.tenths().iter().for_each(|gap| u16::write(gap, out));
    }, |from| Vec::<u16>::read(from).map(|gaps: Vec<u16>| gaps.into_iter().collect());
    Window as Window, default: |value, out| Times::write(&value.0, out), |from| Times::read(from).map(Window);
    // What `Calls` counts by key is not written: it is counted again.
    Calls as Calls, default: |value, out| {
        u32::write(&value.in_a_row, out);
        TimedKeys::write(&value.recent, out);
    }, |from| {
        let in_a_row = from.small()?;
        TimedKeys::read(from).map(|recent| Calls::with(recent, in_a_row))
    };
    FlowStarter as FlowStarter: |value, out| match value {
        FlowStarter::Agent => out.byte(0),
        FlowStarter::Outside(source) => {
            out.byte(1);
            Source::write(source, out);
        }
    }, |from| match from.byte()? {
        0 => Ok(FlowStarter::Agent),
        1 => Source::read(from).map(FlowStarter::Outside),
        other => Err(Malformed::Unknown(u64::from(other), "starter")),
    };
    Answers as Answers, default: |value, out| match value {
        Answers::None => out.byte(0),
        Answers::All(answer) => {
            out.byte(1);
            Fixed::write(answer, out);
        }
        Answers::Mixed => out.byte(2),
    }, |from| match from.byte()? {
        0 => Ok(Answers::None),
        1 => Fixed::read(from).map(Answers::All),
        2 => Ok(Answers::Mixed),
        other => Err(Malformed::Unknown(u64::from(other), "kind of answers")),
    };
}

#[cfg(test)]
mod tests {
    use super::super::approvals::{Approval, ApprovalState};
    use super::super::flow::{FlowMember, FlowStarter};
    use super::super::pace::Pace;
    use super::super::progress::{
        Advance, ApproachHistory, FailureWords, Grown, Last, LastTold, Progress, Sample, Streaks,
        Waited, Wall,
    };
    use super::super::session::Refusals;
    use super::super::spent::Amount;
    use super::super::tried::{ShortName, Tried};
    use super::super::{
        AgentCell, AliasCell, Answers, CallLosses, ConversationCell, Destructive, FlowCell,
        InboxCell, Mark, MessageRun, PairCell, PendingCall, SessionCell, ShadowMark, StepMemory,
    };
    use super::{Seen, Sighting};
    use crate::encoding::{Fields, Malformed, Reader, Writer, decode, encode};
    use crate::id::Id;
    use crate::observation::{Source, Subject, ToolKind};
    use crate::policy::Classifier;
    use crate::rule::RuleId;
    use crate::sender::Owner;
    use crate::time::{Millis, Timestamp};
    use crate::verdict::{Code, Decision, Evidence, Verdict, Would};

    /// Numbers that repeat with every run.
    struct RandomValues(u64);

    impl RandomValues {
        fn roll(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        fn below(&mut self, most: u64) -> u64 {
            self.roll() % most
        }

        fn small(&mut self) -> u32 {
            u32::try_from(self.below(1 << 32)).unwrap() >> self.below(32)
        }

        fn tiny(&mut self) -> u16 {
            u16::try_from(self.below(1 << 16)).unwrap() >> self.below(17).min(15)
        }

        fn time(&mut self) -> Timestamp {
            Timestamp(1_700_000_000_000 + self.below(100_000_000))
        }

        fn is(&mut self) -> bool {
            self.below(2) == 0
        }

        fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
            self.is().then(|| make(self))
        }

        fn mark(&mut self) -> Box<Mark> {
            Box::new(Mark {
                at: self.time(),
                rule: self.maybe(|_| RuleId::DestructiveVolume),
                why: "3 deletes, too many".to_owned(),
                by: self.maybe(|_| "ops@host".into()),
            })
        }
    }

    fn fill_lists(random: &mut RandomValues, cell: &mut SessionCell) {
        let held = &mut cell.held;
        let mut now = Timestamp(1_699_000_000_000);
        for _ in 0..random.below(300) {
            now = now.plus(Millis(random.below(100_000)));
            held.calls.push(random.below(50), now);
        }
        for _ in 0..random.below(64) {
            let kinds = [
                ToolKind::Read,
                ToolKind::Poll,
                ToolKind::Change,
                ToolKind::Run,
            ];
            let names = ["", "read", "écrire un très long nom d'outil"];
            let exact = random.roll();
            held.pending.push(PendingCall {
                id: random.roll(),
                tried: Tried {
                    exact,
                    normal: if random.is() { exact } else { random.roll() },
                    kind: kinds[usize::try_from(random.below(4)).unwrap()],
                    waits: random.is(),
                    moves: random.is(),
                    asks: random.is(),
                    aims: random.is(),
                    probes: random.is(),
                    argument: random.maybe(RandomValues::small).unwrap_or_default(),
                    about: any_subject(random),
                    name: ShortName::new(names[usize::try_from(random.below(3)).unwrap()]),
                    label: ShortName::new(names[usize::try_from(random.below(3)).unwrap()]),
                },
                refused: random.is(),
                asked: random.is(),
                dialog: random.is(),
                losses: random.maybe(|random| Box::new(any_losses(random))),
                at: random.time(),
                turn_start: random.small(),
            });
        }
        held.destructive = random.maybe(|random| {
            let mut destructive = Destructive::default();
            for _ in 0..random.below(9) {
                now = now.plus(Millis(random.below(9_000)));
                destructive.push(&[random.roll(), 7], now, Millis::MINUTE, 5);
                destructive.name("asset_id=7", now);
            }
            Box::new(destructive)
        });
        for n in 0..random.below(3) {
            let flow = format!("flow {n}");
            held.dispatches.push(Id::new(&flow).unwrap());
        }
    }

    fn fill_failures(random: &mut RandomValues, progress: &mut Progress) {
        progress.failure = random.maybe(|random| {
            Box::new(FailureWords {
                step: random.small(),
                tenths: random.small(),
                words: vec![random.tiny(), 0],
            })
        });
        progress.walls.push(Wall {
            program: random.small(),
            step: random.small(),
            weight: random.tiny(),
            failures: random.tiny(),
            approach: random.small(),
        });
    }

    fn fill_pace(random: &mut RandomValues, cell: &mut SessionCell) {
        let progress = &mut cell.held.progress;
        let [
            stagnation,
            stuck,
            empty,
            barren,
            churn,
            rounds,
            probe,
            retold,
            familiar,
        ] = std::array::from_fn(|_| random.small());
        *progress.grown = Grown {
            stagnation,
            stuck,
            empty,
            barren,
            churn,
            rounds,
            probe,
            retold,
            familiar,
        };
        progress.edited = random.small();
        fill_failures(random, progress);
        progress.rounds = vec![Sample {
            key: random.small(),
            step: random.small(),
            tenths: random.small(),
            times: u8::from(random.is()),
        }];
        let [lull, short_lull, slow, unhurried] = std::array::from_fn(|_| random.small());
        progress.waited = Waited {
            lull,
            short_lull,
            slow,
            unhurried,
        };
        *progress.advances = vec![Advance {
            approach: random.roll(),
            numbers: vec![random.roll(), 0],
            moved: vec![-3, 4],
        }];
        fill_marks(random, cell);
        cell.held.pace = Pace {
            gaps: [random.tiny(), random.tiny()].into_iter().collect(),
            answered: random.maybe(RandomValues::time),
            active: random.maybe(RandomValues::time),
            in_turn: random.is(),
            turn: random.roll(),
            turn_start: random.small(),
        };
    }

    fn fill_marks(random: &mut RandomValues, cell: &mut SessionCell) {
        cell.held.refused_in_block = random.small();
        cell.held.run_started = random.maybe(RandomValues::time);
        cell.held.user_unblocks = random.is();
        cell.held.shadow_mark = random.maybe(|random| {
            Box::new(ShadowMark {
                kills: random.is(),
                mark: Mark {
                    at: random.time(),
                    rule: random.maybe(|_| RuleId::ProgressStuck),
                    why: "12 in a row".to_owned(),
                    by: None,
                },
            })
        });
    }

    fn any_subject(random: &mut RandomValues) -> Subject {
        Subject {
            form: random.small(),
            thing: random.small(),
            controls: random.is(),
            said: [random.tiny(), 0, 0, 0, 0, 0, 0, 0],
            count: random.small(),
        }
    }

    fn any_losses(random: &mut RandomValues) -> CallLosses {
        let targets =
            |random: &mut RandomValues| (0..random.below(3)).map(|_| random.roll()).collect();
        CallLosses {
            tool: random.maybe(targets),
            tool_name: random.maybe(|_| "table=users".into()),
            far: targets(random),
            counts: random.is(),
            far_names: random.maybe(|_| "bucket".into()).into_iter().collect(),
            near: targets(random),
        }
    }

    fn any_streaks(random: &mut RandomValues) -> Streaks {
        let [
            stagnation,
            stuck,
            echo,
            empty,
            aimed,
            failing,
            churn,
            alike,
            barren,
            weak,
            similar,
            rounds,
            repeats,
            probe,
            parrots,
            waits,
            retold,
            unhurried,
            swept,
            failed_runs,
            spared,
            familiar,
            familiar_steps,
        ] = std::array::from_fn(|_| random.tiny());
        Streaks {
            stagnation,
            stuck,
            echo,
            empty,
            aimed,
            failing,
            churn,
            alike,
            barren,
            weak,
            similar,
            rounds,
            repeats,
            probe,
            parrots,
            waits,
            retold,
            unhurried,
            swept,
            failed_runs,
            spared,
            familiar,
            familiar_steps,
        }
    }

    fn fill_approvals(random: &mut RandomValues, cell: &mut SessionCell) {
        let approvals = &mut cell.held.approvals;
        approvals.count = random.small();
        for n in 0..random.below(4) {
            let states = [
                ApprovalState::Open,
                ApprovalState::Approved,
                ApprovalState::Granted,
                ApprovalState::Declined,
            ];
            approvals.list.push(Approval {
                code: Id::new(&format!("k7f{n}")).unwrap(),
                state: states[usize::try_from(random.below(4)).unwrap()],
                asked: random.time(),
                until: random.time(),
                rule: random.maybe(|_| RuleId::DestructiveVolume),
                what: "db/drop_table on table=users".to_owned(),
                why: "3 deletes in 2s".to_owned(),
                commands: random.maybe(|_| "git push".into()).into_iter().collect(),
                root: random.maybe(|_| "/srv/app".into()),
                agent: random.maybe(|_| Id::new("cleaner").unwrap()),
                by: random.maybe(|_| "ops@host".into()),
                said: random.maybe(|_| "fine".into()),
                exact: random.roll(),
                deed: random.roll(),
            });
        }
    }

    fn fill_progress(random: &mut RandomValues, cell: &mut SessionCell) {
        let progress = &mut cell.held.progress;
        for _ in 0..random.below(300) {
            let answer = random.roll() >> random.below(3) << 40;
            progress.outcomes.use_again(answer);
            let outcome = u32::try_from(answer >> 32).unwrap();
            let outcome = if random.is() { outcome } else { random.small() };
            let past = ApproachHistory {
                outcome,
                earlier: random.maybe(RandomValues::small).unwrap_or(outcome),
                shape: random.small(),
                step: random.small(),
                tenths: random.small(),
                span: random.tiny(),
                same: random.tiny(),
                looks: random.tiny(),
                thirds: u8::from(random.is()),
            };
            progress.given.use_again(random.small());
            progress.told.use_again(random.small());
            let approach = random.below(400);
            let at = progress.past(approach).map(|(at, _)| at);
            progress.keep(at, approach, past);
        }
        progress.streaks = any_streaks(random);
        fill_pace(random, cell);
        fill_last(random, cell);
    }

    fn fill_last(random: &mut RandomValues, cell: &mut SessionCell) {
        let progress = &mut cell.held.progress;
        progress.step = random.small();
        progress.changed = random.small();
        progress.news = (
            random.small(),
            random.maybe(RandomValues::time).unwrap_or_default(),
        );
        progress.last_told = LastTold {
            form: random.small(),
            count: random.small(),
            shape: random.small(),
        };
        progress.last = Last {
            approach: random.roll(),
            answer: random.roll(),
        };
        if random.is() {
            progress.classifier = Classifier::Plain;
        }
    }

    fn any_session(random: &mut RandomValues) -> SessionCell {
        let mut cell = SessionCell {
            touched: random.time(),
            generation: random.small(),
            last_killed: random.small(),
            agent: random.maybe(|_| Id::new("coder").unwrap()),
            owner: random.maybe(|random| match random.below(3) {
                0 => Owner::Adapters,
                1 => Owner::Anonymous,
                _ => Owner::Token(Id::new("build-farm").unwrap()),
            }),
            steps: u64::from(random.small()),
            killed: random.maybe(RandomValues::mark),
            blocked: random.maybe(RandomValues::mark),
            ..SessionCell::default()
        };
        cell.held.since = random.maybe(RandomValues::time);
        cell.held.attended_at = random.maybe(RandomValues::time);
        cell.held.user_seen = random.is();
        cell.held.step_seen = random.is();
        cell.held.reporting = (0..random.small() % 4).map(|_| random.roll()).collect();
        cell.held.actions = random.small();
        cell.held.unattended = random.small();
        *cell.held.refusals = Refusals {
            count: random.small(),
            counted_at: random.maybe(RandomValues::time),
            identical_at: random.maybe(RandomValues::time),
        };
        for n in 0..random.below(3) {
            let model = random.maybe(|_| Id::new(&format!("model-{n}")).unwrap());
            let amount = Amount {
                model: model.as_ref(),
                tokens: random.roll() >> 20,
                cost_micros: random.roll() >> 30,
                cache_read_tokens: random.roll() >> 30,
                unpriced: random.is(),
            };
            cell.held.spent.add(amount);
            cell.held.spent.reserve(n, amount, random.time());
        }
        if random.is() {
            cell.held.spent.warn_once(3);
        }
        fill_lists(random, &mut cell);
        fill_progress(random, &mut cell);
        fill_approvals(random, &mut cell);
        cell
    }

    fn write(cell: &SessionCell) -> (Vec<u8>, Vec<u8>) {
        let mut memory = Writer::new(Vec::new());
        cell.write_memory(&mut memory);
        (encode(cell), memory.into_bytes())
    }

    fn read_memory(bytes: &[u8]) -> Result<StepMemory, Malformed> {
        StepMemory::read(&mut Reader::new(bytes)?)
    }

    fn comes_back<C: for<'a> Fields<'a> + PartialEq + std::fmt::Debug>(cell: &C) -> usize {
        let bytes = encode(cell);
        assert_eq!(decode::<C>(&bytes).as_ref(), Ok(cell));
        for cut in 0..bytes.len() {
            assert_ne!(
                decode::<C>(&bytes[..cut]).as_ref(),
                Ok(cell),
                "cut at {cut}"
            );
        }
        bytes.len()
    }

    #[test]
    fn any_session_comes_back_as_it_was() {
        let mut random = RandomValues(0x5eed);
        for round in 0..500 {
            let cell = any_session(&mut random);
            let (small, memory) = write(&cell);
            let mut read: SessionCell = decode(&small).unwrap();
            read.put_memory(read_memory(&memory).unwrap());
            assert_eq!(read, cell, "round {round}");
        }
    }

    #[test]
    fn a_new_session_takes_nothing_and_a_young_one_little() {
        let mut cell = SessionCell::default();
        assert_eq!(write(&cell), (vec![1, 0], vec![1, 31, 0, 0, 0, 0, 0]));
        cell.expire(Timestamp(1_700_000_000_000));
        cell.touched = Timestamp(1_700_000_000_000);
        cell.stick(Some(&Id::new("coder").unwrap()));
        cell.held.actions = 1;
        cell.held.calls.push(u64::MAX, cell.touched);
        let (small, _) = write(&cell);
        assert!(small.len() <= 40, "{} bytes", small.len());
    }

    #[test]
    fn a_full_session_is_less_than_sixteen_kilobytes_also_where_everything_has_noise() {
        let mut random = RandomValues(0xf011);
        let mut cell = SessionCell {
            touched: Timestamp(1_700_000_000_000),
            ..SessionCell::default()
        };
        for step in 0..256_u32 {
            let now = cell.touched.plus(Millis(5_000));
            cell.touched = now;
            cell.held.calls.push(random.roll(), now);
            cell.remember_pending(PendingCall {
                id: random.roll(),
                tried: Tried {
                    exact: random.roll(),
                    normal: random.roll(),
                    kind: ToolKind::Run,
                    waits: false,
                    moves: false,
                    asks: false,
                    aims: true,
                    probes: false,
                    argument: random.small(),
                    about: any_subject(&mut random),
                    name: ShortName::new(["read_file", "run_tests"][usize::from(random.is())]),
                    label: ShortName::new("main.rs"),
                },
                refused: false,
                asked: false,
                dialog: false,
                losses: None,
                at: now,
                turn_start: step,
            });
            let outcome = random.small() | 1 << 31;
            let past = ApproachHistory {
                outcome,
                earlier: outcome,
                shape: random.small(),
                step,
                tenths: step * 50,
                span: 0,
                same: 0,
                looks: 0,
                thirds: 0,
            };
            cell.held.progress.given.use_again(random.small());
            cell.held.progress.told.use_again(random.small());
            cell.held.progress.keep(None, random.roll(), past);
            cell.held.progress.outcomes.use_again(random.roll());
        }
        let (small, memory) = write(&cell);
        let sizes = (small.len(), memory.len());
        assert!(sizes.0 <= 7_000 && sizes.1 <= 9_000, "{sizes:?}");
    }

    #[test]
    fn what_is_cut_or_changed_never_panics_and_a_cut_memory_is_noticed() {
        let mut random = RandomValues(0xca7);
        for _ in 0..20 {
            let (mut small, mut memory) = write(&any_session(&mut random));
            for cut in 0..memory.len() {
                assert!(read_memory(&memory[..cut]).is_err(), "cut at {cut}");
            }
            for cut in 0..small.len() {
                let _ = decode::<SessionCell>(&small[..cut]);
            }
            for _ in 0..500 {
                for bytes in [&mut small, &mut memory] {
                    let at = usize::try_from(random.roll()).unwrap() % bytes.len();
                    bytes[at] = random.roll().to_le_bytes()[0];
                }
                let _ = decode::<SessionCell>(&small);
                let _ = read_memory(&memory);
            }
        }
    }

    #[test]
    fn every_other_cell_comes_back_in_few_bytes() {
        let at = Timestamp(1_700_000_000_000);
        let mut flow = FlowCell {
            touched: at.plus(Millis(2)),
            started: Some((FlowStarter::Outside(Source::Applet), at)),
            chain_since: at,
            last_attempt: at.plus(Millis(1)),
            total: 3,
            ..FlowCell::default()
        };
        flow.calls.push(at, Millis::MINUTE, 9);
        flow.members.push(FlowMember {
            id: Id::new("a").unwrap(),
            parent: Some(Id::new("b").unwrap()),
            last: at,
            counted: true,
            revisits: 1,
            steps: 0,
            by_news: false,
        });
        flow.spent.add(Amount {
            tokens: 7,
            cost_micros: 8,
            ..Amount::default()
        });
        assert_eq!(comes_back(&flow), 30);
        let mut pair = PairCell {
            touched: at,
            steps: (1, 0),
            there: MessageRun {
                content: Some(0),
                flow: u64::MAX,
                count: 2,
                answers: Answers::All(9),
            },
            ..PairCell::default()
        };
        pair.back.answers = Answers::Mixed;
        pair.talk.push(at, Millis::MINUTE, 9);
        comes_back(&pair);
        let mut agent = AgentCell {
            touched: at,
            day_since: at,
            ..AgentCell::default()
        };
        agent.destructive.push(&[1, 2], at, Millis::MINUTE, 9);
        comes_back(&agent);
        let mut inbox = InboxCell {
            touched: at,
            ..InboxCell::default()
        };
        inbox.arrived.push(at, Millis::MINUTE, 9);
        comes_back(&inbox);
        comes_back(&ConversationCell {
            touched: at,
            messages: 300,
            new_messages: 7,
        });
    }

    #[test]
    fn an_alias_keeps_verdicts_whole() {
        let evidence = serde_json::json!({"count": 3, "tools": ["a", 1.5, null]});
        let call = Verdict {
            durable: None,
            decision: Decision::Kill,
            rule: Some(RuleId::FlowDepth),
            code: Some(Code::SessionStaleGeneration),
            message: Some(String::new()),
            evidence: evidence.as_object().cloned(),
            hint: Some("sprag reset".to_owned()),
            also: vec![RuleId::FlowRate, RuleId::BudgetCost],
            would: Some(Box::new(Would {
                decision: Decision::Warn,
                rule: RuleId::FlowTotal,
                message: "many".to_owned(),
                evidence: Evidence::new(),
            })),
            flow: Some(Id::new("f").unwrap()),
            depth: Some(0),
            generation: 4,
            killed_generation: Some(3),
            retry_after_ms: Some(0),
            end_turn: true,
            notice: Some("it waits".to_owned()),
            approval: Some(Id::new("k7f3").unwrap()),
            expires_ms: Some(600_000),
        };
        let seen = |verdict| {
            Some(Box::new(Seen {
                at: Timestamp(3),
                what: 7,
                by: 2,
                again: 1,
                verdict,
            }))
        };
        comes_back(&AliasCell {
            touched: Timestamp(5),
            seen: vec![Sighting {
                session: Id::new("s").unwrap(),
                call: seen(call),
                step: seen(Verdict::default()),
            }],
        });
    }
}
