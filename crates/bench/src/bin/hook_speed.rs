//! How long one hook takes, from exec to exit: with the store alone and through a server, beside `true`.
//!
//! `cargo run --release -p sprag-bench --bin hook_speed BINARY [RUNS]`
//!
//! Starting any process costs something, and how much differs from machine to machine and from minute to
//! minute. So `true` runs in the same rounds, and what counts is the difference. On a machine that has other work
//! the CPU time says more than the clock. Each run is a call of a tool that was not made before, in one of seven
//! sessions.

#![expect(clippy::print_stdout, reason = "it reports to the terminal")]
#![expect(clippy::disallowed_methods, reason = "it reads the clock")]

use std::io::{BufRead as _, BufReader, Error, Result, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// So many runs of one kind before the next: what disturbs one disturbs the others.
const ROUND: usize = 10;

/// The three that are measured.
const KINDS: [&str; 3] = ["true", "store", "server"];

fn payload(n: usize) -> String {
    format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"s{}","transcript_path":"t","prompt_id":"p","tool_name":"Bash","tool_input":{{"command":"echo {n}","description":"say a number"}},"tool_use_id":"toolu_{n:020}"}}"#,
        n % 7
    )
}

/// A folder that is removed with everything in it.
struct HookHome(PathBuf);

impl HookHome {
    fn new(name: &str) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("sprag-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// `program` with nothing around it but this folder.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", &self.0)
            .env("SPRAG_DB", self.0.join("sprag.db"));
        command
    }
}

impl Drop for HookHome {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server that ends with this program.
struct MeasuredServer(Child);

impl MeasuredServer {
    fn start(binary: &Path, home: &HookHome) -> Result<Self> {
        let mut child = home
            .command(binary)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let out = child.stdout.take();
        let server = Self(child);
        let out = out.ok_or_else(|| Error::other("the server has no output"))?;
        let mut lines = BufReader::new(out);
        lines.read_line(&mut String::new())?;
        // It must find somebody who reads what else it says.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Ok(server)
    }
}

impl Drop for MeasuredServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(mut command: Command, input: &str) -> Result<Duration> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn()?;
    if let Some(mut to) = child.stdin.take() {
        // `true` ends without reading it.
        let _ = to.write_all(input.as_bytes());
    }
    let ended = child.wait_with_output()?;
    let taken = start.elapsed();
    match ended.status.success() {
        true => Ok(taken),
        false => Err(Error::other(format!("a run ended with {}", ended.status))),
    }
}

/// CPU time of all processes that were waited for so far, in milliseconds; none if the system does not report it.
fn spent_by_children() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(13);
    let mut ticks = || fields.next()?.parse::<u32>().ok().map(f64::from);
    Some((ticks()? + ticks()?) * 10.0)
}

/// Milliseconds at a share of sorted times.
fn at(times: &[Duration], percent: usize) -> f64 {
    let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times
        .get(index)
        .map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let binary = arguments.next().map(PathBuf::from);
    let binary = binary.ok_or_else(|| Error::other("name a binary: target/release/sprag"))?;
    let binary = binary.canonicalize()?;
    let runs = arguments
        .next()
        .and_then(|text| text.to_str()?.parse().ok());
    let runs: usize = runs.unwrap_or(1000);
    let homes = [
        HookHome::new("true")?,
        HookHome::new("store")?,
        HookHome::new("server")?,
    ];
    let [_, _, served] = &homes;
    let _server = MeasuredServer::start(&binary, served)?;
    let nothing = PathBuf::from("/bin/true");
    let mut times = [const { Vec::new() }; 3];
    let mut cpu = [0.0; 3];
    for round in 0..runs.div_ceil(ROUND) {
        let measured = homes.iter().zip(&mut times).zip(&mut cpu);
        for (kind, ((home, times), cpu)) in measured.enumerate() {
            let before = spent_by_children();
            for n in round * ROUND..(round + 1) * ROUND {
                let mut command = home.command(if kind == 0 { &nothing } else { &binary });
                if kind > 0 {
                    command.args(["hook", "--client", "claude"]);
                }
                times.push(run(command, &payload(n))?);
            }
            let after = spent_by_children();
            *cpu += after.zip(before).map_or(f64::NAN, |(a, b)| a - b);
        }
    }
    report(times, cpu);
    Ok(())
}

fn report(times: [Vec<Duration>; 3], cpu: [f64; 3]) {
    let mut bare = 0.0;
    for ((name, mut times), cpu) in KINDS.iter().zip(times).zip(cpu) {
        times.sort_unstable();
        let count = times.len();
        let cpu = cpu / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let (p50, p99) = (at(&times, 50), at(&times, 99));
        println!("{name:8} p50 {p50:.2} ms  p99 {p99:.2} ms  CPU {cpu:.2} ms  ({count} runs)");
        println!("figure hook.{name}.p50_ms {p50:.3}\nfigure hook.{name}.p99_ms {p99:.3}");
        println!("figure hook.{name}.cpu_ms {cpu:.3}");
        match *name {
            "true" => bare = p50,
            _ => println!("figure hook.{name}.added_ms {:.3}", p50 - bare),
        }
    }
}
