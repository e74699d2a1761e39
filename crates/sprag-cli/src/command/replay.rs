//! `sprag replay`: what happened, again, under any policy.

mod case;
mod recording;
mod show;

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use sprag::replay::{RecordedItem, Replay, ReplayOutcome, ReplayTally, differs};
use sprag::{Policy, PolicyFile};

use crate::args::ReplayArgs;
use crate::failure::{FAILED, Failure, Run};
use crate::policy_file;
use crate::settings::Settings;
use recording::ReplaySource;
use show::Show;

/// Folds the recording and prints what is seen.
pub(crate) fn run(args: &ReplayArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    if let Some(name) = &args.case {
        return case::run(name, args, settings, out);
    }
    let source = ReplaySource::find(args, settings)?;
    let out = &mut BufWriter::new(out);
    let show = Show::new(args);
    match args.diff.as_deref() {
        Some([one, other]) => diff(args, &source, (one, other), &show, out),
        _ => one(args, settings, &source, &show, out),
    }
}

fn one(
    args: &ReplayArgs,
    settings: &Settings,
    source: &ReplaySource,
    show: &Show,
    out: &mut dyn Write,
) -> Run {
    let mut replay = match (&args.policy, source) {
        (Some(path), _) => what_if(source, path)?,
        (None, ReplaySource::Log(store)) => Replay::own(&**store)?,
        (None, ReplaySource::Trace(_)) => Replay::plain(policy(settings)?),
    };
    if args.state {
        replay = replay.with_state();
    }
    for past in source.recording(args)? {
        let past = past?;
        if is_after(&past, args) {
            break;
        }
        let seen = replay.fold(&past)?;
        show.event(out, &past, &seen)?;
    }
    let tally = replay.tally();
    show.summary(out, tally)?;
    out.flush()?;
    let is_proof = args.policy.is_none() && tally.different > 0;
    Ok(ExitCode::from(if is_proof { FAILED } else { 0 }))
}

fn diff(
    args: &ReplayArgs,
    source: &ReplaySource,
    (one, other): (&Path, &Path),
    show: &Show,
    out: &mut dyn Write,
) -> Run {
    let mut replays = [what_if(source, one)?, what_if(source, other)?];
    let mut changes = 0_u64;
    for past in source.recording(args)? {
        let past = past?;
        if is_after(&past, args) {
            break;
        }
        let [first, second] = replays.each_mut().map(|replay| replay.fold(&past));
        let seen: [ReplayOutcome; 2] = [first?, second?];
        let [first, second] = &seen;
        if differs(first, second) {
            changes += 1;
            show.change(out, &past, &seen)?;
        }
    }
    let [a, b]: [&ReplayTally; 2] = replays.each_ref().map(Replay::tally);
    show.changes(out, changes, [(one, a), (other, b)])?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn is_after(past: &RecordedItem, args: &ReplayArgs) -> bool {
    args.until.is_some_and(|until| past.number() > until)
}

fn policy(settings: &Settings) -> Result<Policy, Failure> {
    policy_file::load(settings, None)
}

fn what_if<'a>(source: &ReplaySource, path: &Path) -> Result<Replay<'a>, Failure> {
    let replay = Replay::what_if(PolicyFile::required(path).load()?);
    Ok(match source {
        ReplaySource::Log(store) => replay.starting_at(&**store)?,
        ReplaySource::Trace(_) => replay,
    })
}
