//! Whatever policy there is, its text reads back as itself; whatever text there is, nothing breaks.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::super::key::KEYS;
use super::super::overrides::{Override, bring_warnings_forward};
use super::super::setting::{MAX_MICROS, MAX_TIME, MAX_TOKENS, Setting, SettingKind};
use super::*;
use crate::glob::Glob;
use crate::time::Millis;

fn glob() -> impl Strategy<Value = Glob> {
    prop_oneof!["[a-z*?/_]{1,6}", "(?s).{1,6}"].prop_map(|text| Glob::new(&text))
}

fn setting(kind: SettingKind) -> BoxedStrategy<Setting> {
    let amount = |max: u64| option::of(1..=max).prop_map(Setting::Amount).boxed();
    match kind {
        SettingKind::Count { max } => (1..=max).prop_map(Setting::Count).boxed(),
        SettingKind::Span => (1_000..=Millis::DAY.0)
            .prop_map(|ms| Setting::Span(Millis(ms)))
            .boxed(),
        SettingKind::Flag => any::<bool>().prop_map(Setting::Flag).boxed(),
        SettingKind::Word(words) => select(words).prop_map(Setting::Word).boxed(),
        SettingKind::Globs => vec(glob(), 0..4)
            .prop_map(|globs| Setting::Globs(globs.into()))
            .boxed(),
        SettingKind::Names => vec("(?s).{1,6}", 0..4)
            .prop_map(|names| Setting::Names(names.into_iter().map(Box::from).collect()))
            .boxed(),
        SettingKind::Tokens => amount(MAX_TOKENS),
        // At most 15 digits, which survive a reader of binary fractions.
        SettingKind::Money => prop_oneof![amount(MAX_MICROS / 10), amount(2_000_000)].boxed(),
        SettingKind::Time => option::of(1_000..=MAX_TIME.0)
            .prop_map(Setting::Amount)
            .boxed(),
    }
}

fn settings() -> impl Strategy<Value = BTreeMap<usize, Setting>> {
    let all: Vec<usize> = (0..KEYS.len()).collect();
    subsequence(all, 0..8).prop_flat_map(|keys| {
        let each: Vec<_> = keys
            .into_iter()
            .map(|index| (Just(index), setting(KEYS[index].kind)))
            .collect();
        each.prop_map(|pairs| pairs.into_iter().collect())
    })
}

fn modes() -> impl Strategy<Value = BTreeMap<RuleId, Mode>> {
    let rules: Vec<RuleId> = RuleId::ALL
        .iter()
        .copied()
        .filter(|rule| rule.has_mode())
        .collect();
    let some = btree_map(select(rules.clone()), select(&Mode::ALL[..]), 0..5);
    let family = (select(rules.clone()), select(&Mode::ALL[..]));
    let whole = (some, option::of(family), any::<bool>());
    whole.prop_map(move |(mut modes, family, all)| {
        let same =
            |rule: &&RuleId| family.is_some_and(|(one, _)| all || one.family() == rule.family());
        if let Some((_, mode)) = family {
            modes.extend(rules.iter().filter(same).map(|rule| (*rule, mode)));
        }
        modes.retain(|rule, mode| rule.can_ask() || *mode != Mode::Ask);
        modes
    })
}

fn overrides() -> impl Strategy<Value = Override> {
    (
        option::of(glob()),
        glob(),
        any::<bool>(),
        settings(),
        modes(),
    )
        .prop_map(|(agent, other, both, settings, modes)| Override {
            session: (both || agent.is_none()).then_some(other),
            agent,
            settings,
            modes,
        })
        .prop_filter("it sets something", |written| {
            !written.settings.is_empty() || !written.modes.is_empty()
        })
}

/// Whoever sets a warning or what it warns of sets both, in order.
fn sound(mut written: Override, base: &Limits) -> Override {
    let mut limits = base.clone();
    written.apply(&mut limits);
    bring_warnings_forward(&mut limits);
    for (index, key) in KEYS.iter().enumerate() {
        let Some(next) = key.warns_before() else {
            continue;
        };
        let next_index = KEYS
            .iter()
            .position(|key| key.name() == next.name())
            .unwrap();
        if written.settings.contains_key(&index) || written.settings.contains_key(&next_index) {
            written.settings.insert(index, (key.load)(&limits));
            written.settings.insert(next_index, (next.load)(&limits));
        }
    }
    written
}

