//! What one client or server may take, so that none takes it from the others.

use std::time::Duration;

/// The slowest pace of a large body that is accepted.
pub(crate) const BODY_BYTES_PER_MS: usize = 64;
/// How long a large body waits until others give room back.
pub(crate) const ROOM_TIME: Duration = Duration::from_secs(2);

/// How long the head of a request may take to arrive.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(15);
/// How long an answer may stand still because its client does not read it, unless said otherwise.
pub const WRITE_TIME: Duration = Duration::from_secs(30);
/// The most of a head, of a request or of an answer, in bytes.
pub const HEAD_BYTES: usize = 64 * 1024;
/// The most headers.
pub const HEADERS: usize = 128;

/// The most connections, where the system allows as many.
pub const CONNECTIONS: usize = 16_384;
/// Descriptors that are kept for the store and for files.
pub(crate) const SPARE_DESCRIPTORS: usize = 64;
/// How long those who are being answered have when a listener ends.
pub(crate) const DRAIN_TIME: Duration = Duration::from_secs(5);
/// How long to wait when the system has no descriptor left.
pub(crate) const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);
