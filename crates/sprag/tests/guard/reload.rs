//! A changed policy file takes effect whole or not at all, and the log tells it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sprag::{
    Decision, FeedItem, Guard, GuardError, LogQuery, LogScope, PolicyFile, PolicyFileError, Reload,
    TestClock,
};

use crate::place::{START, call};

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new(policy: &str) -> Self {
        let home = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        home.write(policy);
        home
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("policy.toml")
    }

    fn write(&self, policy: &str) {
        std::fs::write(self.path(), policy).unwrap();
    }

    fn guard(&self) -> Guard {
        let guard = Guard::builder()
            .policy_file(PolicyFile::required(self.path()))
            .clock(Arc::new(TestClock::at(START)))
            .build();
        guard.unwrap()
    }
}

fn notes(guard: &Guard) -> Vec<String> {
    let query = LogQuery {
        scope: LogScope::Notes,
        ..LogQuery::default()
    };
    let items = guard.records(&query).unwrap().items;
    let kind = |record: &sprag::Record| {
        let note = serde_json::to_value(record.note()?).ok()?;
        Some(note["note"].as_str()?.to_owned())
    };
    items.iter().filter_map(kind).collect()
}

const STRICT: &str = "[destructive]\nmax_calls = 1\n";

#[test]
fn a_changed_policy_takes_effect_and_the_log_tells_it() {
    let home = Home::new("");
    let guard = home.guard();
    assert_eq!(call(&guard, "s", "delete_asset").decision, Decision::Allow);
    assert_eq!(guard.reload().unwrap(), Reload::Unchanged);
    home.write(STRICT);
    assert!(matches!(guard.reload().unwrap(), Reload::Changed { .. }));
    assert_eq!(call(&guard, "t", "delete_asset").decision, Decision::Kill);
    assert_eq!(notes(&guard), ["policy_loaded", "policy_changed"]);
    assert!(guard.verify().unwrap().is_sound());
}

#[test]
fn a_wrong_policy_is_told_once_and_the_old_one_stays() {
    let home = Home::new(STRICT);
    let guard = home.guard();
    home.write("[destructive]\nmax_calls = 0\nmax_cals = 3\n");
    let Reload::Rejected(error) = guard.reload().unwrap() else {
        panic!("it is wrong");
    };
    let text = error
        .to_string()
        .replace(&home.folder.path().display().to_string(), "~");
    insta::assert_snapshot!(text, @"
    the policy can't be used
    ~/policy.toml:2: destructive.max_calls: must be a whole number from 1 to 4096, not 0
    ~/policy.toml:3: destructive.max_cals: no such key; did you mean `destructive.max_calls`?
    ");
    assert_eq!(guard.reload().unwrap(), Reload::Unchanged);
    assert_eq!(call(&guard, "s", "delete_asset").decision, Decision::Kill);
    home.write("");
    assert!(matches!(guard.reload().unwrap(), Reload::Changed { .. }));
    let told = ["policy_loaded", "policy_rejected", "policy_changed"];
    assert_eq!(notes(&guard), told);
}

#[test]
fn a_file_that_is_being_written_is_not_taken_half() {
    let home = Home::new("");
    let guard = home.guard();
    let whole = "[destructive]\nmax_calls = 50\n[rules]\n\"flow.*\" = \"shadow\"\n";
    // Every beginning that ends with a line is a policy too, and not the one that is meant.
    for end in (1..whole.len()).step_by(7) {
        home.write(whole.get(..end).unwrap());
        assert_eq!(guard.reload_if_changed().unwrap(), Reload::Unconfirmed);
    }
    home.write(whole);
    assert_eq!(guard.reload_if_changed().unwrap(), Reload::Unconfirmed);
    assert!(matches!(
        guard.reload_if_changed().unwrap(),
        Reload::Changed { .. }
    ));
    assert_eq!(guard.reload_if_changed().unwrap(), Reload::Unchanged);
    assert_eq!(notes(&guard), ["policy_loaded", "policy_changed"]);
    assert_eq!(guard.policy().get("destructive.max_calls").unwrap(), "50");
}

#[test]
fn what_means_the_same_is_no_change() {
    let home = Home::new("[flow]\nmax_depth = 3\n");
    let guard = home.guard();
    home.write("# a comment\nflow = { max_depth = 3 }\n");
    assert_eq!(guard.reload().unwrap(), Reload::Unchanged);
    assert_eq!(notes(&guard), ["policy_loaded"]);
}

#[test]
fn a_file_that_is_gone_leaves_the_policy_in_force() {
    let home = Home::new(STRICT);
    let guard = home.guard();
    std::fs::remove_file(home.path()).unwrap();
    assert!(matches!(
        guard.reload().unwrap(),
        Reload::Rejected(PolicyFileError::Missing { .. })
    ));
    assert_eq!(guard.reload().unwrap(), Reload::Unchanged);
    assert_eq!(call(&guard, "s", "delete_asset").decision, Decision::Kill);
    assert_eq!(notes(&guard), ["policy_loaded", "policy_rejected"]);
}

#[test]
fn an_optional_file_may_be_missing_and_come_later() {
    let home = Home::new("");
    std::fs::remove_file(home.path()).unwrap();
    let required = Guard::builder().policy_file(PolicyFile::required(home.path()));
    assert!(matches!(required.build(), Err(GuardError::Policy(_))));
    let optional = Guard::builder().policy_file(PolicyFile::optional(home.path()));
    let guard = optional.build().unwrap();
    assert_eq!(guard.reload().unwrap(), Reload::Unchanged);
    home.write(STRICT);
    assert!(matches!(guard.reload().unwrap(), Reload::Changed { .. }));
}

#[test]
fn a_watched_file_takes_effect_by_itself() {
    let home = Home::new("");
    let guard = home.guard();
    let heard = guard.subscribe();
    let watch = guard.watch(Duration::from_millis(2)).unwrap();
    home.write(STRICT);
    let Some(FeedItem::Record(record)) = heard.wait_for(Duration::from_secs(60)) else {
        panic!("nothing was told");
    };
    assert!(record.note().is_some());
    drop(watch);
    assert_eq!(call(&guard, "s", "delete_asset").decision, Decision::Kill);
}

#[test]
fn a_process_that_lives_for_one_event_does_not_tell_its_policy_again() {
    let home = Home::new(STRICT);
    let path = home.folder.path().join("sprag.db");
    for _ in 0..3 {
        let guard = Guard::builder()
            .file(&path)
            .policy_file(PolicyFile::required(home.path()));
        call(&guard.build().unwrap(), "s", "read");
    }
    let guard = Guard::open(&path).unwrap();
    assert_eq!(notes(&guard), ["policy_loaded", "policy_changed"]);
}
