//! How limits are merged and modes are chosen.

mod bounds;
mod round_trip;

use std::fmt::Write;

use super::*;
use crate::observation::ToolKind;
use crate::rule::RuleId;

fn toml(text: &str) -> Policy {
    Policy::from_toml(text).unwrap()
}

#[track_caller]
fn mode(policy: &Policy, rule: RuleId) -> Mode {
    policy.base().modes.get(rule)
}

#[test]
fn without_a_matching_override_the_base_itself_is_given() {
    let policy = toml("[[override]]\nagent = \"bulk-*\"\ncall.repeat = 9");
    let limits = policy.limits_for(Some("coder"), "s1");
    assert!(std::ptr::eq(&*limits, policy.base()));
    assert!(std::ptr::eq(
        &*policy.limits_for(None, "bulk-1"),
        policy.base()
    ));
    assert_eq!(policy.merged.len(), 0);
}

#[test]
fn sessions_beat_agents_and_the_longer_name_beats_the_shorter() {
    let policy = toml(
        r#"
        [[override]]
        session = "s9"
        destructive.max_calls = 2
        [[override]]
        agent = "bulk-cleaner"
        destructive.max_calls = 50
        [[override]]
        agent = "bulk-*"
        destructive.max_calls = 5
        call.repeat = 9
        "#,
    );
    let calls = |agent, session| {
        let limits = policy.limits_for(agent, session);
        (limits.destructive.max_calls.get(), limits.call.repeat.get())
    };
    assert_eq!(calls(Some("bulk-cleaner"), "s9"), (2, 9));
    assert_eq!(calls(Some("bulk-cleaner"), "s1"), (50, 9));
    assert_eq!(calls(Some("bulk-mover"), "s1"), (5, 9));
    assert_eq!(calls(None, "s9"), (2, 4));
    assert_eq!(calls(None, "s1"), (3, 4));
}

#[test]
fn between_equally_long_names_the_later_wins() {
    let policy = toml(
        r#"
        [[override]]
        agent = "*ab"
        call.repeat = 7
        [[override]]
        agent = "ab*"
        call.repeat = 8
        "#,
    );
    assert_eq!(policy.limits_for(Some("ab"), "s").call.repeat.get(), 8);
}

#[test]
fn an_override_with_agent_and_session_needs_both_and_ranks_as_a_sessions() {
    let policy = toml(
        r#"
        [[override]]
        agent = "coder"
        session = "n*"
        call.repeat = 7
        [[override]]
        agent = "coder"
        call.repeat = 8
        "#,
    );
    let repeat = |agent, session| policy.limits_for(agent, session).call.repeat.get();
    assert_eq!(repeat(Some("coder"), "night"), 7);
    assert_eq!(repeat(Some("coder"), "day"), 8);
    assert_eq!(repeat(Some("other"), "night"), 4);
    assert_eq!(repeat(None, "night"), 4);
}

#[test]
fn small_tables_merge_key_by_key() {
    let policy = toml(
        r#"
        [[override]]
        agent = "a*"
        flow.echo = { deny = 9 }
        [[override]]
        session = "s*"
        flow.echo = { warn = 2 }
        "#,
    );
    let echo = policy.limits_for(Some("a"), "s").flow.echo;
    assert_eq!((echo.warn.get(), echo.deny.get()), (2, 9));
}

#[test]
fn a_warning_never_comes_after_what_another_override_lowered() {
    let policy = toml(
        r#"
        [[override]]
        agent = "a"
        flow.echo = { warn = 10, deny = 20 }
        [[override]]
        session = "s"
        flow.echo.deny = 4
        "#,
    );
    let echo = policy.limits_for(Some("a"), "s").flow.echo;
    assert_eq!((echo.warn.get(), echo.deny.get()), (4, 4));
}

#[test]
fn an_override_can_lift_a_budget() {
    let policy = toml(
        r#"
        [budget]
        tokens.session = 1000
        [[override]]
        agent = "a"
        budget.tokens.session = "off"
        "#,
    );
    assert_eq!(policy.base().budget.tokens.session, Some(1000));
    assert_eq!(
        policy.limits_for(Some("a"), "s").budget.tokens.session,
        None
    );
}

