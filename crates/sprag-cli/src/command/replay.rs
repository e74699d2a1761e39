//! `sprag replay`: what happened, again, under any policy.

mod recording;
mod show;

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use sprag::Policy;
use sprag::replay::{Lens, Past, Seen, Tally, differs};

use crate::args::ReplayArgs;
use crate::failure::{FAILED, Failure, Run};
use crate::policy_file::PolicyFile;
use crate::settings::Settings;
use recording::Source;
use show::Show;

/// Folds the recording and prints what is seen.
pub(crate) fn run(args: &ReplayArgs, settings: &Settings, out: &mut dyn Write) -> Run {
    let source = Source::find(args, settings)?;
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
    source: &Source,
    show: &Show,
    out: &mut dyn Write,
) -> Run {
    let mut lens = match (&args.policy, source) {
        (Some(path), _) => what_if(source, path)?,
        (None, Source::Log(store)) => Lens::own(&**store)?,
        (None, Source::Trace(_)) => Lens::plain(policy(settings)?),
    };
    if args.state {
        lens = lens.with_state();
    }
    for past in source.recording(args)? {
        let past = past?;
        if is_after(&past, args) {
            break;
        }
        let seen = lens.see(&past)?;
        show.event(out, &past, &seen)?;
    }
    let tally = lens.tally();
    show.summary(out, tally)?;
    out.flush()?;
    let is_proof = args.policy.is_none() && tally.different > 0;
    Ok(ExitCode::from(if is_proof { FAILED } else { 0 }))
}

fn diff(
    args: &ReplayArgs,
    source: &Source,
    (one, other): (&Path, &Path),
    show: &Show,
    out: &mut dyn Write,
) -> Run {
    let mut lenses = [what_if(source, one)?, what_if(source, other)?];
    let mut changes = 0_u64;
    for past in source.recording(args)? {
        let past = past?;
        if is_after(&past, args) {
            break;
        }
        let [first, second] = lenses.each_mut().map(|lens| lens.see(&past));
        let seen: [Seen; 2] = [first?, second?];
        let [first, second] = &seen;
        if differs(first, second) {
            changes += 1;
            show.change(out, &past, &seen)?;
        }
    }
    let [a, b]: [&Tally; 2] = lenses.each_ref().map(Lens::tally);
    show.changes(out, changes, [(one, a), (other, b)])?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn is_after(past: &Past, args: &ReplayArgs) -> bool {
    args.until.is_some_and(|until| past.number() > until)
}

fn policy(settings: &Settings) -> Result<Policy, Failure> {
    PolicyFile::find(settings, None).load()
}

fn what_if<'a>(source: &Source, path: &Path) -> Result<Lens<'a>, Failure> {
    let lens = Lens::what_if(PolicyFile::named(path).load()?);
    Ok(match source {
        Source::Log(store) => lens.starting_at(&**store)?,
        Source::Trace(_) => lens,
    })
}
