//! Ids of tool uses that are not unique: they neither hide calls nor mix sessions.

#[cfg(test)]
mod tests {
    use sprag_core::{
        CellMap, Decision, DigestKey, Digester, Event, FlowCounter, Policy, Timestamp, Verdict,
        resolve,
    };

    /// A guard with nothing but its cells.
    #[derive(Default)]
    struct Cells {
        cells: CellMap,
        flows: FlowCounter,
    }

    impl Cells {
        fn fold(&mut self, text: &str) -> Verdict {
            let policy = Policy::default();
            let event = Event::parse(text.as_bytes()).unwrap();
            let at = event.at().unwrap_or(Timestamp(0));
            let digester = Digester::new(DigestKey::fixed());
            let mut observed = digester.observe(&event, at, &policy).unwrap();
            resolve(&mut observed, &self.cells, || self.flows.draw()).unwrap();
            self.cells.fold(&policy, &observed).unwrap().0
        }

        /// A call at a second, by an adapter, under an id.
        fn call(&mut self, second: u64, session: &str, via: &str, what: (&str, u64)) -> Decision {
            let (tool, number) = what;
            let text = format!(
                r#"{{"type":"call","session":"{session}","tool":"{tool}","args":{{"id":{number}}},
                    "use_id":"call_0","via":"{via}","at":{}}}"#,
                second * 1_000
            );
            self.fold(&text).decision
        }

        fn step(&mut self, second: u64, session: &str, via: &str) -> Verdict {
            let text = format!(
                r#"{{"type":"step","session":"{session}","use_id":"call_0","via":"{via}",
                    "result":"same","at":{}}}"#,
                second * 1_000
            );
            self.fold(&text)
        }
    }

    #[test]
    fn one_constant_id_hid_every_call_after_the_first() {
        let mut guard = Cells::default();
        let verdicts: Vec<_> = (0..4)
            .map(|number| guard.call(number, "s", "mcp", ("delete_asset", number)))
            .map(Decision::refuses)
            .collect();
        assert_eq!(verdicts, [false, false, true, true]);
    }

    #[test]
    fn one_constant_id_hid_the_same_call_again_and_again() {
        let mut guard = Cells::default();
        let stopped = (0..60).find(|number| {
            let second = number * 5;
            let decision = guard.call(second, "s", "hook", ("read", 1));
            guard.step(second + 1, "s", "hook");
            decision.refuses()
        });
        assert!(stopped.is_some());
        // Nor without any steps.
        let mut guard = Cells::default();
        let stopped = (0..60).find(|number| guard.call(*number, "s", "api", ("read", 1)).refuses());
        assert!(stopped.is_some());
    }

    #[test]
    fn the_same_id_in_another_session_moved_its_calls_there() {
        let mut guard = Cells::default();
        guard.call(0, "a", "hook", ("delete_asset", 1));
        guard.call(1, "a", "hook", ("delete_asset", 2));
        assert_eq!(
            guard.call(2, "b", "hook", ("delete_asset", 3)),
            Decision::Allow
        );
        assert_eq!(guard.call(2, "b", "api", ("read", 3)), Decision::Allow);
        assert!(guard.cells.session("a").unwrap().killed().is_none());
        // Who can't tell its session is not guessed into one of two.
        guard.call(3, "proxy", "mcp", ("delete_asset", 4));
        assert!(guard.cells.session("proxy").is_some());
        assert!(guard.cells.session("a").unwrap().killed().is_none());
    }

    #[test]
    fn a_call_that_a_hook_and_a_proxy_saw_counts_once_in_the_session_of_the_hook() {
        let mut guard = Cells::default();
        for number in 0..2 {
            let second = number * 20;
            let seen_by_hook = guard.call(second, "s", "hook", ("delete_asset", number));
            assert!(!seen_by_hook.refuses());
            let seen_by_proxy = guard.call(second, "proxy", "mcp", ("delete_asset", number));
            assert_eq!(seen_by_proxy, seen_by_hook);
            guard.step(second + 1, "proxy", "mcp");
            guard.step(second + 1, "s", "hook");
        }
        assert!(guard.cells.session("proxy").is_none());
        // A client that has the hook in two settings sends it twice.
        assert_eq!(
            guard.call(41, "s", "hook", ("read", 7)),
            guard.call(41, "s", "hook", ("read", 7))
        );
    }

    #[test]
    fn another_adapter_that_comes_too_late_sees_a_new_call() {
        let kills_after = |late: u64| {
            let mut guard = Cells::default();
            guard.call(0, "s", "hook", ("delete_asset", 1));
            guard.call(late, "s", "mcp", ("delete_asset", 1));
            let other = |number: u64| {
                format!(
                    r#"{{"type":"call","session":"s","tool":"delete_asset","args":{{"id":{number}}},
                        "at":{}}}"#,
                    late * 1_000 + number
                )
            };
            guard.fold(&other(2));
            guard.fold(&other(3)).decision == Decision::Kill
        };
        assert!(!kills_after(599));
        assert!(kills_after(600));
    }
}
