//! Servers that die under load, on disks that fill up meanwhile: no kill that was answered as durable is lost, and no hook
//! of a killed session is let through while a server ends or starts.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sandbox::{Sandbox, feed};
use crate::serve::{Client, Serving};

/// How often a server dies; `make soak` asks for more.
#[expect(
    clippy::disallowed_methods,
    reason = "the soak asks for more crashes than a test run"
)]
fn rounds() -> u64 {
    match std::env::var("SPRAG_CRASHES") {
        Ok(count) => count.parse().expect("SPRAG_CRASHES is a number"),
        Err(_) => 4,
    }
}

/// A small disk of its own, if this user may make one.
struct Disk {
    sandbox: Sandbox,
    is_mounted: bool,
}

impl Disk {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        // Emptied, it has room for the log of all rounds: the last server has to end well.
        let size = format!("size={}m", 64 + 2 * rounds());
        let made = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(sandbox.path())
            .output();
        let is_mounted = made.is_ok_and(|made| made.status.success());
        if !is_mounted {
            println!("this user can't mount a disk; none fills up");
        }
        Self {
            sandbox,
            is_mounted,
        }
    }

    /// Takes all the room there is.
    fn fill(&self) {
        if !self.is_mounted {
            return;
        }
        let mut filler = File::create(self.sandbox.path().join("filler")).unwrap();
        let block = vec![0_u8; 1 << 16];
        while filler.write_all(&block).is_ok() {}
        let byte = [0_u8; 1];
        while filler.write_all(&byte).is_ok() {}
    }

    fn make_room(&self) {
        let _ = std::fs::remove_file(self.sandbox.path().join("filler"));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.is_mounted {
            let _ = Command::new("umount")
                .arg("-l")
                .arg(self.sandbox.path())
                .output();
        }
    }
}

/// Whether a hook lets a call of this session through.
fn hook_lets_through(sandbox: &Sandbox, session: &str) -> bool {
    let payload = format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"{session}","transcript_path":"t","tool_name":"Read","tool_input":{{}},"tool_use_id":"toolu_{session}"}}"#
    );
    let answer = feed(
        sandbox.command(&["hook", "--client", "claude", "--db", "s.db"]),
        payload.as_bytes(),
    );
    !String::from_utf8_lossy(&answer.stdout).contains("\"deny\"")
}

/// A worker kills so many sessions in a round at most: 200 rounds stay below the 100,000 that a store keeps.
const MOST_KILLS: u32 = 160;

/// Kills sessions one after the other until the server is gone; keeps those that were answered as durable.
fn kill_sessions(mut client: Client, name: &str, kept: &Mutex<BTreeSet<String>>) {
    for turn in 0..MOST_KILLS {
        let session = format!("{name}-{turn}");
        let call = format!(r#"{{"type":"call","session":"{session}","tool":"t"}}"#);
        let path = format!("/v1/sessions/{session}/kill");
        let asked = client.post("/v1/check", &call);
        match asked.and_then(|_| client.post(&path, r#"{"why":"test"}"#)) {
            None => break,
            Some(answer) if answer.contains("\"durable\":false") => {}
            Some(_) => drop(kept.lock().unwrap().insert(session)),
        }
    }
}

fn check(server: &Serving, killed: &BTreeSet<String>) {
    let mut client = server.client();
    for session in killed {
        let call = format!(r#"{{"type":"call","session":"{session}","tool":"t"}}"#);
        let verdict = client.post("/v1/check", &call).expect("the server answers");
        assert!(
            verdict.starts_with(r#"{"verdict":"kill""#),
            "{session}: {verdict}"
        );
    }
}

fn killed_in(round: u64, killed: &Mutex<BTreeSet<String>>) -> BTreeSet<String> {
    let prefix = format!("s{round}-");
    let mut killed = killed.lock().unwrap().clone();
    killed.retain(|session: &String| session.starts_with(&prefix));
    killed
}

#[test]
fn no_durable_kill_is_lost_on_full_disks_and_no_hook_is_unchecked_while_servers_die() {
    let disk = Disk::new();
    let sandbox = &disk.sandbox;
    let killed = Mutex::new(BTreeSet::new());
    let hooks = Mutex::new(0_u64);
    for round in 0..rounds() {
        disk.make_room();
        let mut server = Serving::start(sandbox);
        // Those of the round before; all of them at the end.
        check(&server, &killed_in(round.saturating_sub(1), &killed));
        let known = killed.lock().unwrap().first().cloned();
        let enough = killed.lock().unwrap().len() + 30;
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for worker in 0..3 {
                let (client, killed) = (server.client(), &killed);
                scope.spawn(move || kill_sessions(client, &format!("s{round}-{worker}"), killed));
            }
            let (is_over, hooks) = (&is_over, &hooks);
            let hook = scope.spawn(move || {
                // Over the end of the server, and until the next one.
                while let (Some(session), false) = (&known, is_over.load(Ordering::SeqCst)) {
                    assert!(
                        !hook_lets_through(sandbox, session),
                        "{session} was let through"
                    );
                    *hooks.lock().unwrap() += 1;
                }
            });
            while killed.lock().unwrap().len() < enough {
                std::thread::yield_now();
            }
            if round % 2 == 1 {
                disk.fill();
                std::thread::park_timeout(std::time::Duration::from_millis(300));
            }
            server.signal("-KILL");
            let _ = server.child.wait();
            // One more hook without any server.
            let before = *hooks.lock().unwrap();
            while !hook.is_finished() && round > 0 && *hooks.lock().unwrap() < before + 2 {
                std::thread::yield_now();
            }
            is_over.store(true, Ordering::SeqCst);
        });
    }
    disk.make_room();
    let mut server = Serving::start(sandbox);
    let killed = killed.into_inner().unwrap();
    check(&server, &killed);
    println!(
        "{} kills, {} hooks",
        killed.len(),
        hooks.into_inner().unwrap()
    );
    server.signal("-TERM");
    assert!(server.child.wait().unwrap().success());
    let verified = sandbox.run(&["verify", "--db", "s.db"]);
    assert!(verified.starts_with("exit 0"), "{verified}");
}
