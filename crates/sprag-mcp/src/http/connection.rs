//! What every listener of ours does with a connection, whoever answers on it.

use std::error::Error;
use std::pin::pin;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::repoll::RepollOnWake;

/// Answers on a connection until its client is gone, or until all is over and what is being answered is said. `turn` is
/// given back then.
pub async fn serve<I, S, B>(
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
pub async fn over(ending: &mut watch::Receiver<bool>) {
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
