//! When the user or the system asks a server to end, or to read its policy again.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Over when the process is asked to end: by a service manager (SIGTERM) or at a terminal (SIGINT).
pub async fn asked_to_end() {
    let (Ok(mut term), Ok(mut int)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        // Without them the system ends the process itself.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}

/// Each time that the process is asked to read its files again (SIGHUP). From then on the signal does not end it.
pub(crate) fn hangups() -> Option<Signal> {
    signal(SignalKind::hangup()).ok()
}
