//! Scheduled runs in a session that is kept: the same checks every hour, with the same answers.

use serde_json::json;

use crate::session::{Act, Look, Report};

fn run(source: &'static str, every_ms: u64, checks: u64) -> Vec<Act> {
    let mut acts = vec![Act::Opens(source, every_ms)];
    for n in 0..checks {
        let command = format!("./check-{n}.sh");
        acts.push(Look::shell(1_000, &command, format!("check {n}: healthy")).into());
    }
    acts
}

fn runs(source: &'static str, every_ms: u64, checks: u64, count: usize) -> Vec<Act> {
    (0..count)
        .flat_map(|_| run(source, every_ms, checks))
        .collect()
}

#[test]
fn the_same_checks_in_every_scheduled_run_are_no_loop() {
    let mut report = Report::default();
    for source in ["scheduler", "applet"] {
        for every_ms in [120_000, 900_000, 3_600_000] {
            for checks in [1, 3, 8] {
                let acts = runs(source, every_ms, checks, 30);
                let name = format!("{source} every {} s, {checks} checks", every_ms / 1000);
                report.honest(&name, &acts);
            }
        }
    }
    report.check(18);
}

#[test]
fn an_hourly_look_without_any_message_is_no_loop() {
    let mut report = Report::default();
    for tool in ["check_disk", "mcp__metrics__query", "zwobulator"] {
        let acts: Vec<Act> = (0..48)
            .map(|_| Look::new(3_600_000, tool, json!({ "host": "db-1" }), "disk at 61 %").into())
            .collect();
        report.honest(tool, &acts);
    }
    report.check(3);
}

#[test]
fn a_scheduler_that_fires_without_pause_excuses_nothing() {
    let mut report = Report::default();
    for source in ["scheduler", "applet"] {
        let acts = runs(source, 1_000, 1, 45);
        report.twin(&format!("{source} every second"), &acts);
    }
    report.check(2);
}
