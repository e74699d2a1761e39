//! A client that asks as fast as it is answered, on many connections at once.

use std::fmt;
use std::io::Write as _;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::LoadError;
use crate::server_process::ServerProcess;

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct LoadResult {
    requests: u64,
    seconds: f64,
    cpu: f64,
    slowest: Duration,
}

impl LoadResult {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.seconds += other.seconds;
        self.cpu += other.cpu;
        self.slowest = self.slowest.max(other.slowest);
    }

    pub(crate) fn rate(&self) -> f64 {
        count(self.requests) / self.seconds
    }

    /// Microseconds of CPU time.
    pub(crate) fn cpu_each(&self) -> f64 {
        1e6 * self.cpu / count(self.requests)
    }
}

impl fmt::Display for LoadResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, cpu, slowest) = (self.rate(), self.cpu_each(), self.slowest);
        write!(
            f,
            "{rate:8.0} requests/s, {cpu:6.1} µs of CPU each, slowest {slowest:?}"
        )
    }
}

fn count(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

#[expect(clippy::disallowed_methods, reason = "it measures")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Asks for `span` on so many connections.
pub(crate) fn ask(
    server: &ServerProcess,
    span: Duration,
    connections: u64,
) -> Result<LoadResult, LoadError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let (cpu, _) = server.spent()?;
    let start = now();
    let address = server.address;
    let (requests, slowest) = runtime.block_on(async {
        let tasks: Vec<_> = (0..connections)
            .map(|number| tokio::spawn(one(address, number, start + span, None)))
            .collect();
        let mut sum = (0, Duration::ZERO);
        for task in tasks {
            let (requests, slowest) = task
                .await
                .map_err(|error| LoadError::Other(error.to_string()))??;
            sum = (sum.0 + requests, sum.1.max(slowest));
        }
        Ok::<_, LoadError>(sum)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(LoadResult {
        requests,
        seconds,
        cpu: server.spent()?.0 - cpu,
        slowest,
    })
}

/// One connection: a session changes after two hundred calls, each call is a new one.
pub(crate) async fn one(
    address: SocketAddr,
    number: u64,
    until: Instant,
    every: Option<Duration>,
) -> Result<(u64, Duration), LoadError> {
    let mut turns = every.map(tokio::time::interval);
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 16 * 1024];
    let (mut sent, mut slowest) = (0, Duration::ZERO);
    while now() < until {
        let session = sent / 200;
        let body = format!(
            "{{\"type\":\"call\",\"session\":\"load-{number}-{session}\",\"agent\":\"loader\",\"id\":\"t{sent}\",\
             \"server\":\"files\",\"tool\":\"read_file\",\"args\":{{\"path\":\"src/part_{sent}.rs\",\"offset\":{sent},\"limit\":200}}}}"
        );
        let head = format!(
            "POST /v1/check HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let start = now();
        stream.write_all(head.as_bytes()).await?;
        answer(&mut stream, &mut buffer).await?;
        slowest = slowest.max(start.elapsed());
        sent += 1;
        // A turn that came late is made up for.
        if let Some(turns) = &mut turns {
            turns.tick().await;
        }
    }
    Ok((sent, slowest))
}

/// Reads one answer with a stated length; it must be good.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<(), LoadError> {
    let mut filled = 0;
    loop {
        let space = buffer.get_mut(filled..).unwrap_or_default();
        let read = stream.read(space).await?;
        filled += read;
        let text = String::from_utf8_lossy(buffer.get(..filled).unwrap_or_default());
        if read == 0 {
            return Err(LoadError::Other(format!("closed after {text:?}")));
        }
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        if !head.starts_with("HTTP/1.1 200") {
            return Err(LoadError::Other(text.into_owned()));
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .and_then(|length| length.parse::<usize>().ok());
        if length == Some(body.len()) {
            return Ok(());
        }
    }
}

/// Asks at a steady rate for so many minutes, and tells the memory once a minute. The sessions are the same in every
/// minute: new ones would be remembered, as they should.
pub(crate) fn soak(
    server: &ServerProcess,
    minutes: u64,
    rate: f64,
    connections: u64,
) -> Result<(), LoadError> {
    let every = Duration::from_secs_f64(count(connections) / rate);
    let mut out = std::io::stdout();
    let runtime = tokio::runtime::Runtime::new()?;
    for minute in 1..=minutes {
        let until = now() + Duration::from_secs(60);
        let address = server.address;
        let requests = runtime.block_on(async {
            let ask = |number| one(address, number, until, Some(every));
            let tasks: Vec<_> = (0..connections).map(|n| tokio::spawn(ask(n))).collect();
            let mut requests = 0;
            for task in tasks {
                requests += task
                    .await
                    .map_err(|error| LoadError::Other(error.to_string()))??
                    .0;
            }
            Ok::<_, LoadError>(requests)
        })?;
        let (_, memory) = server.spent()?;
        let rate = requests / 60;
        writeln!(out, "minute {minute}: {rate} requests/s, {memory:.1} MiB")?;
    }
    Ok(())
}