fn policies() -> impl Strategy<Value = Policy> {
    let kinds = select(vec![
        ToolKind::Read,
        ToolKind::Poll,
        ToolKind::Change,
        ToolKind::Run,
    ]);
    let tools = vec((glob(), kinds), 0..3);
    let base = (settings(), modes(), tools).prop_map(|(settings, modes, tools)| {
        let mut limits = Limits::default();
        let written = Override {
            settings,
            modes,
            ..Override::default()
        };
        written.apply(&mut limits);
        bring_warnings_forward(&mut limits);
        limits.tools = tools.into();
        limits
    });
    (base, vec(overrides(), 0..5)).prop_map(|(base, written)| {
        let written = written
            .into_iter()
            .map(|written| sound(written, &base))
            .collect();
        Policy::new(base, written)
    })
}

proptest! {
    #[test]
    fn a_policy_reads_back_from_its_toml(policy in policies()) {
        let text = policy.to_toml();
        let read = Policy::from_toml(&text).map_err(|errors| TestCaseError::fail(format!("{errors}\n{text}")))?;
        prop_assert_eq!(&read, &policy);
        prop_assert_eq!(read.digest(), policy.digest());
    }

    #[test]
    fn the_text_of_a_paused_policy_judges_the_same(policy in policies(), agent in "[a-z]{1,3}") {
        let paused = policy.with_pause(true);
        let read = Policy::from_toml(&paused.to_toml()).unwrap();
        prop_assert_eq!(read.digest(), paused.digest());
        let session = agent.as_str();
        prop_assert_eq!(&*read.limits_for(Some(&agent), session), &*paused.limits_for(Some(&agent), session));
    }

    #[test]
    fn a_policy_reads_back_from_the_same_json(policy in policies()) {
        let table: toml::Table = policy.to_toml().parse().unwrap();
        let value = serde_json::to_value(table).unwrap();
        prop_assert_eq!(&Policy::from_json(&value.to_string()).unwrap(), &policy);
        prop_assert_eq!(&Policy::from_value(&value).unwrap(), &policy);
    }

    #[test]
    fn merged_limits_are_the_overrides_applied_one_by_one(policy in policies(), agent in option::of("[a-z]{1,3}"), session in "[a-z]{1,3}") {
        let mut expected = policy.written.clone();
        for by_session in [false, true] {
            let mut matching: Vec<&Override> = policy.overrides.iter().filter(|written| {
                let agents = written.agent.as_ref().is_none_or(|glob| agent.as_ref().is_some_and(|agent| glob.matches(agent)));
                let sessions = written.session.as_ref().is_none_or(|glob| glob.matches(&session));
                agents && sessions && written.session.is_some() == by_session
            }).collect();
            matching.sort_by_key(|written| written.session.as_ref().or(written.agent.as_ref()).map(Glob::literal_chars));
            for written in matching {
                written.apply(&mut expected);
            }
        }
        bring_warnings_forward(&mut expected);
        for _ in 0..2 {
            prop_assert_eq!(&*policy.limits_for(agent.as_deref(), &session), &expected);
        }
    }

    #[test]
    fn no_text_breaks_the_reader(text in any::<String>()) {
        let _ = Policy::from_toml(&text);
        let _ = Policy::from_json(&text);
        let _ = import::from_json(&text, None, &import::ImportScope::Everyone);
        let _ = text.parse::<Millis>();
        let _ = Policy::nearest_key(&text);
        let _ = Policy::default().get(&text);
    }

    #[test]
    fn no_change_to_a_policy_breaks_the_reader(policy in policies(), at in any::<prop::sample::Index>(), length in 0..20_usize, text in "(?s).{0,4}|[\\[\\]{}\"=.,0-9a-z\n]{0,8}") {
        let mut chars: Vec<char> = policy.to_toml().chars().collect();
        let start = at.index(chars.len());
        let end = (start + length).min(chars.len());
        chars.splice(start..end, text.chars());
        if let Err(errors) = Policy::from_toml(&chars.iter().collect::<String>()) {
            prop_assert!(!errors.display("p").to_string().is_empty());
        }
    }

    #[test]
    fn every_duration_reads_back(millis in any::<u64>()) {
        prop_assert_eq!(Millis(millis).to_string().parse(), Ok(Millis(millis)));
    }
}
