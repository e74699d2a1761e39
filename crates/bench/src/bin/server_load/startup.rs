//! How soon a server with many sessions in its store answers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use sprag::{Event, Guard, SessionQuery, SessionSort};
use sprag_server::Server;
use tokio::sync::oneshot;

use crate::LoadError;
use crate::client::now;
use crate::server_process::config;

pub(crate) fn run(sessions: u64) -> Result<(), LoadError> {
    let mut out = std::io::stdout();
    let home = tempfile::tempdir()?;
    let config = config(home.path());
    let guard = Guard::builder().owned_file(&config.db).build()?;
    for number in 0..sessions {
        for call in 0..3 {
            let event = Event::call(&format!("session-{number}"), "read_file");
            let event = event.map_err(sprag::GuardError::from)?;
            guard.check(event.args(serde_json::json!({ "path": call })))?;
        }
    }
    guard.sync().map_err(sprag::GuardError::from)?;
    search(&guard, sessions)?;
    drop(guard);
    let mut slowest = Duration::ZERO;
    for _ in 0..3 {
        let start = now();
        let server = Server::bind(config.clone())?;
        let (address, bound) = (server.address(), start.elapsed());
        let (end, ends) = oneshot::channel::<()>();
        let running = std::thread::spawn(move || {
            server.run(async {
                let _ = ends.await;
            })
        });
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET /readyz HTTP/1.1\r\nhost: {address}\r\n\r\n")?;
        let mut answer = [0; 15];
        stream.read_exact(&mut answer)?;
        let ready = start.elapsed();
        let answer = String::from_utf8_lossy(&answer);
        writeln!(
            out,
            "{sessions} sessions: bound after {bound:?}, {answer} after {ready:?}"
        )?;
        slowest = slowest.max(ready);
        let _ = end.send(());
        let ended = running.join();
        ended.map_err(|_| LoadError::Other("the server panicked".to_owned()))??;
    }
    let slowest = slowest.as_secs_f64() * 1e3;
    writeln!(out, "figure start.ready_ms {slowest:.1}")?;
    Ok(())
}

fn search(guard: &Guard, sessions: u64) -> Result<(), LoadError> {
    let mut out = std::io::stdout();
    let start = now();
    for sort in [
        SessionSort::Touched,
        SessionSort::Events,
        SessionSort::Agent,
    ] {
        let query = SessionQuery {
            sort,
            contains: Some("99".to_owned()),
            limit: 50,
            ..SessionQuery::default()
        };
        guard.sessions(&query).map_err(sprag::GuardError::from)?;
    }
    writeln!(
        out,
        "a page of a search among {sessions} sessions: {:?}",
        start.elapsed() / 3
    )?;
    Ok(())
}
