//! Carries an answer from the upstream to the client, whatever is done with it on its way.

use hyper::body::Bytes;
use tokio::sync::mpsc;
use tokio::task::block_in_place;
use tokio::time::{Instant, MissedTickBehavior};

use crate::body::Cut;
use crate::limits::LOOK_TIME;

/// What is done with an answer on its way.
pub(crate) trait Passage: Send {
    /// Takes a piece and returns what goes on now.
    fn push(&mut self, piece: &[u8]) -> Vec<u8>;
    /// Some time has passed; returns what has to be said about that.
    fn look(&mut self) -> Vec<u8>;
    /// Whether nothing more is wanted of the upstream.
    fn is_over(&self) -> bool;
    /// The upstream's answer is over; returns what was held of it.
    fn finish(&mut self) -> Vec<u8>;
}

/// What comes after the bytes that are there already.
pub(crate) enum Rest {
    /// The rest of an answer.
    Answer(reqwest::Response),
    /// Nothing: the upstream broke off.
    Broken,
}

/// What fills the body of an answer.
pub(crate) type Pieces = mpsc::Sender<Result<Bytes, Cut>>;

/// Passes `first` and the rest on as they come.
pub(crate) async fn untouched(first: Vec<u8>, rest: Rest, sender: Pieces) {
    if !first.is_empty() && sender.send(Ok(first.into())).await.is_err() {
        return;
    }
    match rest {
        Rest::Broken => cut(&sender).await,
        Rest::Answer(mut answer) => {
            while let Some(piece) = next(&mut answer, &sender).await {
                if sender.send(Ok(piece)).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Passes an answer on through `passage`. Dropping the answer closes the upstream's connection, so that
/// no more tokens are paid.
pub(crate) async fn through(
    mut answer: reqwest::Response,
    sender: Pieces,
    mut passage: impl Passage,
) {
    let mut looks = tokio::time::interval_at(Instant::now() + LOOK_TIME, LOOK_TIME);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let out = tokio::select! {
            piece = next(&mut answer, &sender) => match piece {
                Some(piece) => block_in_place(|| passage.push(&piece)),
                None => break,
            },
            _ = looks.tick() => block_in_place(|| passage.look()),
        };
        if !out.is_empty() && sender.send(Ok(out.into())).await.is_err() {
            return;
        }
        if passage.is_over() {
            return;
        }
    }
    let held = block_in_place(|| passage.finish());
    if !held.is_empty() && !sender.is_closed() {
        let _ = sender.send(Ok(held.into())).await;
    }
}

/// The next piece; none at the end, when the client is gone, and when the upstream broke off, of which
/// the client then learns.
async fn next(answer: &mut reqwest::Response, sender: &Pieces) -> Option<Bytes> {
    let piece = tokio::select! {
        piece = answer.chunk() => piece,
        () = sender.closed() => return None,
    };
    match piece {
        Ok(piece) => piece,
        Err(_) => {
            cut(sender).await;
            None
        }
    }
}

async fn cut(sender: &Pieces) {
    let _ = sender.send(Err(Cut)).await;
}
