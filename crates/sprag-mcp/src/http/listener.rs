//! A port of its own for the proxy.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt::set_socket_keepalive;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::connection;
use super::limits;
use super::proxy::Proxy;
use super::response_body::ResponseBody;
use super::write_timeout::WriteTimeout;

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

impl Handler for Proxy {
    type Body = ResponseBody;

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<ResponseBody> {
        Self::answer(&self, request).await
    }
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
        let room = Arc::new(Semaphore::new(self.connections));
        let (end, ending) = watch::channel(false);
        tokio::spawn(connection::tick(ending.clone()));
        let mut until = pin!(until);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(limits::HEAD_TIME)
            .max_buf_size(limits::HEAD_BYTES)
            .max_headers(limits::HEADERS);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = until.as_mut() => break,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(limits::OUT_OF_DESCRIPTORS).await;
                continue;
            };
            // Full: closed at once, rather than left to wait behind others.
            if let Ok(turn) = Arc::clone(&room).try_acquire_owned() {
                spawn(&http, stream, Arc::clone(&handler), turn, ending.clone());
            }
        }
        drop(listener);
        // Every connection listens for this.
        let _ = end.send(true);
        let all = u32::try_from(self.connections).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(limits::DRAIN_TIME, room.acquire_many(all)).await;
        Ok(())
    }
}

fn spawn(
    http: &http1::Builder,
    stream: TcpStream,
    handler: Arc<impl Handler>,
    turn: OwnedSemaphorePermit,
    ending: watch::Receiver<bool>,
) {
    // Answers are small and waited for; who is gone without a word is found by asking.
    let _ = stream.set_nodelay(true);
    let _ = set_socket_keepalive(&stream, true);
    let service = service_fn(move |request| {
        let handler = Arc::clone(&handler);
        async move { Ok::<_, std::convert::Infallible>(handler.answer(request).await) }
    });
    let stream = WriteTimeout::new(stream, limits::WRITE_TIME);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    tokio::spawn(connection::serve(connection, ending, turn));
}

/// How many connections the system allows, at most `wanted`. Each may need another one to a server.
fn allowed(wanted: usize) -> usize {
    let limit = connection::descriptors();
    let pairs = limit.saturating_sub(limits::SPARE_DESCRIPTORS) / 2;
    wanted.min(pairs).max(1)
}
