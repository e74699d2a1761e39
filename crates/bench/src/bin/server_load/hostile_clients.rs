//! What honest clients notice of ten thousand idle connections, slow clients and garbage.

use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::LoadError;
use crate::client;
use crate::server_process::{ServerKind, ServerProcess};

const IDLE: usize = 10_000;
const SLOW: usize = 200;
const SPAN: Duration = Duration::from_secs(10);

pub(crate) fn run() -> Result<(), LoadError> {
    let mut out = std::io::stdout();
    let server = ServerProcess::start(ServerKind::Sprag)?;
    let alone = client::ask(&server, SPAN, 16)?;
    writeln!(out, "alone:           {alone}")?;
    let (_, before) = server.spent()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let address = server.address;
    let idle = runtime.block_on(async {
        let mut idle = Vec::new();
        for _ in 0..IDLE {
            idle.push(TcpStream::connect(address).await?);
        }
        Ok::<_, LoadError>(idle)
    })?;
    let (_, after) = server.spent()?;
    writeln!(
        out,
        "{IDLE} idle connections take {:.1} MiB",
        after - before
    )?;
    for _ in 0..SLOW {
        runtime.spawn(slow(address));
    }
    runtime.spawn(garbage(address));
    let attacked = client::ask(&server, SPAN, 16)?;
    writeln!(out, "under attack:    {attacked}")?;
    drop(idle);
    Ok(())
}

/// A head that never ends, byte by byte, again and again.
async fn slow(address: SocketAddr) {
    loop {
        let Ok(mut stream) = TcpStream::connect(address).await else {
            continue;
        };
        for byte in b"POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-length: 90\r\n"
            .iter()
            .cycle()
        {
            if stream.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A megabyte of noise a second.
async fn garbage(address: SocketAddr) {
    let noise: Vec<u8> = (0..=255_u8)
        .cycle()
        .map(|byte| byte.wrapping_mul(97))
        .take(100_000)
        .collect();
    let mut answer = [0; 1024];
    loop {
        if let Ok(mut stream) = TcpStream::connect(address).await {
            let _ = stream.write_all(&noise).await;
            let _ = stream.read(&mut answer).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
