//! Alerts that a command receives.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use sprag_server::notify::NotifySettings;

use crate::guard_fixture::GuardFixture;
use crate::notify::{Told, delete};

/// A program that writes down what it was told.
fn program(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("told.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn command(path: &Path, arguments: &[&str]) -> NotifySettings {
    let mut command = vec![path.display().to_string()];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    NotifySettings {
        command,
        source: "sprag://test".to_owned(),
        ..NotifySettings::default()
    }
}

#[test]
fn a_command_gets_the_facts_as_variables_and_the_alert_on_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let path = program(
        folder.path(),
        "cat > \"$1.json\"\nprintenv | grep ^SPRAG_ | grep -v -e ^SPRAG_MCP_CLIENTS -e ^SPRAG_SKIP_WEB | sort > \"$1\"",
    );
    let out = folder.path().join("it's $(here)");
    let told = Told::new(
        GuardFixture::new(""),
        command(&path, &[out.to_str().unwrap()]),
    );
    delete(&told.fixture);
    told.hears();
    insta::assert_snapshot!(told.end().join("\n"));
    insta::assert_snapshot!(std::fs::read_to_string(&out).unwrap());
    let body = std::fs::read_to_string(folder.path().join("it's $(here).json")).unwrap();
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["subject"], "s1");
}

#[test]
fn a_command_that_fails_or_does_not_end_is_counted_and_stopped() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["echo no >&2; exit 3", "sleep 1000 & sleep 1000"] {
        let path = program(folder.path(), text);
        let settings = NotifySettings {
            timeout: Duration::from_millis(300),
            ..command(&path, &[])
        };
        let told = Told::new(GuardFixture::new(""), settings);
        delete(&told.fixture);
        told.hears();
        let counted = told.end();
        assert_eq!(
            counted,
            ["sprag_notifications_total{channel=\"command\",result=\"failed\"} 1"]
        );
    }
}

#[test]
fn what_a_command_leaves_behind_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = program(folder.path(), "sleep 20 & exit 0");
    let settings = NotifySettings {
        timeout: Duration::from_secs(10),
        ..command(&path, &[])
    };
    let told = Told::new(GuardFixture::new(""), settings);
    delete(&told.fixture);
    told.hears();
    assert_eq!(
        told.end(),
        ["sprag_notifications_total{channel=\"command\",result=\"sent\"} 1"]
    );
}
