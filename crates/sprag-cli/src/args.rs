//! The command line: what can be asked, and the help that teaches it.

mod approvals;
#[cfg(unix)]
mod gateway;
mod hooks;
#[cfg(unix)]
mod mcp;
mod operator;
mod policy;
mod redis;
mod relay;
mod scan;
mod serve;
mod store;
mod word;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use sprag_core::{Millis, Policy};
use sprag_review::eval::Metric;

pub(crate) use approvals::{AnswerArgs, ApprovalsArgs, ApproveArgs, ConfirmArg};
#[cfg(unix)]
pub(crate) use gateway::{
    GatewayArgs, GatewayCommand, GatewayGuardArgs, MountedGatewayArgs, RunArgs,
};
pub(crate) use hooks::{DoctorArgs, HookArgs, HookCli, InstallArgs, UninstallArgs};
#[cfg(unix)]
pub(crate) use mcp::{ClientArgs, McpArgs, McpCommand, McpInstallArgs, McpUninstallArgs, WrapArgs};
pub(crate) use operator::OperatorArgs;
pub(crate) use policy::{
    PolicyCheckArgs, PolicyCommand, PolicyImportArgs, PolicySetArgs, PolicyShowArgs,
};
pub(crate) use redis::RedisArgs;
pub(crate) use relay::AgentToolsArgs;
pub(crate) use scan::ScanArgs;
pub(crate) use serve::{
    HealthArgs, OpenArgs, ServeArgs, TokenAddArgs, TokenCommand, TokenListArgs, TokenRevokeArgs,
    TokenShowArgs,
};
pub(crate) use store::{
    ArchiveArgs, CheckArgs, DbArg, ExportArgs, ExportWord, LogCommand, OrderArgs, PanicArgs,
    PauseArgs, PlaceArgs, PruneArgs, ReplayArgs, ResumeArgs, SessionsCommand, SessionsListArgs,
    SessionsShowArgs, ShowArgs, StoreArgs, TailArgs, VerifyArgs,
};

use crate::examples;
use crate::style::HELP;

/// Detects runaway LLM agents and stops them.
#[derive(Debug, Parser)]
#[command(name = "sprag", version, styles = HELP, max_term_width = 100)]
#[command(after_help = examples::SPRAG, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: SpragCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpragCommand {
    /// Find the loops in what your agents already did, and what they cost.
    #[command(after_help = scan::EXAMPLES)]
    Scan(ScanArgs),
    /// Judge events from standard input, one JSON line each, and print the verdicts.
    #[command(after_help = examples::DECIDE)]
    Decide(DecideArgs),
    /// Ask the durable guard: like decide, but remembered and logged.
    #[command(after_help = examples::CHECK)]
    Check(CheckArgs),
    /// Run scenario files: events with the verdicts they must get.
    #[command(after_help = examples::TEST)]
    Test(TestArgs),
    /// Measure how good a policy is on recorded, labelled runs.
    #[command(after_help = examples::EVAL)]
    Eval(EvalArgs),
    /// Suggest limits from a history: how often each rule would have fired, and on what.
    #[command(after_help = examples::TUNE)]
    Tune(TuneArgs),
    /// Check, show, change and import policies.
    #[command(subcommand, after_help = examples::POLICY)]
    Policy(PolicyCommand),
    /// List all rules with what they answer, their limits and their modes.
    #[command(after_help = examples::RULES)]
    Rules(RulesArgs),
    /// Explain why a rule exists, when it trips, when it lets go, and how to tune it.
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainArgs),
    /// Print what a command would destroy, how far that reaches and which rule judges it.
    #[command(after_help = examples::EFFECTS)]
    Effects(EffectsArgs),
    /// Look at sessions, kill and reset them.
    #[command(subcommand, after_help = examples::SESSIONS)]
    Sessions(SessionsCommand),
    /// List the calls that wait for a person.
    #[command(after_help = examples::APPROVALS)]
    Approvals(ApprovalsArgs),
    /// Approve a call that waits: it may then be made again.
    #[command(after_help = examples::APPROVE)]
    Approve(ApproveArgs),
    /// Decline a call that waits.
    #[command(after_help = examples::DECLINE)]
    Decline(AnswerArgs),
    /// Read, prove, export and prune the log.
    #[command(subcommand, after_help = examples::LOG)]
    Log(LogCommand),
    /// Put a guard before an MCP server: sprag mcp -- SERVER ARGUMENTS…
    #[cfg(unix)]
    #[command(after_help = examples::MCP)]
    Mcp(Box<McpArgs>),
    /// Put a guard before a client's model API, and start the client: sprag run claude
    #[cfg(unix)]
    #[command(after_help = examples::RUN)]
    Run(Box<RunArgs>),
    /// Put a guard before model APIs, for clients that are started elsewhere.
    #[cfg(unix)]
    #[command(after_help = examples::GATEWAY)]
    Gateway(Box<GatewayArgs>),
    /// Fold a log or a trace again, verdict by verdict, under any policy.
    #[command(after_help = examples::REPLAY)]
    Replay(ReplayArgs),
    /// Prove the log: its chain holds and every verdict comes out the same again.
    #[command(after_help = examples::VERIFY)]
    Verify(VerifyArgs),
    /// Put every rule into shadow for a while.
    #[command(after_help = examples::PAUSE)]
    Pause(PauseArgs),
    /// End a pause.
    #[command(after_help = examples::RESUME)]
    Resume(ResumeArgs),
    /// Refuse everything that agents do, at once and everywhere.
    #[command(after_help = examples::PANIC)]
    Panic(PanicArgs),
    /// End a panic.
    #[command(after_help = examples::CALM)]
    Calm(PanicArgs),
    /// Run the server: an HTTP API for agents, relays and operators.
    #[command(after_help = examples::SERVE)]
    Serve(Box<ServeArgs>),
    /// Open the dashboard of the running server.
    #[command(after_help = examples::OPEN)]
    Open(OpenArgs),
    /// Report whether the running server is ready.
    #[command(after_help = examples::HEALTH)]
    Health(HealthArgs),
    /// Give an agent tools to talk to others: an MCP server on standard input and output.
    #[command(after_help = examples::AGENT_TOOLS)]
    AgentTools(AgentToolsArgs),
    /// Make, show, list and revoke the server's tokens.
    #[command(subcommand, after_help = examples::TOKEN)]
    Token(TokenCommand),
    /// Put the guard into an agent CLI: its settings, with a diff and a backup.
    #[command(after_help = examples::INSTALL)]
    Install(InstallArgs),
    /// Take the guard out of an agent CLI again.
    #[command(after_help = examples::UNINSTALL)]
    Uninstall(UninstallArgs),
    /// Diagnose problems and suggest fixes: hooks, policy, store, server.
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Answer one hook of an agent CLI: its payload comes in, its own kind of answer goes out.
    #[command(after_help = examples::HOOK)]
    Hook(HookArgs),
    /// Print a completion script for a shell.
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell to complete for.
        shell: Shell,
    },
    /// Write the manual pages of all commands into a folder, for packages.
    #[command(hide = true)]
    Man {
        /// The folder.
        folder: PathBuf,
    },
}

