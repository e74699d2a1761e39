//! Help that teaches, completions that are there, and slips that are told.

use crate::sandbox::Sandbox;

#[test]
fn help_starts_with_what_to_do_first() {
    let help = Sandbox::new().run(&["--help"]);
    let (commands, _) = help.split_once("Options:").unwrap();
    insta::assert_snapshot!(commands, @"
    exit 0
    --- stdout
    Detects runaway LLM agents and stops them

    Usage: sprag <COMMAND>

    Commands:
      scan         Find the loops in what your agents already did, and what they cost
      decide       Judge events from standard input, one JSON line each, and print the verdicts
      check        Ask the durable guard: like decide, but remembered and logged
      test         Run scenario files: events with the verdicts they must get
      eval         Measure how good a policy is on recorded, labelled runs
      tune         Suggest limits from a history: how often each rule would have fired, and on what
      policy       Check, show, change and import policies
      rules        List all rules with what they answer, their limits and their modes
      explain      Explain why a rule exists, when it trips, when it lets go, and how to tune it
      effects      Print what a command would destroy, how far that reaches and which rule judges it
      sessions     Look at sessions, kill and reset them
      approvals    List the calls that wait for a person
      approve      Approve a call that waits: it may then be made again
      decline      Decline a call that waits
      log          Read, prove, export and prune the log
      mcp          Put a guard before an MCP server: sprag mcp -- SERVER ARGUMENTS…
      run          Put a guard before a client's model API, and start the client: sprag run claude
      gateway      Put a guard before model APIs, for clients that are started elsewhere
      replay       Fold a log or a trace again, verdict by verdict, under any policy
      verify       Prove the log: its chain holds and every verdict comes out the same again
      pause        Put every rule into shadow for a while
      resume       End a pause
      panic        Refuse everything that agents do, at once and everywhere
      calm         End a panic
      serve        Run the server: an HTTP API for agents, relays and operators
      open         Open the dashboard of the running server
      health       Report whether the running server is ready
      agent-tools  Give an agent tools to talk to others: an MCP server on standard input and output
      token        Make, show, list and revoke the server's tokens
      install      Put the guard into an agent CLI: its settings, with a diff and a backup
      uninstall    Take the guard out of an agent CLI again
      doctor       Diagnose problems and suggest fixes: hooks, policy, store, server
      hook         Answer one hook of an agent CLI: its payload comes in, its own kind of answer goes
                   out
      completions  Print a completion script for a shell
      help         Print this message or the help of the given subcommand(s)
    ");
}

#[test]
fn help_ends_with_what_to_try() {
    let help = Sandbox::new().run(&["--help"]);
    let (_, options) = help.split_once("Options:").unwrap();
    insta::assert_snapshot!(options, @"
      -h, --help     Print help
      -V, --version  Print version

    Start here:
      sprag scan                           the loops that your agents already ran
      sprag rules                          what is watched, and with which limits
      sprag explain flow.depth             why a rule exists and how to tune it
      sprag decide < events.jsonl          judge recorded events
      sprag test scenarios.json            test a policy before an agent meets it
      sprag policy set flow.max_depth 6    change a limit
      sprag install claude                 guard a coding agent

    Verdicts, from mild to final: allow, warn, ask, deny, block, kill.
    ");
}

#[test]
fn without_a_command_the_help_is_shown() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&[]);
    assert!(output.starts_with("exit 2\n--- stderr\nDetects runaway LLM agents"));
}

