//! `sprag scan`: the loops in what agents already did.

mod text;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use sprag_core::{Policy, RuleId};
use sprag_hooks::Client;
use sprag_hooks::install::{ConfigDirs, Scope, installed_hooks, settings_path};
use sprag_review::tune::{History, tune};
use sprag_scan::{Options, ScanError, ScanReport, Transcript, amounts, named, scan};

use super::eval::failed;
use crate::args::ScanArgs;
use crate::bar::Bar;
use crate::clock;
use crate::failure::{Failure, Run};
use crate::json;
use crate::policy_file::load_with_document;
use crate::settings::Settings;

/// The clients whose transcripts can be read.
const READ: [Client; 5] = [
    Client::Claude,
    Client::Codex,
    Client::Gemini,
    Client::Copilot,
    Client::Opencode,
];
/// Fewer sessions that finished say too little about which limits fit.
const MIN_FINISHED: usize = 20;
/// How much is read without being asked: about a second's worth.
const QUICK_BYTES: u64 = 200_000_000;
/// A bar moves a cell for each of these.
const MEGABYTE: u64 = 1_000_000;

/// Reads the transcripts and tells.
pub(crate) fn run(args: &ScanArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let (policy, document) = load_with_document(settings, args.policy.policy.as_deref())?;
    let options = Options {
        policy: policy.clone(),
        since: args.since.map(|since| since.at(clock::now())),
        clients: args.client.clone(),
        threads: None,
    };
    let transcripts = find(args, &options, settings)?;
    let (mut report, history) = read(&transcripts, &options);
    report.policy = advice(&history, &policy, &document)?;
    report.next = next(&report, settings);
    if let Some(places) = settings.transcripts() {
        report.hide_home(&places.home);
    }
    if let Some(path) = &args.html {
        write_page(path, &report)?;
    }
    if args.json {
        json::print(out, &report)?;
    } else {
        text::print(out, &report, args)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One line about what these clients already did, for `sprag install`. Their hooks are there by now, so nothing
/// here is a reason to fail.
pub(crate) fn in_short(
    clients: &[Client],
    settings: &Settings,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let Some(places) = settings.transcripts() else {
        return Ok(());
    };
    let read: Vec<Client> = READ
        .into_iter()
        .filter(|client| clients.contains(client))
        .collect();
    let transcripts = places.find(&read);
    let bytes: u64 = transcripts.iter().map(|one| one.bytes).sum();
    if transcripts.is_empty() {
        return writeln!(out, "no earlier sessions are found here to scan");
    }
    if bytes > QUICK_BYTES {
        let size = amounts::size(bytes);
        return writeln!(
            out,
            "`sprag scan` finds the loops in {size} of earlier sessions"
        );
    }
    let Ok((policy, _)) = load_with_document(settings, None) else {
        return Ok(());
    };
    let options = Options {
        policy,
        since: None,
        clients: Vec::new(),
        threads: None,
    };
    let (report, _) = scan(&transcripts, &options, &|_| {});
    text::in_short(out, &report)
}

/// The transcripts that were named, else those of the agent CLIs.
fn find(
    args: &ScanArgs,
    options: &Options,
    settings: &Settings,
) -> Result<Vec<Transcript>, Failure> {
    if !args.paths.is_empty() {
        return named(&args.paths).map_err(|error| match error {
            ScanError::Unreadable { path, source } => Failure::unreadable(&path, &source),
            other => Failure::new(other.to_string()),
        });
    }
    let places = settings.transcripts();
    let places = places.ok_or_else(|| {
        Failure::new("there is no home: $HOME is not set")
            .next("name files or folders: sprag scan PATH…")
    })?;
    let all = options.clients.is_empty();
    let clients: Vec<Client> = READ
        .into_iter()
        .filter(|client| all || options.clients.contains(client))
        .collect();
    Ok(places.find(&clients))
}

fn read(transcripts: &[Transcript], options: &Options) -> (ScanReport, History) {
    let total: u64 = transcripts.iter().map(|one| one.bytes).sum();
    let steps = |bytes: u64| usize::try_from(bytes / MEGABYTE).unwrap_or(usize::MAX);
    let bar = Bar::new("MB", steps(total));
    let done = std::sync::atomic::AtomicU64::new(0);
    scan(transcripts, options, &|bytes| {
        let before = done.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
        let more = steps(before.saturating_add(bytes)).saturating_sub(steps(before));
        if more > 0 {
            bar.advance_by(more);
        }
    })
}

/// The lines for a policy that fit this history.
fn advice(
    history: &History,
    policy: &Policy,
    document: &serde_json::Value,
) -> Result<Vec<String>, Failure> {
    if history.size().1 < MIN_FINISHED {
        return Ok(Vec::new());
    }
    let bar = Bar::new("settings", super::tune::questions(policy));
    let tuned = tune(history, document, &|| bar.advance()).map_err(failed)?;
    // How much an agent may do at all is a choice; a history only tells how much it did.
    let fits = tuned
        .into_iter()
        .filter(|tuned| tuned.rule != RuleId::BudgetActions);
    let mut lines: Vec<String> = fits.filter_map(|tuned| tuned.line).collect();
    lines.dedup();
    Ok(lines)
}

/// What to type next: an installation for each client that has no hooks of Sprag yet.
fn next(report: &ScanReport, settings: &Settings) -> Vec<String> {
    let here = std::env::current_dir().unwrap_or_default();
    let homes = settings.homes(here);
    report
        .clients()
        .filter(|client| {
            !homes
                .as_ref()
                .is_some_and(|homes| is_installed(*client, homes))
        })
        .map(|client| format!("sprag install {client}"))
        .collect()
}

/// Whether the user's settings of `client` hold hooks of Sprag.
fn is_installed(client: Client, homes: &ConfigDirs) -> bool {
    let text = std::fs::read_to_string(settings_path(client, Scope::User, homes));
    let hooks = text
        .ok()
        .and_then(|text| installed_hooks(client, &text).ok());
    hooks.is_some_and(|hooks| !hooks.is_empty())
}

fn write_page(path: &Path, report: &ScanReport) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| Failure::unwritable(path, &error);
    std::fs::write(path, sprag_scan::page(report, clock::now())).map_err(unwritable)
}

/// `412 sessions`.
fn sessions(report: &ScanReport) -> String {
    amounts::counted(report.total.sessions, "session")
}
