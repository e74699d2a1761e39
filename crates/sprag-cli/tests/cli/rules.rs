//! `sprag rules`.

use crate::sandbox::Sandbox;

const POLICY: &str = r#"
[rules]
"flow.*" = "shadow"
"flow.revisits" = "enforce"

[flow]
max_depth = 4

[access]
deny = ["shell/*", "rm_*", "a", "b"]

[budget]
strict = true
tokens = { session = 1000000 }

[[override]]
agent = "bulk-*"
destructive.max_calls = 50
rules."destructive.target" = "shadow"
"#;

#[test]
fn all_rules_are_listed_with_limits_and_modes() {
    insta::assert_snapshot!(Sandbox::new().run(&["rules"]), @"
    exit 0
    --- stdout
    RULE                  VERDICT                  DEFAULT                                  CURRENT                                  MODE
    session.killed        deny, kill               -                                        -                                        always
    session.panic         warn, deny               -                                        -                                        always
    access.denied         deny                     -                                        -                                        enforce
    access.self           deny                     -                                        -                                        enforce
    session.blocked       warn, deny               -                                        -                                        enforce
    flow.correlation      deny                     -                                        -                                        enforce
    flow.self_call        deny                     -                                        -                                        enforce
    flow.depth            deny                     5                                        5                                        enforce
    flow.sessions         deny                     10                                       10                                       enforce
    flow.duration         deny                     5m                                       5m                                       enforce
    flow.rate             deny                     20 per minute                            20 per minute                            enforce
    flow.total            deny                     100                                      100                                      enforce
    flow.revisits         deny                     off (4)                                  4                                        off
    flow.spawns           warn, deny               50 / 200 / 20                            50 / 200 / 20                            enforce
    flow.chatter          warn                     6 per minute                             6 per minute                             enforce
    flow.echo             warn, deny               warn 3, deny 5                           warn 3, deny 5                           enforce
    flow.unattended       deny                     200                                      200                                      enforce
    inbox.rate            deny                     10 per minute                            10 per minute                            enforce
    conversation.length   deny                     10                                       10                                       enforce
    call.identical        deny                     20 / 60s                                 20 / 60s                                 enforce
    call.repeat           warn                     4                                        4                                        enforce
    destructive.sweeping  ask, deny                -                                        -                                        enforce
    destructive.volume    warn, ask, kill          3 / 60s                                  3 / 60s                                  enforce
    destructive.target    warn, deny, kill         2 / 60s                                  2 / 60s                                  enforce
    session.defiance      block, kill              10                                       10                                       enforce
    session.rerun         warn                     5 in 24 hours                            5 in 24 hours                            enforce
    progress.stagnation   warn, block              warn 3, block 5                          warn 3, block 5                          enforce
    progress.stuck        warn, block              warn 5, block 8; empty warn 8, block 20  warn 5, block 8; empty warn 8, block 20  enforce
    progress.recurrence   warn, block              warn 5, block 10                         warn 5, block 10                         enforce
    progress.churn        warn, block              warn 4, block 7                          warn 4, block 7                          enforce
    progress.probe        warn, block              warn 20, block 40                        warn 20, block 40                        enforce
    output.chant          warn, block              8                                        8                                        enforce
    output.repeat         warn, block              warn 3, block 5                          warn 3, block 5                          enforce
    budget.actions        warn, deny, block, kill  2000                                     2000                                     enforce
    budget.tokens         warn, block              off                                      off                                      enforce
    budget.cost           warn, block              off                                      off                                      enforce
    budget.time           warn, block              off                                      off                                      enforce
    ");
}

#[test]
fn what_the_policy_changes_is_seen() {
    let sandbox = Sandbox::new();
    sandbox.file("p.toml", POLICY);
    insta::assert_snapshot!(sandbox.run(&["rules", "--policy", "p.toml"]), @"
    exit 0
    --- stdout
    RULE                  VERDICT                  DEFAULT                                  CURRENT                                  MODE
    session.killed        deny, kill               -                                        -                                        always
    session.panic         warn, deny               -                                        -                                        always
    access.denied         deny                     -                                        deny shell/*, rm_*, a and 1 more         enforce
    access.self           deny                     -                                        -                                        enforce
    session.blocked       warn, deny               -                                        -                                        enforce
    flow.correlation      deny                     -                                        -                                        shadow
    flow.self_call        deny                     -                                        -                                        shadow
    flow.depth            deny                     5                                        4                                        shadow
    flow.sessions         deny                     10                                       10                                       shadow
    flow.duration         deny                     5m                                       5m                                       shadow
    flow.rate             deny                     20 per minute                            20 per minute                            shadow
    flow.total            deny                     100                                      100                                      shadow
    flow.revisits         deny                     off (4)                                  4                                        enforce
    flow.spawns           warn, deny               50 / 200 / 20                            50 / 200 / 20                            shadow
    flow.chatter          warn                     6 per minute                             6 per minute                             shadow
    flow.echo             warn, deny               warn 3, deny 5                           warn 3, deny 5                           shadow
    flow.unattended       deny                     200                                      200                                      shadow
    inbox.rate            deny                     10 per minute                            10 per minute                            enforce
    conversation.length   deny                     10                                       10                                       enforce
    call.identical        deny                     20 / 60s                                 20 / 60s                                 enforce
    call.repeat           warn                     4                                        4                                        enforce
    destructive.sweeping  ask, deny                -                                        -                                        enforce
    destructive.volume    warn, ask, kill          3 / 60s                                  3 / 60s                                  enforce
    destructive.target    warn, deny, kill         2 / 60s                                  2 / 60s                                  enforce
    session.defiance      block, kill              10                                       10                                       enforce
    session.rerun         warn                     5 in 24 hours                            5 in 24 hours                            enforce
    progress.stagnation   warn, block              warn 3, block 5                          warn 3, block 5                          enforce
    progress.stuck        warn, block              warn 5, block 8; empty warn 8, block 20  warn 5, block 8; empty warn 8, block 20  enforce
    progress.recurrence   warn, block              warn 5, block 10                         warn 5, block 10                         enforce
    progress.churn        warn, block              warn 4, block 7                          warn 4, block 7                          enforce
    progress.probe        warn, block              warn 20, block 40                        warn 20, block 40                        enforce
    output.chant          warn, block              8                                        8                                        enforce
    output.repeat         warn, block              warn 3, block 5                          warn 3, block 5                          enforce
    budget.actions        warn, deny, block, kill  2000                                     2000 / strict                            enforce
    budget.tokens         warn, block              off                                      session 1000000                          enforce
    budget.cost           warn, block              off                                      off                                      enforce
    budget.time           warn, block              off                                      off                                      enforce
    ");
}

#[test]
fn an_agents_overrides_are_merged_in() {
    let sandbox = Sandbox::new();
    sandbox.file("p.toml", POLICY);
    let all = sandbox.run(&["rules", "--policy", "p.toml"]);
    let bulk = sandbox.run(&["rules", "--policy", "p.toml", "--agent", "bulk-cleaner"]);
    let changed: Vec<&str> = bulk.lines().filter(|line| !all.contains(line)).collect();
    insta::assert_snapshot!(changed.join("\n"), @"
    destructive.volume    warn, ask, kill          3 / 60s                                  50 / 60s                                 enforce
    destructive.target    warn, deny, kill         2 / 60s                                  2 / 60s                                  shadow
    ");
}

#[test]
fn programs_get_json() {
    let output = Sandbox::new().run(&["rules", "--json"]);
    let json = output
        .strip_prefix("exit 0\n--- stdout\n")
        .expect("no error");
    let rows: Vec<serde_json::Value> = serde_json::from_str(json).expect("an array");
    assert_eq!(rows.len(), sprag_core::RuleId::ALL.len());
    insta::assert_snapshot!(rows[5], @r#"{"current":"-","default":"-","keys":[],"mode":"enforce","rule":"flow.correlation","verdicts":["deny"]}"#);
}
