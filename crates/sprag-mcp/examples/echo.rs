//! The fastest MCP server there can be, to measure what stands before it: a call is answered with its own
//! arguments, and `{"bytes":N}` with N bytes of text.

use std::io::{BufRead, BufReader, Result, Write, stdin, stdout};
use std::os::fd::AsFd as _;

fn main() -> Result<()> {
    let mut from = BufReader::with_capacity(
        1 << 16,
        std::fs::File::from(stdin().as_fd().try_clone_to_owned()?),
    );
    let mut to = std::fs::File::from(stdout().as_fd().try_clone_to_owned()?);
    let mut line = Vec::new();
    let mut answer = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        let id = part(&line, b"\"id\":", b",}").unwrap_or(b"null");
        let args = part(&line, b"\"arguments\":", b"}").unwrap_or(b"{");
        match part(args, b"\"bytes\":", b",}") {
            Some(bytes) => big(
                &mut to,
                id,
                std::str::from_utf8(bytes)
                    .unwrap_or_default()
                    .parse()
                    .unwrap_or(0),
            )?,
            None => {
                answer.clear();
                answer.extend_from_slice(b"{\"result\":{\"content\":[],\"structuredContent\":");
                answer.extend_from_slice(args);
                answer.extend_from_slice(b"}},\"jsonrpc\":\"2.0\",\"id\":");
                answer.extend_from_slice(id);
                answer.extend_from_slice(b"}\n");
                to.write_all(&answer)?;
            }
        }
        line.clear();
    }
    Ok(())
}

/// What stands between `start` and the first of `ends`.
fn part<'l>(line: &'l [u8], start: &[u8], ends: &[u8]) -> Option<&'l [u8]> {
    let at = line
        .windows(start.len())
        .position(|window| window == start)?;
    let rest = line.get(at + start.len()..)?;
    let end = rest
        .iter()
        .position(|byte| ends.contains(byte))
        .unwrap_or(rest.len());
    rest.get(..end)
}

fn big(to: &mut impl Write, id: &[u8], bytes: usize) -> Result<()> {
    to.write_all(b"{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"")?;
    let chunk = vec![b'x'; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(chunk.len());
        to.write_all(chunk.get(..now).unwrap_or_default())?;
        left -= now;
    }
    to.write_all(b"\"}]},\"jsonrpc\":\"2.0\",\"id\":")?;
    to.write_all(id)?;
    to.write_all(b"}\n")
}
