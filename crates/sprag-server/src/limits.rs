//! What one client may take, so that no client takes it from the others.
//!
//! Every list, body, stream and wait of this crate has its bound here, in one place where they can be
//! compared.

use std::time::Duration;

/// The longest body of a request, in bytes, unless said otherwise.
pub const BODY_BYTES: usize = 8 * 1024 * 1024;
/// Bodies up to this size are read without asking; larger ones share [`BODIES_KIB`].
pub(crate) const SMALL_BODY_BYTES: usize = 16 * 1024;
/// How much all larger bodies that are being read may take together, in KiB: once for agents, once for all others.
pub(crate) const BODIES_KIB: u32 = 128 * 1024;
/// The longest body that holds a policy.
pub(crate) const POLICY_BODY_BYTES: usize = 1024 * 1024;

/// How long a request's body may take to arrive, unless said otherwise, besides what a large one takes at a slow pace.
pub const BODY_TIME: Duration = Duration::from_secs(30);
/// How long an answer may stand still because its client does not read it, unless said otherwise.
pub const WRITE_TIME: Duration = Duration::from_secs(30);
/// How long a TLS handshake may take.
pub(crate) const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// How long those who are being answered have when the server ends.
pub(crate) const DRAIN_TIME: Duration = Duration::from_secs(2);
/// How long those who are being answered on the socket have after that.
pub(crate) const SOCKET_DRAIN_TIME: Duration = Duration::from_millis(300);

/// The most connections at once, where the system allows as many.
pub const CONNECTIONS: usize = 16_384;
/// Descriptors that are kept for the store and for files.
pub(crate) const SPARE_DESCRIPTORS: usize = 128;

/// How long a wrong token is kept waiting.
pub(crate) const WRONG_TOKEN_TIME: Duration = Duration::from_millis(200);
/// How many wrong tokens may wait at once; more are turned away.
pub(crate) const WRONG_TOKENS: usize = 32;

/// The most lines of one batch.
pub(crate) const BATCH_LINES: u64 = 100_000;

/// Items on a page where nothing is said.
pub(crate) const PAGE: usize = 50;
/// The most items on a page.
pub(crate) const MAX_PAGE: usize = 500;
/// The most records that one search looks at before it answers with where to go on.
pub(crate) const SEARCH: usize = 20_000;
/// The most records that one replay folds.
pub(crate) const REPLAY: usize = 50_000;
/// The most sessions that one answer about stops looks at, to tell whether they are still stopped.
pub(crate) const STOPPED_LOOKS: usize = 2_000;
/// The most messages of a flow that are shown.
pub(crate) const FLOW_MESSAGES: usize = 2_000;
/// The most records that one try of a policy folds.
pub(crate) const TRY_RECORDS: usize = 200_000;
/// The most changes that a try of a policy lists.
pub(crate) const TRY_CHANGES: usize = 200;
/// The longest reason or name that an order carries, in bytes.
pub(crate) const REASON_BYTES: usize = 1_000;
/// How many replays, tries, proofs, searches and exports run at once.
pub(crate) const HEAVY: usize = 4;

/// The most clients of the stream.
pub(crate) const STREAMS: usize = 64;
/// How many records a slow client of the stream may fall behind.
pub(crate) const STREAM_BEHIND: usize = 4_096;
/// How often a stream looks whether the token that it was opened with is still good.
pub(crate) const STREAM_RECHECK: Duration = Duration::from_secs(2);
/// How often a silent stream says that it lives.
pub(crate) const STREAM_ALIVE: Duration = Duration::from_secs(15);
