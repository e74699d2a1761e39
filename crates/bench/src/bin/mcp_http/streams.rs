//! Many streams at once.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use sprag_http::descriptors;

use crate::{Failure, Process, call};

impl Process {
    /// Its memory in MiB, and its descriptors.
    fn holds(&self) -> Result<(u64, usize), Failure> {
        let place = format!("/proc/{}", self.child.id());
        let status = std::fs::read_to_string(format!("{place}/status"))?;
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = memory.and_then(|memory| memory.split_whitespace().next());
        let descriptors = std::fs::read_dir(format!("{place}/fd"))?.count();
        Ok((kib.unwrap_or_default().parse::<u64>()? / 1024, descriptors))
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures time")]
fn now() -> Instant {
    Instant::now()
}

/// Holds so many streams open, each with an event behind it; calls are answered meanwhile, and nothing is left behind.
pub(crate) fn hold(count: u64) -> Result<(), Failure> {
    let _ = descriptors();
    let server = Process::start(&["server"])?;
    let proxy = Process::start(&["ours", &format!("http://{}/mcp", server.address)])?;
    let mut out = std::io::stdout();
    call(proxy.address, 0, 500, false)?;
    let (memory, descriptors) = proxy.holds()?;
    writeln!(out, "before: {memory} MiB, {descriptors} descriptors")?;
    let start = now();
    let mut open = Vec::new();
    for n in 0..count {
        open.push(ask(proxy.address, n)?);
    }
    for stream in &mut open {
        hear(stream)?;
    }
    let (took, (memory, descriptors)) = (start.elapsed(), proxy.holds()?);
    writeln!(
        out,
        "{count} streams open after {took:?}: {memory} MiB, {descriptors} descriptors"
    )?;
    let mut times = call(proxy.address, 1, 1000, false)?;
    times.sort();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    writeln!(out, "a call meanwhile: p50 {middle:?}")?;
    drop(open);
    let start = now();
    while proxy.holds()?.1 >= 64 && start.elapsed() < Duration::from_secs(30) {
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let (took, (memory, descriptors)) = (start.elapsed(), proxy.holds()?);
    writeln!(
        out,
        "{took:?} after they closed: {memory} MiB, {descriptors} descriptors"
    )?;
    Ok(())
}

/// Opens a stream.
fn ask(address: SocketAddr, n: u64) -> Result<TcpStream, Failure> {
    let mut to = TcpStream::connect(address)?;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{n},"method":"tools/call","params":{{"name":"watch","arguments":{{"n":{n}}}}}}}"#
    );
    write!(
        to,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nx-hold: 1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    Ok(to)
}

/// Waits for its first event.
fn hear(stream: &mut TcpStream) -> Result<(), Failure> {
    let (mut heard, mut part) = (Vec::new(), [0; 1024]);
    while !heard.ends_with(b"true}\n\n\r\n") {
        match stream.read(&mut part)? {
            0 => return Err(String::from_utf8_lossy(&heard).into()),
            read => heard.extend_from_slice(part.get(..read).unwrap_or_default()),
        }
    }
    Ok(())
}
