//! What one client or server may take, so that none takes it from the others.

use std::time::Duration;

/// The longest body of a request, in bytes, unless said otherwise.
pub const BODY_BYTES: usize = sprag_core::MAX_EVENT_BYTES;
/// Bodies up to this size are read without asking; larger ones share [`BODIES_KIB`].
pub(super) const SMALL_BODY_BYTES: usize = 64 * 1024;
/// How much all larger bodies that are under way may take together, in KiB.
pub(super) const BODIES_KIB: u32 = 256 * 1024;
/// How long a body may take to arrive, besides what its bytes take at [`BODY_BYTES_PER_MS`].
pub(super) const BODY_TIME: Duration = Duration::from_secs(30);
/// The slowest pace of a large body that is accepted.
pub(super) const BODY_BYTES_PER_MS: usize = 64;
/// How long a large body waits until others give room back.
pub(super) const ROOM_TIME: Duration = Duration::from_secs(2);
/// The longest answer, or event, that is held whole; what is longer streams through.
pub(super) const HELD_BYTES: usize = 4 * 1024 * 1024;
/// The longest metadata of a protected resource.
pub(super) const METADATA_BYTES: usize = 1024 * 1024;

/// How long the head of a request may take to arrive.
pub(super) const HEAD_TIME: Duration = Duration::from_secs(15);
/// How long an answer may stand still because its client does not read it.
pub(super) const WRITE_TIME: Duration = Duration::from_secs(30);
/// The most of a head, of a request or of an answer, in bytes.
pub(super) const HEAD_BYTES: usize = 64 * 1024;
/// The most headers.
pub(super) const HEADERS: usize = 128;

/// How long a server may take to accept a connection.
pub(super) const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How long a server may take until its answer starts, unless said otherwise.
pub const ANSWER_TIME: Duration = Duration::from_secs(300);
/// How long an idle connection to a server is kept.
pub(super) const IDLE_TIME: Duration = Duration::from_secs(60);
/// How long a silent connection waits before the system asks whether the other side is still there.
pub(super) const PROBE_TIME: Duration = Duration::from_secs(60);

/// The most connections, where the system allows as many.
pub const CONNECTIONS: usize = 16_384;
/// The most exchanges under way at once, streams among them.
pub const STREAMS: usize = 16_384;
/// Descriptors that are kept for the store and for files.
pub(super) const SPARE_DESCRIPTORS: usize = 64;
/// How long those who are being answered have when the proxy ends.
pub(super) const DRAIN_TIME: Duration = Duration::from_secs(5);
/// How long to wait when the system has no descriptor left.
pub(super) const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);
