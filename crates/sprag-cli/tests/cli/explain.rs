//! `sprag explain`.

use crate::sandbox::Sandbox;

#[test]
fn what_flow_correlation_asks_of_an_agent_server_is_explained() {
    let shown = Sandbox::new().run(&["explain", "flow.correlation"]);
    for words in ["dispatch", "sprag policy set flow.correlation off"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn a_rule_is_explained() {
    insta::assert_snapshot!(Sandbox::new().run(&["explain", "flow.depth"]), @"
    exit 0
    --- stdout
    flow.depth  deny
      flow.max_depth = 5
      mode: enforce

    Why
      Delegation is cheap to write and dear to run: five research agents that were allowed
      to start agents of their own became 361 in one evening and ate a five-hour quota in
      minutes. Each hop also loses a little of what was asked, and takes longer to say no.

    Trips when
      The call stack after this message is longer than `flow.max_depth`. The stack is
      collapsed: a call to a session that is already on the sender's path goes back to it,
      any other goes one deeper. 1→2→1→3 has depth 2, and a coordinator that asks six agents
      in parallel has depth 2 too.

    Resets when
      A message further up the path is judged by its own depth: one refused branch stops
      nobody else. The paths start afresh when the flow was silent for `flow.max_duration`.

    Tune
      `sprag policy set flow.max_depth 6`. But needing more than 5 is a design smell: the
      agent at the bottom no longer knows what the user asked, and the one on top can't tell
      what it is paying for. Let the coordinator call the workers side by side (depth 2)
      before you raise it.
      `sprag policy set flow.depth shadow` reports what it would do and stops nothing.

    Odd cases
      - Refused messages leave no trace on the path.
      - `spawn` of a sub-agent counts as a level, its `return` never does.
    ");
}

#[test]
fn the_limits_in_force_are_told() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".config/sprag/policy.toml",
        "[rules]\n'destructive.*' = 'shadow'\n[destructive]\nmax_calls = 9\n",
    );
    let text = sandbox.run(&["explain", "destructive.volume"]);
    assert!(text.contains("destructive.max_calls = 9\n"), "{text}");
    assert!(text.contains("mode: shadow\n"), "{text}");
}

#[test]
fn every_rule_can_be_explained_in_lines_that_fit() {
    let sandbox = Sandbox::new();
    for rule in sprag_core::RuleId::ALL {
        let text = sandbox.run(&["explain", rule.as_str()]);
        assert!(text.starts_with("exit 0\n"), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 88, "{rule}: {line}");
        }
    }
}

#[test]
fn a_slip_gets_the_nearest_rule() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["explain", "flow.dpeth"]), @"
    exit 2
    --- stderr
    error: there is no rule `flow.dpeth`
    next: did you mean `sprag explain flow.depth`?
    ");
    insta::assert_snapshot!(sandbox.run(&["explain", "depth"]), @"
    exit 2
    --- stderr
    error: there is no rule `depth`
    next: did you mean `sprag explain flow.depth`?
    ");
    insta::assert_snapshot!(sandbox.run(&["explain", "weather"]), @"
    exit 2
    --- stderr
    error: there is no rule `weather`
    next: `sprag rules` lists them all
    ");
}

#[test]
fn programs_get_json() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["explain", "flow.self_call", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "rule": "flow.self_call",
      "mode": "enforce",
      "limits": [],
      "verdicts": [
        "deny"
      ],
      "keys": [],
      "per": null,
      "why": "The shortest loop there is. Chat bridges hand a bot its own reply as new input, the bot answers it, and so on; nearly every chat framework has had that bug once.",
      "trips": "An agent's message has the same session as sender and receiver.",
      "resets": "At once: the next message is judged afresh. The attempt still keeps its flow alive.",
      "tune": "There is nothing to count, only a mode: `sprag policy set flow.self_call off` for designs where a session queues work to itself on purpose. The flow's rate and total then bound it.",
      "odd": [
        "`a` and `a/b` are two sessions: a sub-agent that answers its parent is no self-call."
      ]
    }
    "#);
}

/// The commands between backticks, split as a shell would.
fn commands(text: &str) -> Vec<Vec<String>> {
    let quoted = text.split('`').skip(1).step_by(2);
    let commands = quoted.filter(|text| text.starts_with("sprag policy set "));
    commands.map(words).collect()
}

fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in command.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn every_command_that_is_told_works() {
    let mut count = 0;
    for &rule in sprag_core::RuleId::ALL {
        let text = sprag_review::explain(rule);
        for command in commands(text.tune) {
            let args: Vec<&str> = command.iter().skip(1).map(String::as_str).collect();
            let output = Sandbox::new().run(&args);
            assert!(output.starts_with("exit 0\n"), "{command:?}\n{output}");
            count += 1;
        }
    }
    assert!(count > 25, "only {count} commands were found");
}
