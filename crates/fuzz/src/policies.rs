//! Files that people write: policies, edits of them, and scenarios.

use sprag::policy_edit::{OverrideTarget, set};
use sprag_core::{Policy, import};
use sprag_review::scenario;

/// Right policies survive writing and reading; wrong ones get errors that can be shown.
pub(crate) fn policy(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for read in [Policy::from_toml(text), Policy::from_json(text)] {
        match read {
            Ok(policy) => {
                let written = Policy::from_toml(&policy.to_toml());
                let again = written.expect("a policy reads what it wrote");
                assert_eq!(again.digest(), policy.digest());
                let _ = policy.limits_for(Some("agent"), "session");
            }
            Err(errors) => assert!(!errors.to_string().is_empty()),
        }
    }
    let _ = import::from_json(text, None, &import::ImportScope::Everyone);
}

/// The first line says which key is set, and for whom; the rest is the file. What comes out is TOML again, and
/// setting the same key again changes nothing.
pub(crate) fn policy_edit(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (first, file) = text.split_once('\n').unwrap_or((text, ""));
    let (path, agent) = first.split_once(' ').unwrap_or((first, ""));
    let path: Vec<&str> = path.split('.').take(4).collect();
    let who = OverrideTarget {
        agent: Some(agent).filter(|agent| !agent.is_empty()),
        session: None,
    };
    let Ok(once) = set(file, &path, 7.into(), who) else {
        return;
    };
    let twice = set(&once.text, &path, 7.into(), who).expect("an edited file can be edited");
    assert_eq!(twice.text, once.text);
    assert_eq!(twice.old.as_deref().map(str::trim), Some("7"));
}

/// Scenario files run, or are refused with an error that can be shown.
pub(crate) fn scenario(data: &[u8]) {
    match scenario::parse(data) {
        Ok(scenarios) => {
            for one in &scenarios {
                let _ = scenario::run(one);
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !error.to_string().is_empty()));
        }
    }
}
