//! Plays the server's part of a recorded conversation: says its lines, and ends with an error where the
//! client says anything but what was recorded.
//!
//! `play FILE`: one JSON line `["client" | "server", "LINE"]` for each line that was said.

use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("which recording?")?;
    let recording = std::fs::read_to_string(file)?;
    let mut heard = stdin().lock();
    for said in recording.lines() {
        let (who, line): (String, String) = serde_json::from_str(said)?;
        if who == "server" {
            let mut out = stdout().lock();
            out.write_all(format!("{line}\n").as_bytes())?;
            out.flush()?;
            continue;
        }
        let mut bytes = Vec::new();
        heard.read_until(b'\n', &mut bytes)?;
        if bytes != format!("{line}\n").into_bytes() {
            let found = String::from_utf8_lossy(&bytes);
            std::io::stderr().write_all(format!("expected {line}\nfound {found}\n").as_bytes())?;
            return Ok(ExitCode::from(9));
        }
    }
    Ok(ExitCode::SUCCESS)
}
