//! A session's cell in few bytes, for a store that keeps all of them in memory and sends one over a
//! network with every event.
//!
//! Everything has a number, and what is as in a new session is not written at all: a young
//! session takes some dozens of bytes. A number is followed by one value or by a length and bytes, so
//! that an older build skips what only a newer one knows. Numbers are never given twice. Times are
//! told as how long before the last event they were, digests in full: they don't get smaller.

mod bytes;
mod calls;
mod mark;
mod memory;
mod session;

#[cfg(test)]
mod tests {
    use super::super::progress::{ApproachHistory, Last, Streaks};
    use super::super::session::Refusals;
    use super::super::tried::{ShortName, Tried};
    use super::super::{Destructive, Mark, PendingCall, SessionCell, StepMemory};
    use crate::id::Id;
    use crate::observation::ToolKind;
    use crate::policy::Classifier;
    use crate::rule::RuleId;
    use crate::time::{Millis, Timestamp};

    /// Numbers that repeat with every run.
    struct Dice(u64);

    impl Dice {
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

    fn fill_lists(dice: &mut Dice, cell: &mut SessionCell) {
        let held = &mut cell.held;
        let mut now = Timestamp(1_699_000_000_000);
        for _ in 0..dice.below(300) {
            now = now.plus(Millis(dice.below(100_000)));
            held.calls.push(dice.below(50), now);
        }
        for _ in 0..dice.below(64) {
            let kinds = [
                ToolKind::Read,
                ToolKind::Poll,
                ToolKind::Change,
                ToolKind::Run,
            ];
            let names = ["", "read", "écrire un très long nom d'outil"];
            let exact = dice.roll();
            held.pending.push(PendingCall {
                id: dice.roll(),
                tried: Tried {
                    exact,
                    normal: if dice.is() { exact } else { dice.roll() },
                    kind: kinds[usize::try_from(dice.below(4)).unwrap()],
                    name: ShortName::new(names[usize::try_from(dice.below(3)).unwrap()]),
                },
                refused: dice.is(),
            });
        }
        held.destructive = dice.maybe(|dice| {
            let mut destructive = Destructive::default();
            for _ in 0..dice.below(9) {
                now = now.plus(Millis(dice.below(9_000)));
                destructive.push(&[dice.roll(), 7], now, Millis::MINUTE, 5);
            }
            Box::new(destructive)
        });
        for n in 0..dice.below(3) {
            let flow = format!("flow {n}");
            held.dispatches.push(Id::new(&flow).unwrap());
        }
    }

    fn fill_progress(dice: &mut Dice, cell: &mut SessionCell) {
        let progress = &mut cell.held.progress;
        for _ in 0..dice.below(300) {
            let answer = dice.roll() >> dice.below(3) << 40;
            progress.outcomes.use_again(answer);
            let outcome = u32::try_from(answer >> 32).unwrap();
            let outcome = if dice.is() { outcome } else { dice.small() };
            let past = ApproachHistory {
                outcome,
                earlier: dice.maybe(Dice::small).unwrap_or(outcome),
                step: dice.small(),
                tenths: dice.small(),
                span: dice.tiny(),
                same: dice.tiny(),
                looks: dice.tiny(),
            };
            let approach = dice.below(400);
            let at = progress.past(approach).map(|(at, _)| at);
            progress.keep(at, approach, past);
        }
        let [stagnation, stuck, echo, empty, churn, alike, barren] =
            std::array::from_fn(|_| dice.tiny());
        progress.streaks = Streaks {
            stagnation,
            stuck,
            echo,
            empty,
            churn,
            alike,
            barren,
        };
        progress.step = dice.small();
        progress.changed = dice.small();
        progress.news = (dice.small(), dice.maybe(Dice::time).unwrap_or_default());
        progress.last = Last {
            approach: dice.roll(),
            answer: dice.roll(),
            shape: dice.small(),
        };
        if dice.is() {
            progress.classifier = Classifier::Plain;
        }
    }

