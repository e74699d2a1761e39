//! The arguments of the commands that work on the store.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sprag::{Capture, Millis, Role, SessionState};

use super::word::{word, word_of};
use super::{OperatorArgs, PolicyArg, RedisArgs};
use crate::examples;

/// Which store.
#[derive(Debug, Args)]
pub(crate) struct DbArg {
    /// The store [default: $SPRAG_DB, else ~/.local/state/sprag/sprag.db].
    #[arg(long, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,
}

/// Which store, in a file or in Redis.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    #[command(flatten)]
    pub(crate) file: DbArg,
    #[command(flatten)]
    pub(crate) redis: RedisArgs,
}

/// Which store, and the socket of the server that may own it.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    /// The socket of a running `sprag serve` [default: $SPRAG_SOCKET, else
    /// $XDG_RUNTIME_DIR/sprag.sock, else beside the store].
    #[arg(long, value_name = "FILE")]
    pub(crate) socket: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// In which role the events come: it decides what they may be.
    #[arg(long = "as", value_name = "ROLE", value_parser = word_of::<Role>(|word| word != "viewer"), default_value_t = Role::Agent)]
    pub(crate) role: Role,
    /// How much of payloads the log keeps, without secrets.
    #[arg(long, value_name = "MODE", value_parser = word::<Capture>(), default_value_t = Capture::Digest)]
    pub(crate) capture: Capture,
    /// Stop at the first line that is not an event, with exit code 2.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Show the latest records, oldest first.
    #[command(after_help = examples::LOG_TAIL)]
    Tail(TailArgs),
    /// Show one record with everything it holds.
    #[command(after_help = examples::LOG_SHOW)]
    Show(ShowArgs),
    /// Prove the log: its chain holds and every verdict comes out the same again.
    #[command(after_help = examples::VERIFY)]
    Verify(VerifyArgs),
    /// Print records as JSON lines in the shape of CloudEvents 1.0.
    #[command(after_help = examples::LOG_EXPORT)]
    Export(ExportArgs),
    /// Copy the log into a file of its own, for what a shared store forgets.
    #[command(after_help = examples::LOG_ARCHIVE)]
    Archive(ArchiveArgs),
    /// Remove the oldest records; what is left still verifies.
    #[command(after_help = examples::LOG_PRUNE)]
    Prune(PruneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    /// How many records.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) lines: usize,
    /// Go on showing new records as they come.
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only records of this session.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Print JSON lines instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The number of the record.
    #[arg(value_name = "N")]
    pub(crate) seq: u64,
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    /// Only records of this session.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only records after this one.
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<u64>,
    /// As what.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ExportWord::Cloudevents)]
    pub(crate) format: ExportWord,
    /// What the events name as their source: set a URI of your own if you export several logs.
    #[arg(long, value_name = "URI", default_value = "urn:sprag:log")]
    pub(crate) source: String,
}

/// What an export is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportWord {
    /// CloudEvents 1.0, one JSON line each.
    Cloudevents,
    /// One row for each record, for spreadsheets.
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// The file; created if it is missing, else continued.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Records older than this go.
    #[arg(long, value_name = "DURATION", default_value = "30d")]
    pub(crate) max_age: Millis,
    /// The oldest go until the records take no more than this; `64K`, `256M` and `2G` are understood.
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = bytes)]
    pub(crate) max_bytes: u64,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number of bytes, in units of 1024 if a letter follows.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'K') => (text.strip_suffix('K'), 1 << 10),
        Some(b'M') => (text.strip_suffix('M'), 1 << 20),
        Some(b'G') => (text.strip_suffix('G'), 1 << 30),
        _ => (Some(text), 1),
    };
    let number: Option<u64> = digits.and_then(|digits| digits.parse().ok());
    let bytes = number.and_then(|number| number.checked_mul(factor));
    bytes.ok_or_else(|| "a size is written like 1048576, 64K, 256M or 2G".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, the latest first.
    #[command(after_help = examples::SESSIONS_LIST)]
    List(SessionsListArgs),
    /// Show one session: its marks, and how full the rules are.
    #[command(after_help = examples::SESSIONS_SHOW)]
    Show(SessionsShowArgs),
    /// Kill a session and its sub-agents until they are reset.
    #[command(after_help = examples::SESSIONS_KILL)]
    Kill(OrderArgs),
    /// Reset a session: nothing is held against it any more.
    #[command(after_help = examples::SESSIONS_RESET)]
    Reset(OrderArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SessionsListArgs {
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    /// Only sessions in this state.
    #[arg(long, value_name = "STATE", value_parser = word::<SessionState>())]
    pub(crate) state: Option<SessionState>,
    /// Only sessions of this agent.
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only sessions whose id holds this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,
    /// At most this many, up to 1000.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsShowArgs {
    /// The session.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// The session.
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// The reason, for the log and for whoever finds the session stopped.
    #[arg(long, value_name = "TEXT", required = true)]
    pub(crate) why: String,
    #[command(flatten)]
    pub(crate) order: OperatorArgs,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A store, or a trace: events with `at` as JSON lines, plain or gzipped [default: the store].
    #[arg(value_name = "LOG|TRACE")]
    pub(crate) recording: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    /// What if this policy had been in force? [default: a log's own policies; for a trace the policy
    /// in force, which stops nobody].
    #[arg(long, value_name = "FILE", conflicts_with = "diff")]
    pub(crate) policy: Option<PathBuf>,
    /// Judge a stop that was marked as wrong again: would the policy still stop it? `all` judges every one.
    #[arg(long, value_name = "CASE", conflicts_with_all = ["recording", "diff", "until", "session", "state", "fired"])]
    pub(crate) case: Option<String>,
    /// Show only what would change between two policies.
    #[arg(long, value_names = ["A", "B"], num_args = 2)]
    pub(crate) diff: Option<Vec<PathBuf>>,
    /// Stop after this record or line.
    #[arg(long, value_name = "N")]
    pub(crate) until: Option<u64>,
    /// Only what concerns this session: every event that shares a cell with it.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Show how full the rules are after each event.
    #[arg(long)]
    pub(crate) state: bool,
    /// Show only events that got more than `allow`.
    #[arg(long)]
    pub(crate) fired: bool,
    /// Print JSON lines instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// For how long.
    #[arg(long = "for", value_name = "DURATION", default_value = "1h")]
    pub(crate) span: Millis,
    /// The reason, for the log.
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    #[command(flatten)]
    pub(crate) order: OperatorArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    pub(crate) order: OperatorArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PanicArgs {
    /// The reason, for the log and for the agents.
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: String,
    #[command(flatten)]
    pub(crate) order: OperatorArgs,
}
