//! The doors of a server, from their opening to their end.
//!
//! TCP closes first, and those who are being answered there finish. Hooks and commands are answered on the socket
//! meanwhile; it goes last, right before the store is given back.

use std::future::poll_fn;
use std::os::unix::net::UnixListener;
use std::pin::pin;
use std::task::Poll;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::acceptor::{Acceptor, SocketFile};
use crate::error::ServerError;
use crate::limits;

/// What a server listens on.
pub(crate) struct Doors {
    pub(crate) acceptor: Acceptor,
    pub(crate) listener: std::net::TcpListener,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) of_socket: Acceptor,
    pub(crate) socket: Option<(SocketFile, UnixListener)>,
    /// Ends everything but the socket.
    pub(crate) end: watch::Sender<bool>,
    pub(crate) end_socket: watch::Sender<bool>,
}

impl Doors {
    /// Answers until `until` is over, then lets everyone finish.
    pub(crate) async fn open_until(
        self,
        until: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        // A signal to end is heard from the first answer on: its handlers are set when this is first polled, so
        // before anybody is let in. Otherwise a server that ends early would lose what it has not written yet.
        let mut until = pin!(until);
        let is_over = poll_fn(|context| Poll::Ready(until.as_mut().poll(context).is_ready())).await;
        tokio::spawn(sprag_http::tick(self.end.subscribe()));
        let listener = TcpListener::from_std(self.listener).map_err(ServerError::Start)?;
        let tcp = tokio::spawn(self.acceptor.clone().tcp(listener, self.tls));
        let (mut unix, mut file) = (None, None);
        if let Some((socket, listener)) = self.socket {
            let listener = tokio::net::UnixListener::from_std(listener);
            let listener = listener.map_err(ServerError::Start)?;
            unix = Some(tokio::spawn(self.of_socket.clone().unix(listener)));
            file = Some(socket);
        }
        if !is_over {
            until.await;
        }
        // Everyone listens for this as long as the server runs.
        let _ = self.end.send(true);
        let _ = tcp.await;
        self.acceptor.drain(limits::DRAIN_TIME).await;
        // From here on hooks and commands use the store themselves, as soon as it is free.
        let _ = self.end_socket.send(true);
        if let Some(unix) = unix {
            let _ = unix.await;
        }
        drop(file);
        self.of_socket.drain(limits::SOCKET_DRAIN_TIME).await;
        Ok(())
    }
}
