//! Servers that crash, hang, flood and babble, clients that vanish: nothing hangs and nothing is left.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::gate_fixture::call;
use crate::wrapper_process::WrapperProcess;

#[test]
fn the_exit_code_of_a_server_is_passed_on_and_said() {
    let mut wrapper = WrapperProcess::shell("read line; exit 3");
    wrapper.send("{}");
    assert_eq!(wrapper.receive(), "");
    assert_eq!(wrapper.child.wait().unwrap().code(), Some(3));
    assert_eq!(wrapper.said(), "wrap: the server ended: exit status: 3\n");
}

#[test]
fn a_server_that_dies_by_a_signal_is_told_as_a_shell_tells_it() {
    let mut wrapper = WrapperProcess::shell("kill -9 $$");
    assert_eq!(wrapper.receive(), "");
    assert_eq!(wrapper.child.wait().unwrap().code(), Some(137));
    assert_eq!(
        wrapper.said(),
        "wrap: the server ended: signal: 9 (SIGKILL)\n"
    );
}

#[test]
fn what_a_server_says_before_it_crashes_still_arrives() {
    let mut wrapper = WrapperProcess::shell("echo one; printf two; exit 1");
    assert_eq!(wrapper.receive(), "one");
    assert_eq!(wrapper.receive(), "two");
    assert_eq!(wrapper.receive(), "");
    assert_eq!(wrapper.child.wait().unwrap().code(), Some(1));
}

#[test]
fn garbage_passes_in_both_directions() {
    let mut wrapper = WrapperProcess::shell("while read -r line; do echo \"heard: $line\"; done");
    for line in ["garbage", "{\"id\":", "[]", "", "\u{1}\u{7f}"] {
        wrapper.send(line);
        assert_eq!(wrapper.receive(), format!("heard: {line}"));
    }
    assert_eq!(wrapper.close().code(), Some(0));
}

#[test]
fn a_flood_on_standard_error_holds_nothing_up() {
    let mut wrapper = WrapperProcess::shell("yes flood | head -c 20000000 >&2; cat");
    wrapper.send("still here");
    assert_eq!(wrapper.receive(), "still here");
    assert!(wrapper.close().success());
    assert_eq!(wrapper.said().len(), 20_000_000);
}

#[test]
fn a_client_that_reads_late_is_waited_for_and_nothing_deadlocks() {
    let mut wrapper =
        WrapperProcess::shell("yes '{\"method\":\"notifications/message\"}' | head -n 300000; cat");
    let mut to = wrapper.to.take().unwrap();
    let writer = std::thread::spawn(move || {
        use std::io::Write as _;
        for id in 0..20_000 {
            writeln!(to, "{}", call(id, "delete_asset", r#"{"id":"a"}"#)).unwrap();
        }
    });
    let mut refused = 0;
    let mut notes = 0;
    while refused < 19_998 || notes < 300_000 {
        let line = wrapper.receive();
        refused += u32::from(line.contains("isError"));
        notes += u32::from(line.contains("notifications"));
        assert_ne!(line, "", "it ended early");
    }
    writer.join().unwrap();
}

#[test]
fn a_server_that_ignores_everything_is_ended_with_all_that_it_started() {
    let mut wrapper = WrapperProcess::shell(
        "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $$ $!; while :; do sleep 1; done",
    );
    let pids = pids(&wrapper.receive());
    assert_eq!(wrapper.close().code(), Some(137));
    pids.into_iter().for_each(wait_until_gone);
    insta::assert_snapshot!(wrapper.said(), @"
    wrap: the server did not end by itself; it is asked to
    wrap: the server did not end when asked; it is killed
    wrap: the server ended: signal: 9 (SIGKILL)
    ");
}

#[test]
fn a_killed_wrapper_leaves_nothing_behind() {
    let mut wrapper = WrapperProcess::shell("sleep 1000 & echo $$ $!; wait");
    let pids = pids(&wrapper.receive());
    wrapper.child.kill().unwrap();
    wrapper.child.wait().unwrap();
    pids.into_iter().for_each(wait_until_gone);
}

#[test]
fn a_wrapper_that_is_asked_to_end_leaves_nothing_behind() {
    let mut wrapper =
        WrapperProcess::shell("trap '' TERM; sleep 1000 & echo $$ $!; while :; do wait; done");
    let pids = pids(&wrapper.receive());
    let pid = Pid::from_raw(i32::try_from(wrapper.child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    wrapper.child.wait().unwrap();
    pids.into_iter().for_each(wait_until_gone);
}

#[test]
fn a_client_that_vanishes_takes_the_server_with_it() {
    let mut wrapper =
        WrapperProcess::shell("echo $$; while echo still here; do sleep 1; done; sleep 1000");
    let pids = pids(&wrapper.receive());
    wrapper.to = None;
    wrapper.from = None;
    wrapper.child.wait().unwrap();
    pids.into_iter().for_each(wait_until_gone);
}

fn pids(line: &str) -> Vec<Pid> {
    line.split(' ')
        .map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap())
        .collect()
}

/// A process that is gone, or of which only the entry is left because nobody asked how it ended.
fn wait_until_gone(pid: Pid) {
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    for _ in 0..1000 {
        let is_zombie = std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") Z "));
        if test_kill_process(pid).is_err() || is_zombie {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    panic!("process {} is still there", pid.as_raw_nonzero());
}