#[test]
fn decide_tells_how_lines_are_answered() {
    insta::assert_snapshot!(Sandbox::new().run(&["decide", "--help"]), @r#"
    exit 0
    --- stdout
    Judge events from standard input, one JSON line each, and print the verdicts

    Usage: sprag decide [OPTIONS]

    Options:
          --policy <FILE>  The policy file, TOML or JSON [default: $SPRAG_POLICY, else
                           ~/.config/sprag/policy.toml, else the built-in limits]
          --strict         Stop at the first line that is not an event, with exit code 2
      -h, --help           Print help

    One line in, one line out, flushed at once. The time of an event is its `at` (milliseconds since
    1970), else the clock. A line that is not an event is answered with
    {"error":{"line":N,"message":"…"}} and the stream goes on; empty lines are skipped.

    Examples:
      echo '{"type":"call","session":"s1","tool":"delete_asset","args":{"id":"x"}}' | sprag decide
      sprag decide --policy strict.toml < run.jsonl | jq -c 'select(.verdict != "allow")'
      my-agent --events | sprag decide --strict

    Exit code: 0 at the end of the input; 2 if --strict stopped, or the policy can't be used.
    "#);
}

#[test]
fn test_tells_the_format_of_scenarios() {
    insta::assert_snapshot!(Sandbox::new().run(&["test", "--help"]), @r#"
    exit 0
    --- stdout
    Run scenario files: events with the verdicts they must get

    Usage: sprag test [OPTIONS] <FILE>...

    Arguments:
      <FILE>...  The scenario files

    Options:
          --policy <FILE>  Lay the scenarios' policies over this policy file, to test it
          --filter <TEXT>  Run only scenarios whose name contains this text, in any case
          --json           Print one JSON document instead of text
      -h, --help           Print help

    A scenario file is an array of
      {"name": "the third delete kills",
       "policy": {"destructive": {"max_calls": 3}},
       "events": [{"event": {"type": "call", …}, "expect": {"verdict": "allow"}}, …],
       "overall": {"stop_by": 3}}

    `policy` is what differs from the default, or from --policy. `expect` is a part of the verdict:
    only the fields it names are compared. `overall` may hold silent, no_stop (true), and warn_by,
    stop_by, not_before (the number of an event, counted from 1). An event without `at` happens one
    second after the one before it.

    Examples:
      sprag test scenarios.json
      sprag test --policy policy.toml --filter delete scenarios/*.json
      sprag test --json scenarios.json | jq '.scenarios[] | select(.passed | not)'

    Exit code: 0 if all passed; 1 if one failed; 2 if a file can't be used.
    "#);
}

#[test]
fn policy_set_shows_each_kind_of_value() {
    insta::assert_snapshot!(Sandbox::new().run(&["policy", "set", "--help"]), @r#"
    exit 0
    --- stdout
    Change one key in the policy file; comments and layout stay

    Usage: sprag policy set [OPTIONS] <KEY> <VALUE>

    Arguments:
      <KEY>    A key (`flow.max_depth`), or a rule or glob of rules whose mode to set (`flow.*`)
      <VALUE>  The value: a number, a duration, a word, a list; for a rule enforce, ask, shadow or off

    Options:
          --agent <AGENT>               For this agent
          --session <SESSION>           For this session
          --by <NAME>                   Who gives the order, for the log [default: $USER]
          --db <FILE>                   The store [default: $SPRAG_DB, else
                                        ~/.local/state/sprag/sprag.db]
          --redis <URL>                 Share the store in this Redis instead: `redis://`, `rediss://`
                                        (TLS), with `+sentinel` or `+cluster` before the colon [default:
                                        $SPRAG_REDIS]
          --redis-password-file <FILE>  The file with the password of Redis [default:
                                        $SPRAG_REDIS_PASSWORD]. One in the URL can be read by everyone
                                        who sees the list of processes
          --namespace <NAME>            What all keys in Redis start with, in braces; who uses the same
                                        shares everything [default: sprag]
          --redis-ca <FILE>             The certificates to trust, for `rediss://` [default: those of
                                        the system]
          --redis-fail <MODE>           What rules do while Redis can't be reached: `local`, `open` or
                                        `closed`, or `RULE=MODE` for some; may be given again [default:
                                        local]
          --redis-deadline <DURATION>   How long a decision may wait for Redis [default: 250ms]
          --redis-replicas <N>          How many replicas must have a kill before it is answered
                                        [default: 0]
          --socket <FILE>               The socket of a running `sprag serve` [default: $SPRAG_SOCKET,
                                        else $XDG_RUNTIME_DIR/sprag.sock, else beside the store]
          --policy <FILE>               The policy file, TOML or JSON [default: $SPRAG_POLICY, else
                                        ~/.config/sprag/policy.toml, else the built-in limits]
      -y, --yes                         Don't ask whether to do it. Needed without a terminal; the log
                                        then notes it
          --json                        Print one JSON document instead of text
      -h, --help                        Print help

    The file is checked as a whole before it is written, and is created where there is none. A change
    for an agent or a session goes into its [[override]]; both may be globs.

    Examples:
      sprag policy set flow.max_depth 6
      sprag policy set flow.max_duration 30m
      sprag policy set access.deny '["shell/*", "rm_*"]'
      sprag policy set progress.stagnation '{ warn = 5, block = 10 }'
      sprag policy set flow.revisits enforce
      sprag policy set 'destructive.*' shadow
      sprag policy set destructive.max_calls 50 --agent 'bulk-*'

    `sprag rules` shows the keys in force, `sprag explain RULE` what they do.
    "#);
}

#[test]
fn every_command_has_examples() {
    let sandbox = Sandbox::new();
    for command in [
        &["policy"][..],
        &["policy", "check"],
        &["policy", "show"],
        &["policy", "schema"],
        &["policy", "import"],
        &["rules"],
        &["explain"],
        &["completions"],
    ] {
        let mut args = command.to_vec();
        args.push("--help");
        let help = sandbox.run(&args);
        assert!(help.contains("Examples:\n  sprag "), "{command:?}\n{help}");
    }
}

#[test]
fn a_slip_in_a_command_is_told() {
    insta::assert_snapshot!(Sandbox::new().run(&["decied"]), @"
    exit 2
    --- stderr
    error: unrecognized subcommand 'decied'

      tip: some similar subcommands exist: 'decline', 'decide'

    Usage: sprag <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn completions_are_there_for_every_shell() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.run(&["completions", shell]);
        assert!(script.starts_with("exit 0\n--- stdout\n"), "{script}");
        for word in ["decide", "policy", "explain"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn the_version_is_told() {
    insta::assert_snapshot!(Sandbox::new().run(&["--version"]), @"
    exit 0
    --- stdout
    sprag 0.1.0
    ");
}
