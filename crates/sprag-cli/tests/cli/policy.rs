//! `sprag policy check`, `show`, `schema` and `import`.

use crate::sandbox::Sandbox;

#[test]
fn a_right_policy_is_told_with_what_it_changes() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "p.toml",
        "[rules]\n'flow.revisits' = 'enforce'\n[flow]\nmax_depth = 4\n[call]\nwindow = '2m'\n",
    );
    insta::assert_snapshot!(sandbox.run(&["policy", "check", "p.toml"]), @r#"
    exit 0
    --- stdout
      flow.max_depth: 5 → 4
      call.window: "60s" → "2m"
      rules.flow.revisits: "off" → "enforce"
    right: p.toml
    "#);
    insta::assert_snapshot!(sandbox.run(&["policy", "check", "p.toml", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "file": "p.toml",
      "ok": true,
      "errors": [],
      "differs": [
        {
          "key": "flow.max_depth",
          "default": 5,
          "value": 4
        },
        {
          "key": "call.window",
          "default": "60s",
          "value": "2m"
        },
        {
          "key": "rules.flow.revisits",
          "default": "off",
          "value": "enforce"
        }
      ],
      "tools": [],
      "overrides": []
    }
    "#);
}

#[test]
fn a_check_leaves_out_neither_overrides_nor_tools() {
    let sandbox = Sandbox::new();
    let policy = "[[tool]]\nmatch = 'ask_*'\nkind = 'poll'\n\n\
                  [[override]]\nagent = 'clean*'\n[override.flow]\nmax_depth = 2\n[override.rules]\n'call.*' = 'off'\n\n\
                  [[override]]\nsession = 'night-1'\n[override.call]\nmax_identical = 9\n";
    sandbox.file("p.toml", policy);
    insta::assert_snapshot!(sandbox.run(&["policy", "check", "p.toml"]), @r#"
    exit 0
    --- stdout
      tool ask_*: poll
      agent "clean*": flow.max_depth = 2
      agent "clean*": rules.call.* = "off"
      session "night-1": call.max_identical = 9
    right: p.toml
    "#);
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "p.toml",
        "[flow]\nmax_dept = 5\nmax_calls = 0\n\n[rules]\n'flow.dpth' = 'on'\n",
    );
    insta::assert_snapshot!(sandbox.run(&["policy", "check", "p.toml"]), @r#"
    exit 1
    --- stdout
    p.toml:2: flow.max_dept: no such key; did you mean `flow.max_depth`?
    p.toml:3: flow.max_calls: must be a whole number from 1 to 4096, not 0
    p.toml:6: rules."flow.dpth": no such rule; did you mean `flow.depth`?
    p.toml:6: rules."flow.dpth": must be "enforce", "ask", "shadow" or "off", not "on"
    wrong: 4 mistakes
    "#);
    insta::assert_snapshot!(sandbox.run(&["policy", "check", "p.toml", "--json"]), @r#"
    exit 1
    --- stdout
    {
      "file": "p.toml",
      "ok": false,
      "errors": [
        {
          "line": 2,
          "message": "flow.max_dept: no such key; did you mean `flow.max_depth`?"
        },
        {
          "line": 3,
          "message": "flow.max_calls: must be a whole number from 1 to 4096, not 0"
        },
        {
          "line": 6,
          "message": "rules.\"flow.dpth\": no such rule; did you mean `flow.depth`?"
        },
        {
          "line": 6,
          "message": "rules.\"flow.dpth\": must be \"enforce\", \"ask\", \"shadow\" or \"off\", not \"on\""
        }
      ],
      "differs": [],
      "tools": [],
      "overrides": []
    }
    "#);
    sandbox.file("p.json", "{\"flow\": {\"max_depth\": \"five\"}}");
    insta::assert_snapshot!(sandbox.run(&["policy", "check", "p.json"]), @r#"
    exit 1
    --- stdout
    p.json:1: flow.max_depth: must be a whole number from 1 to 4096, not "five"
    wrong: 1 mistake
    "#);
    sandbox.file("p.toml", b"[flow]\n# \xff\n");
    insta::assert_snapshot!(sandbox.run(&["policy", "check", "p.toml"]), @"
    exit 2
    --- stderr
    error: the policy p.toml is not UTF-8 text: see line 2
    next: save it as UTF-8
    ");
}

#[test]
fn without_a_file_the_defaults_hold() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["policy", "check"]), @"
    exit 0
    --- stdout
    there is no policy file; the defaults hold
    ");
    insta::assert_snapshot!(sandbox.run(&["policy", "check", "gone.toml"]), @"
    exit 2
    --- stderr
    error: there is no policy gone.toml
    next: `sprag policy show > gone.toml` creates one from the defaults
    ");
}

#[test]
fn the_whole_policy_is_shown_and_reads_back() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&["policy", "show"]);
    let toml = shown
        .strip_prefix("exit 0\n--- stdout\n")
        .expect("no error");
    sandbox.file("p.toml", toml);
    assert_eq!(
        sandbox.run(&["policy", "show", "--policy", "p.toml"]),
        shown
    );
    let json = sandbox.run(&["policy", "show", "--json"]);
    let json = json.strip_prefix("exit 0\n--- stdout\n").expect("no error");
    sandbox.file("p.json", json);
    assert_eq!(
        sandbox.run(&["policy", "show", "--policy", "p.json"]),
        shown
    );
}

#[test]
fn overrides_are_merged_for_an_agent_and_a_session() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "p.toml",
        "[[override]]\nagent = 'a*'\nflow.max_depth = 3\n[[override]]\nsession = 's1'\nflow.max_depth = 2\n",
    );
    let depth = |args: &[&str]| {
        let mut all = vec!["policy", "show", "--policy", "p.toml"];
        all.extend(args);
        let shown = sandbox.run(&all);
        let line = shown.lines().find(|line| line.starts_with("max_depth"));
        line.map(str::to_owned)
    };
    assert_eq!(depth(&[]).as_deref(), Some("max_depth = 5"));
    assert_eq!(depth(&["--agent", "abc"]).as_deref(), Some("max_depth = 3"));
    let both = depth(&["--agent", "abc", "--session", "s1"]);
    assert_eq!(both.as_deref(), Some("max_depth = 2"));
}

#[test]
fn the_schema_is_json() {
    let output = Sandbox::new().run(&["policy", "schema"]);
    let json = output
        .strip_prefix("exit 0\n--- stdout\n")
        .expect("no error");
    let schema: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(schema["title"], "Sprag policy");
}

#[test]
fn other_tools_limits_become_a_policy() {
    let sandbox = Sandbox::new();
    sandbox
        .file(
            "limits.json",
            r#"{"maxDepth": 4, "maxDuration": 600, "maxRevisits": 3, "color": "red"}"#,
        )
        .file("other.json", r#"{"colour": "red"}"#)
        .file("wrong.json", r#"{"maxDepth": "four"}"#);
    insta::assert_snapshot!(sandbox.run(&["policy", "import", "limits.json"]), @r#"
    exit 0
    --- stdout
    [rules]
    "flow.revisits" = "enforce"

    [flow]
    max_depth = 4
    max_duration = "10m"
    max_revisits = 3
    --- stderr
    color: ignored, a policy has nothing like it
    maxDepth → flow.max_depth = 4
    maxDuration → flow.max_duration = "10m"
    maxRevisits → flow.max_revisits = 3
    "#);
    insta::assert_snapshot!(sandbox.run(&["policy", "import", "limits.json", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "policy": "[rules]\n\"flow.revisits\" = \"enforce\"\n\n[flow]\nmax_depth = 4\nmax_duration = \"10m\"\nmax_revisits = 3\n",
      "notes": [
        "color: ignored, a policy has nothing like it",
        "maxDepth → flow.max_depth = 4",
        "maxDuration → flow.max_duration = \"10m\"",
        "maxRevisits → flow.max_revisits = 3"
      ]
    }
    "#);
    insta::assert_snapshot!(sandbox.run(&["policy", "import", "other.json"]), @"
    exit 2
    --- stderr
    error: other.json: no known limits in this file: it has none of `maxDepth`, `maxStackDepth`, `maxUniqueSessions`, `maxTotalCalls`, `maxCallsPerMinute`, `maxDuration`, `maxRevisits` (recursion limits), `protection.max_agent_messages_per_minute`, `protection.max_chain_depth` (settings), `max_deletes`, `window_s` (deletes)
    ");
    insta::assert_snapshot!(sandbox.run(&["policy", "import", "wrong.json"]), @r#"
    exit 2
    --- stderr
    error: wrong.json: maxDepth: must be a whole number from 1, not "four"
    "#);
    insta::assert_snapshot!(sandbox.run(&["policy", "import", "gone.json"]), @"
    exit 2
    --- stderr
    error: there is no file gone.json
    next: check the path; it is relative to where you are
    ");
}

#[test]
fn other_tools_limits_become_an_override_for_one_session_or_agent() {
    let sandbox = Sandbox::new();
    sandbox.file("limits.json", r#"{"maxDepth": 4}"#);
    for who in ["--session", "--agent"] {
        let shown = sandbox.run(&["policy", "import", "limits.json", who, "coder"]);
        let name = who.trim_start_matches('-');
        assert!(shown.starts_with("exit 0"), "{shown}");
        assert!(shown.contains("[[override]]"), "{shown}");
        assert!(shown.contains(&format!("{name} = \"coder\"")), "{shown}");
        // What was imported is a policy.
        let text = shown.split("--- stdout\n").nth(1).unwrap();
        let text = text.split("--- stderr").next().unwrap();
        sandbox.file("imported.toml", text);
        let checked = sandbox.run(&["policy", "check", "imported.toml"]);
        assert!(checked.starts_with("exit 0"), "{checked}");
    }
}
