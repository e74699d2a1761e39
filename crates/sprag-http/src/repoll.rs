//! A future that is looked at again at once when it wakes itself.
//!
//! Whoever reads a request's body inside of the answer to it wakes the very connection that is being looked at. To
//! the runtime that is a task with more to do, which another thread had better take over; so each request would
//! wake a second thread and move there. Here the task goes on where it is.

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// How often in a row, before others get their turn.
const ROUNDS: u32 = 8;

const RESTS: u8 = 0;
const IS_POLLED: u8 = 1;
const WAS_WOKEN: u8 = 2;

/// A future that is looked at again at once when it wakes itself.
#[derive(Debug)]
pub(crate) struct RepollOnWake<F> {
    inner: F,
    flag: Arc<WakeFlag>,
    waker: Waker,
}

/// Where the future's wakers lead.
#[derive(Debug)]
struct WakeFlag {
    state: AtomicU8,
    /// Who looks at the future.
    outer: Mutex<Waker>,
}

impl WakeFlag {
    fn lead_to(&self, waker: &Waker) {
        let mut outer = self.outer.lock().unwrap_or_else(PoisonError::into_inner);
        outer.clone_from(waker);
    }

    /// Whether it rang since this was last asked.
    fn rang(&self) -> bool {
        self.change(IS_POLLED, RESTS).is_err()
    }

    fn change(&self, from: u8, to: u8) -> Result<u8, u8> {
        let (set, read) = (Ordering::AcqRel, Ordering::Acquire);
        self.state.compare_exchange(from, to, set, read)
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.change(IS_POLLED, WAS_WOKEN) == Err(RESTS) {
            let outer = self.outer.lock().unwrap_or_else(PoisonError::into_inner);
            outer.wake_by_ref();
        }
    }
}

impl<F: Future + Unpin> RepollOnWake<F> {
    pub(crate) fn new(inner: F) -> Self {
        let flag = Arc::new(WakeFlag {
            state: AtomicU8::new(RESTS),
            outer: Mutex::new(Waker::noop().clone()),
        });
        Self {
            inner,
            waker: Waker::from(Arc::clone(&flag)),
            flag,
        }
    }
}

impl<F: Future + Unpin> Future for RepollOnWake<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.flag.lead_to(context.waker());
        let this = &mut *self;
        for _ in 0..ROUNDS {
            this.flag.state.store(IS_POLLED, Ordering::Release);
            let polled = Pin::new(&mut this.inner).poll(&mut Context::from_waker(&this.waker));
            if polled.is_ready() || !this.flag.rang() {
                return polled;
            }
        }
        this.flag.state.store(RESTS, Ordering::Release);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A future that wakes itself so often before it is done.
    fn restless(mut times: u32) -> impl Future<Output = ()> + Unpin {
        poll_fn(move |context| {
            if times == 0 {
                return Poll::Ready(());
            }
            times -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }

    fn wakes(polls: &mut u32, mut future: impl Future<Output = ()> + Unpin) -> u32 {
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        while Pin::new(&mut future).poll(&mut context).is_pending() {
            *polls += 1;
        }
        count.0.load(Ordering::Relaxed)
    }

    #[test]
    fn what_wakes_itself_goes_on_without_a_word_to_others() {
        let mut polls = 0;
        assert_eq!(wakes(&mut polls, RepollOnWake::new(restless(3))), 0);
        assert_eq!(polls, 0);
    }

    #[test]
    fn what_wakes_itself_without_end_lets_others_have_their_turn() {
        let mut polls = 0;
        assert_eq!(wakes(&mut polls, RepollOnWake::new(restless(20))), 2);
        assert_eq!(polls, 2);
    }

    #[tokio::test]
    async fn a_wake_from_elsewhere_is_passed_on() {
        let (tell, told) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(RepollOnWake::new(told));
        tokio::task::yield_now().await;
        tell.send(7).unwrap();
        assert_eq!(waiting.await.unwrap(), Ok(7));
    }

    #[test]
    fn no_wake_from_another_thread_is_lost() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (send, mut receive) = tokio::sync::mpsc::channel(1);
            let sender = tokio::spawn(async move {
                for number in 0..20_000_u32 {
                    send.send(number).await.unwrap();
                }
            });
            let mut sum = 0_u64;
            while let Some(number) = RepollOnWake::new(Box::pin(receive.recv())).await {
                sum += u64::from(number);
            }
            sender.await.unwrap();
            assert_eq!(sum, 199_990_000);
        });
    }
}
