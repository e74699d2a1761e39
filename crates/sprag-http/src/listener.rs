//! A port of its own for whoever answers requests.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::{Body, Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use rustix::net::sockopt::set_socket_keepalive;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::accept_loop::{AcceptLoop, descriptors, http1, tick};
use crate::limits;

/// Whoever answers the requests of a port.
pub trait Handler: Send + Sync + 'static {
    /// The body of its answers.
    type Body: Body<Data = Bytes, Error: std::error::Error + Send + Sync> + Send + 'static;

    /// Answers one request.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// Where to listen.
#[derive(Debug, Clone)]
pub struct ListenerOptions {
    /// The address; port 0 takes a free one.
    pub address: SocketAddr,
    /// Something in front does TLS, so that the address may be reached from elsewhere.
    pub behind_tls_proxy: bool,
    /// The most connections, where the system allows as many.
    pub connections: usize,
}

/// Why a port can't be listened on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenerError {
    /// Strangers could read along.
    #[error(
        "{0} can be reached from elsewhere, and nothing keeps strangers from reading tokens along"
    )]
    Naked(SocketAddr),
    /// The system does not give it.
    #[error("can't listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
}

/// A port on which nobody is answered yet.
#[derive(Debug)]
pub struct Listener {
    listener: std::net::TcpListener,
    address: SocketAddr,
    connections: usize,
}

impl Listener {
    /// Takes the address.
    ///
    /// # Errors
    /// Returns an error if it can't be had, or would be dangerous.
    pub fn bind(options: &ListenerOptions) -> Result<Self, ListenerError> {
        let address = options.address;
        if !address.ip().is_loopback() && !options.behind_tls_proxy {
            return Err(ListenerError::Naked(address));
        }
        let failed = |source| ListenerError::Listen { address, source };
        let listener = std::net::TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            address: listener.local_addr().map_err(failed)?,
            listener,
            connections: allowed(options.connections),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `until` is over, then lets those finish who are being answered, for a while.
    ///
    /// # Errors
    /// Returns an error if the system does not let it start.
    pub async fn run(
        self,
        handler: Arc<impl Handler>,
        until: impl Future<Output = ()>,
    ) -> std::io::Result<()> {
        let listener = TcpListener::from_std(self.listener)?;
        let (end, ending) = watch::channel(false);
        tokio::spawn(tick(ending.clone()));
        let mut http = http1();
        http.max_headers(limits::HEADERS);
        let connections = AcceptLoop::new(http, self.connections, limits::WRITE_TIME, ending);
        let accepting = connections.accept(
            |context| listener.poll_accept(context),
            |(stream, _), turn| answer(&connections, stream, Arc::clone(&handler), turn),
        );
        tokio::select! {
            () = accepting => {}
            () = until => {}
        }
        drop(listener);
        // Every connection listens for this.
        let _ = end.send(true);
        connections.drain(limits::DRAIN_TIME).await;
        Ok(())
    }
}

fn answer(
    connections: &AcceptLoop,
    stream: TcpStream,
    handler: Arc<impl Handler>,
    turn: OwnedSemaphorePermit,
) {
    // Answers are small and waited for; who is gone without a word is found by asking.
    let _ = stream.set_nodelay(true);
    let _ = set_socket_keepalive(&stream, true);
    let service = service_fn(move |request| {
        let handler = Arc::clone(&handler);
        async move { Ok::<_, std::convert::Infallible>(handler.answer(request).await) }
    });
    connections.spawn(stream, service, turn);
}

/// How many connections the system allows, at most `wanted`. Each may need another one to a server.
fn allowed(wanted: usize) -> usize {
    let pairs = descriptors().saturating_sub(limits::SPARE_DESCRIPTORS) / 2;
    wanted.min(pairs).max(1)
}
