//! Accepting connections: on loopback or beyond, over TLS, and on a Unix socket.
//!
//! The accept loop is our own because the bounds are: how many connections, how long a head may take, and
//! that a client who is slow or silent costs nobody else anything.

mod socket;
mod tls;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use sprag_mcp::http::WriteTimeout;
use sprag_mcp::http::connection::{self, over};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::caller::Peer;
use crate::config::ServerConfig;
use crate::edge::Edge;
use crate::limits;

pub(crate) use socket::SocketFile;
pub(crate) use tls::tls_acceptor;

/// How long to wait when the system has no descriptor left.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);

/// Everything a connection needs; cheap to clone.
#[derive(Clone)]
pub(crate) struct Acceptor {
    edge: Edge,
    http: http1::Builder,
    room: Arc<Semaphore>,
    connections: usize,
    ending: watch::Receiver<bool>,
    trusts_loopback: bool,
    write_time: Duration,
}

impl Acceptor {
    pub(crate) fn new(edge: Edge, config: &ServerConfig, ending: watch::Receiver<bool>) -> Self {
        let connections = connections(config.connections);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(limits::HEAD_TIME)
            .max_buf_size(limits::HEAD_BYTES)
            .half_close(true);
        Self {
            edge,
            http,
            room: Arc::new(Semaphore::new(connections)),
            connections,
            ending,
            trusts_loopback: config.trusts_loopback(),
            write_time: config.write_time,
        }
    }

    /// Lets those who are being answered finish, for a while.
    pub(crate) async fn drain(self, time: Duration) {
        let all = u32::try_from(self.connections).unwrap_or(u32::MAX);
        // Who is not done by then is cut off; what was answered is safe either way.
        let _ = tokio::time::timeout(time, self.room.acquire_many(all)).await;
    }

    /// Accepts over TCP until the server ends.
    pub(crate) async fn tcp(self, listener: TcpListener, tls: Option<TlsAcceptor>) {
        let mut ending = self.ending.clone();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = over(&mut ending) => return,
            };
            let (stream, from) = match accepted {
                Ok(accepted) => accepted,
                Err(_) => {
                    tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
                    continue;
                }
            };
            let Some(turn) = self.turn() else {
                continue;
            };
            let peer = self.peer(from.ip());
            // Answers are small and waited for.
            let _ = stream.set_nodelay(true);
            match &tls {
                None => self.spawn(stream, peer, turn),
                Some(tls) => {
                    let (acceptor, handshake) = (self.clone(), tls.accept(stream));
                    let mut ending = self.ending.clone();
                    tokio::spawn(async move {
                        let done = tokio::select! {
                            done = tokio::time::timeout(limits::HANDSHAKE_TIME, handshake) => done,
                            () = over(&mut ending) => return,
                        };
                        if let Ok(Ok(stream)) = done {
                            acceptor.spawn(stream, peer, turn);
                        }
                    });
                }
            }
        }
    }

    /// Accepts over the Unix socket until the server ends.
    pub(crate) async fn unix(self, listener: UnixListener) {
        let mut ending = self.ending.clone();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = over(&mut ending) => return,
            };
            match accepted {
                Ok((stream, _)) => {
                    if let Some(turn) = self.turn() {
                        self.spawn(stream, Peer::Socket, turn);
                    }
                }
                Err(_) => tokio::time::sleep(OUT_OF_DESCRIPTORS).await,
            }
        }
    }

    /// Room for one more; none when full: then the connection is closed at once, rather than left to
    /// wait behind others.
    fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).try_acquire_owned().ok()
    }

    fn peer(&self, from: IpAddr) -> Peer {
        if self.trusts_loopback && from.to_canonical().is_loopback() {
            Peer::Loopback
        } else {
            Peer::Remote
        }
    }

    fn spawn<S>(&self, stream: S, peer: Peer, turn: OwnedSemaphorePermit)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let edge = self.edge.clone();
        let service = service_fn(move |request| edge.clone().answer(peer, request));
        let stream = WriteTimeout::new(stream, self.write_time);
        let connection = self.http.serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection::serve(connection, self.ending.clone(), turn));
    }
}

/// Listens on `address`.
pub(crate) fn bind(address: SocketAddr) -> std::io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// How many connections the system allows, at most `wanted`.
fn connections(wanted: usize) -> usize {
    let limit = connection::descriptors();
    wanted
        .min(limit.saturating_sub(limits::SPARE_DESCRIPTORS))
        .max(1)
}
