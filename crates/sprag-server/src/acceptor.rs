//! Accepting connections: on loopback or beyond, over TLS, and on a Unix socket.

mod socket;
mod tls;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hyper::service::service_fn;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_rustls::TlsAcceptor;

use crate::caller::Peer;
use crate::config::ServerConfig;
use crate::edge::Edge;
use crate::limits;

pub(crate) use socket::SocketFile;
pub(crate) use tls::tls_acceptor;

/// Everything a connection needs; cheap to clone.
#[derive(Clone)]
pub(crate) struct Acceptor {
    edge: Edge,
    connections: sprag_http::AcceptLoop,
    trusts_loopback: bool,
}

impl Acceptor {
    pub(crate) fn new(edge: Edge, config: &ServerConfig, ending: watch::Receiver<bool>) -> Self {
        let mut http = sprag_http::http1();
        http.half_close(true);
        let most = allowed(config.connections);
        Self {
            edge,
            connections: sprag_http::AcceptLoop::new(http, most, config.write_time, ending),
            trusts_loopback: config.trusts_loopback(),
        }
    }

    /// Lets those who are being answered finish, for a while. What was answered is safe either way.
    pub(crate) async fn drain(self, time: Duration) {
        self.connections.drain(time).await;
    }

    /// Accepts over TCP until the server ends.
    pub(crate) async fn tcp(self, listener: TcpListener, tls: Option<TlsAcceptor>) {
        let take = |(stream, from): (TcpStream, SocketAddr), turn| {
            let peer = self.peer(from.ip());
            // Answers are small and waited for.
            let _ = stream.set_nodelay(true);
            match &tls {
                None => self.spawn(stream, peer, turn),
                Some(tls) => self.clone().shake_hands(tls.clone(), stream, peer, turn),
            }
        };
        let connections = &self.connections;
        connections
            .accept(|context| listener.poll_accept(context), take)
            .await;
    }

    /// Accepts over the Unix socket until the server ends.
    pub(crate) async fn unix(self, listener: UnixListener) {
        let take = |(stream, _), turn| self.spawn(stream, Peer::Socket, turn);
        let connections = &self.connections;
        connections
            .accept(|context| listener.poll_accept(context), take)
            .await;
    }

    fn shake_hands(
        self,
        tls: TlsAcceptor,
        stream: TcpStream,
        peer: Peer,
        turn: OwnedSemaphorePermit,
    ) {
        tokio::spawn(async move {
            let handshake = tokio::time::timeout(limits::HANDSHAKE_TIME, tls.accept(stream));
            let done = tokio::select! {
                done = handshake => done,
                () = self.connections.over() => return,
            };
            if let Ok(Ok(stream)) = done {
                self.spawn(stream, peer, turn);
            }
        });
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
        self.connections.spawn(stream, service, turn);
    }
}

/// Listens on `address`.
pub(crate) fn bind(address: SocketAddr) -> std::io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// How many connections the system allows, at most `wanted`.
fn allowed(wanted: usize) -> usize {
    let room = sprag_http::descriptors().saturating_sub(limits::SPARE_DESCRIPTORS);
    wanted.min(room).max(1)
}