    fn any_session(dice: &mut Dice) -> SessionCell {
        let mut cell = SessionCell {
            touched: dice.time(),
            generation: dice.small(),
            agent: dice.maybe(|_| Id::new("coder").unwrap()),
            steps: u64::from(dice.small()),
            killed: dice.maybe(Dice::mark),
            blocked: dice.maybe(Dice::mark),
            ..SessionCell::default()
        };
        cell.held.since = dice.maybe(Dice::time);
        cell.held.attended_at = dice.maybe(Dice::time);
        cell.held.user_seen = dice.is();
        cell.held.step_seen = dice.is();
        cell.held.actions = dice.small();
        cell.held.unattended = dice.small();
        cell.held.refusals = Refusals {
            count: dice.small(),
            counted_at: dice.maybe(Dice::time),
            identical_at: dice.maybe(Dice::time),
        };
        cell.held.spent.add(dice.roll() >> 20, dice.roll() >> 30);
        if dice.is() {
            cell.held.spent.warn_once(3);
        }
        fill_lists(dice, &mut cell);
        fill_progress(dice, &mut cell);
        cell
    }

    fn write(cell: &SessionCell) -> (Vec<u8>, Vec<u8>) {
        let (mut small, mut memory) = (Vec::new(), Vec::new());
        cell.write_small(&mut small);
        cell.write_memory(&mut memory);
        (small, memory)
    }

    #[test]
    fn any_session_comes_back_as_it_was() {
        let mut dice = Dice(0x5eed);
        for round in 0..500 {
            let cell = any_session(&mut dice);
            let (small, memory) = write(&cell);
            let mut read = SessionCell::read_small(&small).unwrap();
            read.put_memory(StepMemory::read(&memory).unwrap());
            assert_eq!(read, cell, "round {round}");
        }
    }

    #[test]
    fn a_new_session_takes_nothing_and_a_young_one_little() {
        let mut cell = SessionCell::default();
        assert_eq!(write(&cell), (Vec::new(), vec![0, 0, 0]));
        cell.expire(Timestamp(1_700_000_000_000));
        cell.touched = Timestamp(1_700_000_000_000);
        cell.stick(Some(&Id::new("coder").unwrap()));
        cell.held.actions = 1;
        cell.held.calls.push(u64::MAX, cell.touched);
        let (small, _) = write(&cell);
        assert!(small.len() <= 40, "{} bytes", small.len());
    }

    #[test]
    fn a_full_session_is_less_than_eleven_kilobytes_also_where_everything_has_noise() {
        let mut dice = Dice(0xf011);
        let mut cell = SessionCell {
            touched: Timestamp(1_700_000_000_000),
            ..SessionCell::default()
        };
        for step in 0..256_u32 {
            let now = cell.touched.plus(Millis(5_000));
            cell.touched = now;
            cell.held.calls.push(dice.roll(), now);
            cell.remember_pending(PendingCall {
                id: dice.roll(),
                tried: Tried {
                    exact: dice.roll(),
                    normal: dice.roll(),
                    kind: ToolKind::Run,
                    name: ShortName::new(["read_file", "run_tests"][usize::from(dice.is())]),
                },
                refused: false,
            });
            let outcome = dice.small() | 1 << 31;
            let past = ApproachHistory {
                outcome,
                earlier: outcome,
                step,
                tenths: step * 50,
                span: 0,
                same: 0,
                looks: 0,
            };
            cell.held.progress.keep(None, dice.roll(), past);
            cell.held.progress.outcomes.use_again(dice.roll());
        }
        let (small, memory) = write(&cell);
        let sizes = (small.len(), memory.len());
        assert!(sizes.0 <= 5_000 && sizes.1 <= 6_000, "{sizes:?}");
    }

    #[test]
    fn what_is_cut_or_changed_never_panics_and_a_cut_memory_is_noticed() {
        let mut dice = Dice(0xca7);
        for _ in 0..20 {
            let (mut small, mut memory) = write(&any_session(&mut dice));
            for cut in 0..memory.len() {
                assert_eq!(StepMemory::read(&memory[..cut]), None, "cut at {cut}");
            }
            for cut in 0..small.len() {
                let _ = SessionCell::read_small(&small[..cut]);
            }
            for _ in 0..500 {
                for bytes in [&mut small, &mut memory] {
                    let at = usize::try_from(dice.roll()).unwrap() % bytes.len();
                    bytes[at] = dice.roll().to_le_bytes()[0];
                }
                let _ = SessionCell::read_small(&small);
                let _ = StepMemory::read(&memory);
            }
        }
    }

    #[test]
    fn a_field_of_a_newer_build_is_skipped() {
        let cell = any_session(&mut Dice(77));
        let (mut small, _) = write(&cell);
        // A number under 100, and two bytes under 300.
        small.extend([200, 1, 5, 217, 4, 2, 9, 9]);
        let mut expected = cell;
        expected.take_memory();
        assert_eq!(SessionCell::read_small(&small), Some(expected));
    }
}
