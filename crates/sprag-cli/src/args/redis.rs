//! The arguments for a store in Redis.

use std::path::PathBuf;

use clap::Args;
use sprag::Millis;

/// A store that many processes share.
#[derive(Debug, Args)]
pub(crate) struct RedisArgs {
    /// Share the store in this Redis instead: `redis://`, `rediss://` (TLS), with `+sentinel` or
    /// `+cluster` before the colon [default: $SPRAG_REDIS].
    #[arg(long, value_name = "URL")]
    pub(crate) redis: Option<String>,
    /// The file with the password of Redis [default: $SPRAG_REDIS_PASSWORD]. One in the URL can be read by everyone
    /// who sees the list of processes.
    #[arg(long, value_name = "FILE")]
    pub(crate) redis_password_file: Option<PathBuf>,
    /// What all keys in Redis start with, in braces; who uses the same shares everything.
    #[arg(long, value_name = "NAME", default_value = "sprag")]
    pub(crate) namespace: String,
    /// The certificates to trust, for `rediss://` [default: those of the system].
    #[arg(long, value_name = "FILE")]
    pub(crate) redis_ca: Option<PathBuf>,
    /// What rules do while Redis can't be reached: `local`, `open` or `closed`, or `RULE=MODE` for
    /// some; may be given again.
    #[arg(long, value_name = "MODE", default_value = "local")]
    pub(crate) redis_fail: Vec<String>,
    /// How long a decision may wait for Redis.
    #[arg(long, value_name = "DURATION", default_value = "250ms")]
    pub(crate) redis_deadline: Millis,
    /// How many replicas must have a kill before it is answered.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) redis_replicas: u32,
}
