//! What one client or server may take, so that none takes it from the others.

use std::time::Duration;

/// The longest body of a request, in bytes, unless said otherwise.
pub(super) const BODY_BYTES: usize = sprag_core::MAX_EVENT_BYTES;
/// Bodies up to this size are read without asking; larger ones share [`BODIES_KIB`].
pub(super) const SMALL_BODY_BYTES: usize = 64 * 1024;
/// How much all larger bodies that are under way may take together, in KiB.
pub(super) const BODIES_KIB: u32 = 256 * 1024;
/// How long a body may take to arrive, besides what its bytes take at the slowest pace that is accepted.
pub(super) const BODY_TIME: Duration = Duration::from_secs(30);
/// The longest answer, or event, that is held whole; what is longer streams through.
pub(super) const HELD_BYTES: usize = 4 * 1024 * 1024;
/// The longest metadata of a protected resource.
pub(super) const METADATA_BYTES: usize = 1024 * 1024;

/// How long a server may take until its answer starts, unless said otherwise.
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(300);

/// The most exchanges under way at once, streams among them.
pub const STREAMS: usize = 16_384;
