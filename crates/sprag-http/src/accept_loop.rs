//! Accepting connections, and what is done with each of them, whoever answers on it.
//!
//! The accept loop is our own because the bounds are: how many connections, how long a head may take, and that a client
//! who is slow or silent costs nobody else anything.

use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::limits;
use crate::repoll::RepollOnWake;
use crate::write_timeout::WriteTimeout;

/// How every server of ours speaks HTTP.
#[must_use]
pub fn http1() -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD_TIME)
        .max_buf_size(limits::HEAD_BYTES);
    http
}

/// Room for so many connections, and what each of them needs.
#[derive(Debug, Clone)]
pub struct AcceptLoop {
    http: http1::Builder,
    room: Arc<Semaphore>,
    connections: usize,
    write_time: Duration,
    ending: watch::Receiver<bool>,
}

impl AcceptLoop {
    /// Room for `connections` until `ending`, on which no answer stands still for longer than `write_time`.
    #[must_use]
    pub fn new(
        http: http1::Builder,
        connections: usize,
        write_time: Duration,
        ending: watch::Receiver<bool>,
    ) -> Self {
        Self {
            http,
            room: Arc::new(Semaphore::new(connections)),
            connections,
            write_time,
            ending,
        }
    }

    /// Hands each connection that `poll_accept` has to `take`, with its turn, until all is over.
    pub async fn accept<S>(
        &self,
        mut poll_accept: impl FnMut(&mut Context<'_>) -> Poll<io::Result<S>>,
        mut take: impl FnMut(S, OwnedSemaphorePermit),
    ) {
        let mut ending = self.ending.clone();
        loop {
            let accepted = tokio::select! {
                accepted = poll_fn(&mut poll_accept) => accepted,
                () = over(&mut ending) => return,
            };
            match accepted {
                // Full: closed at once, rather than left to wait behind others.
                Ok(accepted) => {
                    if let Ok(turn) = Arc::clone(&self.room).try_acquire_owned() {
                        take(accepted, turn);
                    }
                }
                Err(_) => tokio::time::sleep(limits::OUT_OF_DESCRIPTORS).await,
            }
        }
    }

    /// Answers on a connection in a task of its own.
    pub fn spawn<S, H, B>(&self, stream: S, service: H, turn: OwnedSemaphorePermit)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        H: Service<Request<Incoming>, Response = Response<B>, Future: Send> + Send + 'static,
        H::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        let stream = WriteTimeout::new(stream, self.write_time);
        let connection = self.http.serve_connection(TokioIo::new(stream), service);
        tokio::spawn(serve(connection, self.ending.clone(), turn));
    }

    /// Waits until all is over.
    pub async fn over(&self) {
        over(&mut self.ending.clone()).await;
    }

    /// Lets those who are being answered finish, for a while.
    pub async fn drain(self, time: Duration) {
        let all = u32::try_from(self.connections).unwrap_or(u32::MAX);
        // Who is not done by then is cut off.
        let _ = tokio::time::timeout(time, self.room.acquire_many(all)).await;
    }
}

/// Answers on a connection until its client is gone, or until all is over and what is being answered is said. `turn` is
/// given back then.
async fn serve<I, S, B>(
    connection: http1::Connection<I, S>,
    mut ending: watch::Receiver<bool>,
    turn: OwnedSemaphorePermit,
) where
    I: Read + Write + Unpin + 'static,
    S: Service<Request<Incoming>, Response = Response<B>>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut connection = pin!(connection);
    let done = tokio::select! {
        done = RepollOnWake::new(connection.as_mut()) => done,
        () = over(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    // A client that breaks off or sends garbage is its own business.
    drop((done, turn));
}

/// Waits until all is over.
async fn over(ending: &mut watch::Receiver<bool>) {
    // One that can't be told any more is over too.
    let _ = ending.wait_for(|ends| *ends).await;
}

/// Ticks until all is over. Where some timer is always due soon, setting a later one, as every request does, is a
/// note in a list; where none is, it wakes whoever waits for the network.
pub async fn tick(mut ending: watch::Receiver<bool>) {
    const TICK: Duration = Duration::from_millis(500);
    while tokio::time::timeout(TICK, over(&mut ending)).await.is_err() {}
}

/// How many descriptors the system allows, after asking for as many as there are.
#[must_use]
pub fn descriptors() -> usize {
    let held = getrlimit(Resource::Nofile);
    // A soft limit of 1,024 is for programs that still use select().
    let raised = Rlimit {
        current: held.maximum,
        maximum: held.maximum,
    };
    let limit = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => held.maximum,
        Err(_) => held.current,
    };
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}
