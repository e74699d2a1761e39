//! What a client or an upstream can make grow, and how far.

use std::time::Duration;

/// The longest body of a request that is read.
pub(crate) const REQUEST_BYTES: usize = 64 * 1024 * 1024;
/// The longest answer in one piece, or event of a stream, that is held to be judged. A longer one
/// passes unjudged, with a line in the log.
pub(crate) const HELD_BYTES: usize = 16 * 1024 * 1024;
/// The room that all request bodies share, in KiB.
pub(crate) const BODIES_KIB: u32 = 512 * 1024;
/// Up to this many bytes are read without asking for room.
pub(crate) const SMALL_BODY_BYTES: usize = 64 * 1024;
/// How long the body of a request may take.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(60);
/// How long an upstream may take to accept a connection.
pub(crate) const CONNECT_TIME: Duration = Duration::from_secs(10);
/// How long an upstream may be silent. Models think for minutes before the first byte.
pub(crate) const SILENT_TIME: Duration = Duration::from_secs(15 * 60);
/// Pieces of an answer that wait for a slow client.
pub(crate) const QUEUED_PIECES: usize = 16;
/// Exchanges at once, unless said otherwise.
pub(crate) const STREAMS: usize = 4096;

/// Sessions that are remembered; the longest unused is forgotten first.
pub(crate) const CONVERSATIONS: usize = 4096;
/// Warnings of a session that are repeated at their place.
pub(crate) const WARNINGS: usize = 64;
/// Tool-use ids and texts of users that are known as seen.
pub(crate) const SEEN: usize = 512;
/// How much of the words of an answer is kept to be reported.
pub(crate) const SAID_BYTES: usize = 256 * 1024;
/// How often the guard is asked whether a session was killed while its model speaks.
pub(crate) const LOOK_TIME: Duration = Duration::from_secs(2);
/// Models of which the last cost is known.
pub(crate) const MODELS: usize = 256;
/// Answers of which the provider keeps calls that were taken out.
pub(crate) const KEPT_ANSWERS: usize = 64;