#[test]
fn merged_limits_are_shared_and_what_is_kept_is_bounded() {
    let mut text = String::new();
    for bit in 0..10 {
        let session = "?".repeat(bit);
        let rest = "?".repeat(9 - bit);
        write!(
            text,
            "[[override]]\nsession = \"{session}1{rest}\"\ncall.repeat = {}\n",
            bit + 5
        )
        .unwrap();
    }
    let policy = toml(&text);
    for number in 1..1024 {
        let session = format!("{number:010b}");
        let once: *const Limits = &*policy.limits_for(None, &session);
        assert!(std::ptr::eq(once, &*policy.limits_for(None, &session)));
        assert!(policy.merged.len() <= 256);
    }
    assert_eq!(policy.clone().merged.len(), 0);
    assert_eq!(policy.clone(), policy);
}

#[test]
fn the_longer_literal_part_of_a_mode_wins_whatever_the_order() {
    let policy = toml(
        r#"
        [rules]
        "flow.depth" = "enforce"
        "flow.*" = "off"
        "*" = "shadow"
        "#,
    );
    assert_eq!(mode(&policy, RuleId::FlowDepth), Mode::Enforce);
    assert_eq!(mode(&policy, RuleId::FlowRate), Mode::Off);
    assert_eq!(mode(&policy, RuleId::FlowRevisits), Mode::Off);
    assert_eq!(mode(&policy, RuleId::CallRepeat), Mode::Shadow);
    assert_eq!(mode(&policy, RuleId::SessionBlocked), Mode::Shadow);
    assert_eq!(mode(&policy, RuleId::SessionKilled), Mode::Enforce);
}

#[test]
fn between_equally_long_modes_the_later_wins_in_toml_and_json() {
    let policy = toml("[rules]\n\"flow.d*\" = \"off\"\n\"*flow.d*\" = \"shadow\"");
    assert_eq!(mode(&policy, RuleId::FlowDepth), Mode::Shadow);
    let json = r#"{"rules": {"flow.d*": "off", "*flow.d*": "shadow"}}"#;
    assert_eq!(Policy::from_json(json).unwrap(), policy);
}

#[test]
fn what_the_user_writes_beats_the_default_mode() {
    let policy = toml("[rules]\n\"*\" = \"enforce\"");
    assert_eq!(mode(&policy, RuleId::FlowRevisits), Mode::Enforce);
    assert_eq!(mode(&Policy::default(), RuleId::FlowRevisits), Mode::Off);
}

#[test]
fn an_overrides_modes_beat_the_bases_whatever_their_length() {
    let policy = toml(
        r#"
        [rules]
        "call.identical" = "off"
        [[override]]
        agent = "a"
        rules = { "*" = "enforce", "flow.depth" = "off" }
        [[override]]
        session = "s"
        rules."flow.*" = "shadow"
        "#,
    );
    let mode = |session, rule| policy.limits_for(Some("a"), session).modes.get(rule);
    assert_eq!(mode("x", RuleId::CallIdentical), Mode::Enforce);
    assert_eq!(mode("x", RuleId::FlowDepth), Mode::Off);
    assert_eq!(mode("s", RuleId::FlowDepth), Mode::Shadow);
    assert_eq!(mode("s", RuleId::CallIdentical), Mode::Enforce);
}

#[test]
fn a_pause_caps_every_mode_but_the_kill_gate_and_can_be_lifted() {
    let written = toml(
        r#"
        [rules]
        "call.*" = "off"
        [[override]]
        agent = "a"
        rules."*" = "enforce"
        "#,
    );
    let paused = written.clone().with_pause(true);
    assert!(paused.is_paused() && !written.is_paused());
    for rule in RuleId::ALL {
        let (base, merged) = (paused.base(), paused.limits_for(Some("a"), "s"));
        if !rule.has_mode() {
            assert_eq!(base.modes.get(*rule), Mode::Enforce);
            assert_eq!(merged.modes.get(*rule), Mode::Enforce);
        } else {
            assert!(base.modes.get(*rule) <= Mode::Shadow, "{rule}");
            assert_eq!(merged.modes.get(*rule), Mode::Shadow, "{rule}");
        }
    }
    assert_eq!(mode(&paused, RuleId::CallRepeat), Mode::Off);
    assert_ne!(paused.digest(), written.digest());
    assert_eq!(
        Policy::from_toml(&paused.to_toml()).unwrap().digest(),
        paused.digest()
    );
    assert_eq!(paused.with_pause(false), written);
}