/// Which policy to go by.
#[derive(Debug, Clone, Args)]
pub(crate) struct PolicyArg {
    /// The policy file, TOML or JSON [default: $SPRAG_POLICY, else
    /// ~/.config/sprag/policy.toml, else the built-in limits].
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// For whom.
#[derive(Debug, Args)]
pub(crate) struct WhoArgs {
    /// For this agent.
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// For this session.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
}

impl WhoArgs {
    /// The policy for them; without a name the policy as it is.
    pub(crate) fn narrow(&self, policy: Policy) -> Policy {
        if self.agent.is_none() && self.session.is_none() {
            return policy;
        }
        let session = self.session.as_deref().unwrap_or_default();
        policy.narrowed(self.agent.as_deref(), session)
    }
}

#[derive(Debug, Args)]
pub(crate) struct DecideArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Stop at the first line that is not an event, with exit code 2.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The scenario files.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Lay the scenarios' policies over this policy file, to test it.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Run only scenarios whose name contains this text, in any case.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Recorded runs: a folder of *.jsonl and *.jsonl.gz with a labels.jsonl, or files in one.
    #[arg(required = true, value_name = "TRACES")]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Set another classifier (plain, informed) or policy file beside it.
    #[arg(long, value_name = "POLICY")]
    pub(crate) compare: Option<String>,
    /// Judge as if every step came this long after the one before, like `60s` for a slow model.
    #[arg(long, value_name = "TIME")]
    pub(crate) pace: Option<Millis>,
    /// Add the figures without each source.
    #[arg(long)]
    pub(crate) leave_one_out: bool,
    /// List every run on the wrong side of a number.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// List the runs behind one number, such as `loops`.
    #[arg(long, value_name = "METRIC")]
    pub(crate) list: Option<Metric>,
    /// Write one JSON line a run: when it was first warned and first stopped, and by what.
    #[arg(long, value_name = "FILE")]
    pub(crate) stops: Option<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// What happened: stores, files of `sprag log export`, events as for `sprag decide`, or traces as
    /// for `sprag eval`. Without it, the log of the store.
    #[arg(value_name = "HISTORY")]
    pub(crate) history: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) db: StoreArgs,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EffectsArgs {
    /// The command, as one argument.
    #[arg(value_name = "COMMAND")]
    pub(crate) command: String,
    /// Read it as SQL.
    #[arg(long)]
    pub(crate) sql: bool,
    /// The folder in which it would run.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<String>,
    /// The project's folder; else `--cwd`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) root: Option<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The rule, such as `flow.depth`.
    #[arg(value_name = "RULE")]
    pub(crate) rule: String,
    #[command(flatten)]
    pub(crate) policy: PolicyArg,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
