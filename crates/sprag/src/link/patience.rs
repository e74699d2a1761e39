//! Waiting for a server that is just starting or ending.
//!
//! For a moment it owns the store and does not listen. An adapter that gave up at once would let its agent go on
//! unchecked whenever a server is restarted; so it tries again, for no longer than a server may take to answer.

use std::time::Duration;

use super::error::LinkError;

/// How long to wait before the next try.
const PAUSE: Duration = Duration::from_millis(20);

/// Does `work` again, for at most `patience`, as long as a server is coming or going.
pub(super) fn patiently<T>(
    patience: Duration,
    mut work: impl FnMut() -> Result<T, LinkError>,
) -> Result<T, LinkError> {
    let mut waited = Duration::ZERO;
    loop {
        match work() {
            Err(error) if error.is_passing() && waited < patience => {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "waits for another process, whose time nobody injects"
                )]
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            done => return done,
        }
    }
}