#[test]
fn tools_keep_their_order() {
    let policy = toml(
        r#"
        [[tool]]
        match = "job_status*"
        kind = "poll"
        [[tool]]
        match = "files/*"
        kind = "read"
        "#,
    );
    let tools: Vec<_> = policy
        .base()
        .tools
        .iter()
        .map(|(glob, kind)| (glob.as_str(), *kind))
        .collect();
    assert_eq!(
        tools,
        [("job_status*", ToolKind::Poll), ("files/*", ToolKind::Read)]
    );
}

#[test]
fn budgets_are_exact() {
    let policy = toml(
        r#"
        [budget]
        cost_usd = { session = 5, flow = 0.000001, agent_day = 1_000.25 }
        time = { session = "1h30m" }
        "#,
    );
    let budget = &policy.base().budget;
    assert_eq!(budget.cost_micros.session, Some(5_000_000));
    assert_eq!(budget.cost_micros.flow, Some(1));
    assert_eq!(budget.cost_micros.agent_day, Some(1_000_250_000));
    assert_eq!(budget.time_ms.session, Some(5_400_000));
    assert_eq!(budget.time_ms.flow, None);
}

#[test]
fn texts_that_mean_the_same_have_the_same_digest() {
    let one = toml(
        r#"
        [rules]
        "flow.*" = "shadow"
        [call]
        window = "1m"
        [[override]]
        agent = "abc"
        call.repeat = 2
        [[override]]
        agent = "x"
        call.repeat = 3
        [[override]]
        agent = "nothing set"
        "#,
    );
    let rules = RuleId::ALL.iter().filter(|rule| rule.family() == "flow");
    let rules: Vec<String> = rules.map(|rule| format!("\"{rule}\":\"shadow\"")).collect();
    let other = format!(
        r#"{{"override":[{{"agent":"x","call":{{"repeat":3}}}},{{"agent":"abc","call":{{"repeat":2}}}}],
            "rules":{{{}}}}}"#,
        rules.join(",")
    );
    let other = Policy::from_json(&other).unwrap();
    assert_eq!(one.digest(), other.digest());
    assert_eq!(one.digest().len(), 64);
    assert_ne!(one.digest(), Policy::default().digest());
}

#[test]
fn a_value_without_a_text_has_no_lines() {
    let value = serde_json::json!({"flow": {"max_depth": 7, "max_dept": 7}});
    let errors = Policy::from_value(&value).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors.to_string(),
        "policy: flow.max_dept: no such key; did you mean `flow.max_depth`?"
    );
    let value =
        serde_json::json!({"flow": {"max_depth": 7}, "budget": {"cost_usd": {"flow": 0.5}}});
    let policy = Policy::from_value(&value).unwrap();
    assert_eq!(policy.base().flow.max_depth.get(), 7);
    assert_eq!(policy.base().budget.cost_micros.flow, Some(500_000));
}

#[test]
fn single_values_can_be_asked_for() {
    let policy = toml("[flow]\nmax_depth = 7\n[rules]\n\"call.*\" = \"off\"");
    for (name, value) in [
        ("flow.max_depth", Some("7")),
        ("flow.max_duration", Some("\"5m\"")),
        ("call.window", Some("\"60s\"")),
        ("flow.echo", Some("{ warn = 3, deny = 5 }")),
        ("flow.echo.deny", Some("5")),
        ("budget.tokens.flow", Some("\"off\"")),
        ("access.allow", Some("[]")),
        ("rules.call.repeat", Some("\"off\"")),
        ("rules.\"flow.depth\"", Some("\"enforce\"")),
        ("flow", None),
        ("flow.max_dept", None),
        ("rules.nothing", None),
        ("", None),
    ] {
        assert_eq!(policy.get(name).as_deref(), value, "{name}");
    }
    assert_eq!(Policy::nearest_key("flow.max_dept"), Some("flow.max_depth"));
}
