//! What the wrapper costs: round trips to a fast server straight and wrapped, in the same run, and memory.
//!
//! `cargo build --release -p sprag-mcp -p sprag-bench --examples --bins && target/release/mcp_stdio [ROUND TRIPS]`

use std::io::{BufRead as _, BufReader, Read as _, Result, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

struct StdioServer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
}

impl StdioServer {
    fn start(command: &[&Path]) -> Result<Self> {
        let mut parts = command.iter();
        let mut child = Command::new(parts.next().copied().unwrap_or(Path::new("")))
            .args(parts)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let gone = || std::io::Error::other("no pipes");
        let to = child.stdin.take().ok_or_else(gone)?;
        let from = BufReader::with_capacity(1 << 16, child.stdout.take().ok_or_else(gone)?);
        Ok(Self {
            child,
            to,
            from,
            calls: 0,
        })
    }

    #[expect(clippy::disallowed_methods, reason = "this measures time")]
    fn round_trip(&mut self) -> Result<Duration> {
        self.calls += 1;
        let n = self.calls;
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"tools/call\",\"params\":{{\"name\":\"read\",\"arguments\":{{\"n\":{n}}}}}}}\n"
        );
        let mut line = String::new();
        let start = std::time::Instant::now();
        self.to.write_all(call.as_bytes())?;
        self.from.read_line(&mut line)?;
        let taken = start.elapsed();
        if !line.contains(&format!("\"id\":{n}}}")) {
            return Err(std::io::Error::other(format!(
                "not the answer to {n}: {line}"
            )));
        }
        Ok(taken)
    }

    #[expect(clippy::disallowed_methods, reason = "this measures time")]
    fn big(&mut self, bytes: usize) -> Result<Duration> {
        let start = std::time::Instant::now();
        let call = format!(
            "{{\"id\":0,\"method\":\"tools/call\",\"params\":{{\"name\":\"big\",\"arguments\":{{\"bytes\":{bytes}}}}}}}\n"
        );
        self.to.write_all(call.as_bytes())?;
        let mut room = vec![0; 1 << 16];
        loop {
            let read = self.from.read(&mut room)?;
            if read == 0 || room.get(read - 1) == Some(&b'\n') {
                return Ok(start.elapsed());
            }
        }
    }

    fn peak_kb(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }

    fn end(self) -> Result<()> {
        let Self { mut child, to, .. } = self;
        drop(to);
        child.wait().map(drop)
    }
}

fn main() -> Result<()> {
    let count: usize = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(20_000);
    let here = std::env::current_exe()?;
    let folder = here.parent().unwrap_or(Path::new("."));
    let (echo, wrap) = (folder.join("examples/echo"), folder.join("examples/wrap"));
    let mut straight = StdioServer::start(&[&echo])?;
    let mut wrapped = StdioServer::start(&[&wrap, Path::new("--"), &echo])?;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for n in 0..count + 1000 {
        let (one, other) = (straight.round_trip()?, wrapped.round_trip()?);
        if n >= 1000 {
            a.push(one);
            b.push(other);
        }
    }
    let mut out = std::io::stdout();
    a.sort();
    b.sort();
    for (name, times) in [("straight", &a), ("wrapped", &b)] {
        let at = |share: usize| {
            times
                .get(times.len() * share / 100)
                .copied()
                .unwrap_or_default()
        };
        writeln!(
            out,
            "{name:9} p50 {:?}, p90 {:?}, p99 {:?} of {count}",
            at(50),
            at(90),
            at(99)
        )?;
    }
    let p50 = |times: &[Duration]| times.get(times.len() / 2).copied().unwrap_or_default();
    let added = p50(&b).saturating_sub(p50(&a));
    writeln!(
        out,
        "added     p50 {added:?}\nfigure mcp.added_us {:.1}",
        added.as_secs_f64() * 1e6
    )?;
    let before = wrapped.peak_kb();
    let (one, other) = (straight.big(100_000_000)?, wrapped.big(100_000_000)?);
    writeln!(
        out,
        "100 MB result: straight {one:?}, wrapped {other:?}; peak memory of the wrapper {before:?} kB before, {:?} kB after",
        wrapped.peak_kb()
    )?;
    straight.end()?;
    wrapped.end()
}
