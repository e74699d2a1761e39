//! What is too much is refused in plain words, and nothing makes reading slow or noisy.

use super::*;

fn told(text: &str) -> String {
    let errors = Policy::from_toml(text).map(drop).unwrap_err();
    errors.display("p").to_string()
}

#[test]
fn a_policy_has_at_most_a_thousand_overrides() {
    let one = "[[override]]\nagent = \"a\"\ncall.repeat = 2\n";
    let policy = toml(&one.repeat(1_000));
    assert_eq!(policy.limits_for(Some("a"), "s").call.repeat.get(), 2);
    assert_eq!(
        told(&one.repeat(1_001)),
        "p:1: override: has 1001 entries; 1000 is the most"
    );
}

#[test]
fn the_last_of_a_thousand_overrides_still_counts() {
    let one = "[[override]]\nagent = \"a\"\ncall.repeat = 2\n";
    let last = "[[override]]\nagent = \"a\"\ncall.repeat = 3\n";
    let policy = toml(&format!("{}{last}", one.repeat(999)));
    assert_eq!(policy.limits_for(Some("a"), "s").call.repeat.get(), 3);
}

#[test]
fn a_list_has_at_most_a_thousand_globs_and_a_glob_256_characters() {
    let globs = |count: usize| format!("[access]\ndeny = [{}]", "\"x\",".repeat(count));
    assert_eq!(toml(&globs(1_000)).base().access.deny.len(), 1_000);
    assert_eq!(
        told(&globs(1_001)),
        "p:2: access.deny: has 1001 entries; 1000 is the most"
    );
    let long = |count: usize| format!("[access]\ndeny = [\"{}\"]", "é".repeat(count));
    assert_eq!(toml(&long(256)).base().access.deny.len(), 1);
    assert!(
        told(&long(257))
            .ends_with("not \"éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…\"")
    );
}

#[test]
fn there_are_at_most_a_thousand_tools() {
    let tools = |count: usize| "[[tool]]\nmatch = \"x\"\nkind = \"run\"\n".repeat(count);
    assert_eq!(toml(&tools(1_000)).base().tools.len(), 1_000);
    assert_eq!(
        told(&tools(1_001)),
        "p:1: tool: has 1001 entries; 1000 is the most"
    );
}

#[test]
fn there_are_at_most_64_target_names() {
    let names = |count: usize| format!("[destructive]\ntargets = [{}]", "\"x\",".repeat(count));
    assert_eq!(toml(&names(64)).base().destructive.targets.len(), 64);
    assert_eq!(
        told(&names(65)),
        "p:2: destructive.targets: has 65 entries; 64 is the most"
    );
}

#[test]
fn a_text_has_at_most_a_mebibyte() {
    let mut text = "#".repeat(MAX_POLICY_BYTES);
    assert_eq!(toml(&text), Policy::default());
    text.push('#');
    assert_eq!(
        told(&text),
        "p: a policy has at most 1048576 bytes, this one has 1048577"
    );
}

#[test]
fn the_text_of_what_is_in_force_can_be_read_again() {
    let with = |agent: &str, rules: &str| {
        let one = format!("[[override]]\nagent = \"{agent}\"\nrules = {{ {rules} }}\n");
        one.repeat(1_000)
    };
    let policy = toml(&with("a", "\"*\" = \"shadow\""));
    assert!(Policy::from_toml(&policy.to_toml()) == Ok(policy));
    let rules = "\"*\" = \"shadow\", \"*e*\" = \"enforce\", \"*ss*\" = \"off\"";
    let told = told(&with(&"é".repeat(256), rules));
    let (start, end) = told.split_at(told.find("has ").unwrap());
    assert_eq!(start, "p: written out in full this policy ");
    assert!(end.ends_with(" bytes; 1048576 is the most"), "{end}");
}

#[test]
fn of_very_many_mistakes_the_first_are_told_and_the_rest_counted() {
    let mut text = String::new();
    for number in 0..60_000 {
        writeln!(text, "key_{number} = 1").unwrap();
    }
    let errors = Policy::from_toml(&text).unwrap_err();
    assert_eq!(errors.len(), 60_000);
    assert_eq!(errors.iter().count(), 50);
    assert!(
        errors
            .to_string()
            .ends_with("policy:50: key_49: no such key\npolicy: and 59950 more")
    );
}

#[test]
fn a_text_that_only_nests_is_refused() {
    for open in ["[", "{\"a\":", "{\"override\":["] {
        let errors = Policy::from_json(&open.repeat(100_000)).unwrap_err();
        assert_eq!(errors.len(), 1);
    }
    for text in [
        format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("{}a = 1", "a.".repeat(100_000)),
        format!("[{}a]", "a.".repeat(100_000)),
    ] {
        assert!(Policy::from_json(&text).is_err());
        assert!(Policy::from_toml(&text).is_err());
    }
}

#[test]
fn nothing_in_a_message_steers_a_terminal() {
    let told = told("\"\\u001b[2J\" = 1\n[inbox]\nscope = \"\\u001b[2J\"");
    assert!(!told.contains('\u{1b}'), "{told:?}");
}
