//! A progress bar, where somebody is there to see it.
//!
//! Drawn on standard error and only on a terminal, so that logs and pipes stay clean, and only when
//! it would look different, so that it costs nothing.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many cells the bar has.
const CELLS: usize = 30;

/// A bar that fills up as things get done, on whatever thread.
#[derive(Debug)]
pub(crate) struct Bar {
    what: &'static str,
    total: usize,
    done: AtomicUsize,
    shown: bool,
}

impl Bar {
    /// A bar for `total` things called `what`.
    pub(crate) fn new(what: &'static str, total: usize) -> Self {
        Self {
            what,
            total,
            done: AtomicUsize::new(0),
            shown: total > 0 && std::io::stderr().is_terminal(),
        }
    }

    /// One more is done.
    pub(crate) fn advance(&self) {
        self.advance_by(1);
    }

    /// Several more are done.
    pub(crate) fn advance_by(&self, more: usize) {
        let before = self.done.fetch_add(more, Ordering::Relaxed);
        let done = before.saturating_add(more);
        let step = (self.total / 200).max(1);
        if self.shown && before / step != done / step {
            draw(&format!("\r{}", line(self.what, done, self.total)));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.shown {
            draw("\r\x1b[2K");
        }
    }
}

fn line(what: &str, done: usize, total: usize) -> String {
    let done = done.min(total);
    let full = done.saturating_mul(CELLS) / total.max(1);
    let (full, empty) = ("█".repeat(full), "░".repeat(CELLS.saturating_sub(full)));
    format!("{full}{empty} {done} of {total} {what}")
}

/// A bar that can't be drawn is no reason to stop.
fn draw(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes());
    let _ = err.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fills_up_and_never_overflows() {
        assert_eq!(
            line("runs", 0, 3),
            format!("{} 0 of 3 runs", "░".repeat(30))
        );
        assert_eq!(
            line("runs", 1, 3),
            format!("{}{} 1 of 3 runs", "█".repeat(10), "░".repeat(20))
        );
        assert_eq!(
            line("runs", 9, 3),
            format!("{} 3 of 3 runs", "█".repeat(30))
        );
    }
}
