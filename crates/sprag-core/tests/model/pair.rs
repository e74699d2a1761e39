//! Two sessions that talk: chatter without work, and the same words again and again.

use sprag_core::{Decision, Digest, Id, Limits, Message, Millis, RuleId, Timestamp};

use super::chain;
use super::findings::Findings;
use super::history::History;
use super::record::Record;

/// An allowed `say` between the two.
struct PairMessage<'a> {
    at: Timestamp,
    from: &'a Id,
    flow: Option<&'a Id>,
    content: Option<Digest>,
    is_news: bool,
    chatters: bool,
}

impl<'a> History<'a> {
    /// The allowed `say`s between the two since either did some work, if the pair is remembered.
    fn lines(&self, one: &Id, other: &Id, now: Timestamp) -> Vec<PairMessage<'a>> {
        let mut lines = Vec::new();
        for record in self.life(now, Millis::HOUR, |cells| cells.has_pair(one, other)) {
            let is_theirs =
                record.cells.session == Some(one) || record.cells.session == Some(other);
            if record.facts.works && is_theirs {
                lines.clear();
            }
            if record.cells.has_pair(one, other) {
                lines.extend(line(record));
            }
        }
        lines
    }
}

fn line<'a>(record: &Record<'a>) -> Option<PairMessage<'a>> {
    let (from, message) = record.said()?;
    Some(PairMessage {
        at: record.now,
        from,
        flow: record.cells.flow,
        content: chain::content(message),
        is_news: record.facts.is_news,
        chatters: record.facts.chatters,
    })
}

/// A `say` with its sender and flow.
type Talk<'a> = (&'a Id, Option<&'a Id>, &'a Message);

/// How many messages of the last minute between the two brought nothing new.
pub(crate) fn rapid<'a>(
    history: &History<'a>,
    now: Timestamp,
    (from, _, message): Talk<'a>,
) -> usize {
    let lines = history.lines(from, &message.to, now);
    let is_recent = |line: &&PairMessage<'_>| now.since(line.at) < Millis::MINUTE && !line.is_news;
    lines.iter().filter(is_recent).count()
}

/// Whether the latest message between the two that brought nothing new was one too many already.
pub(crate) fn is_warned<'a>(
    history: &History<'a>,
    now: Timestamp,
    (from, _, message): Talk<'a>,
) -> bool {
    let lines = history.lines(from, &message.to, now);
    let last = lines.iter().rev().find(|line| !line.is_news);
    last.is_some_and(|line| line.chatters && now.since(line.at) < Millis::MINUTE)
}

/// `flow.echo` on one more `say`.
pub(crate) fn judge_echo<'a>(
    history: &History<'a>,
    now: Timestamp,
    limits: &Limits,
    (from, flow, message): Talk<'a>,
    findings: &mut Findings,
) {
    let lines = history.lines(from, &message.to, now);
    if let Some(content) = chain::content(message) {
        let (repeated, answers_differ) = echo(&lines, from, flow, content);
        if repeated >= limits.flow.echo.deny.get() as usize && !answers_differ {
            findings.add(limits, RuleId::FlowEcho, Decision::Deny);
        } else if repeated >= limits.flow.echo.warn.get() as usize {
            findings.add(limits, RuleId::FlowEcho, Decision::Warn);
        }
    }
}

/// How often the sender has now said this in a row in this flow, and whether it got different
/// answers meanwhile.
fn echo(lines: &[PairMessage<'_>], from: &Id, flow: Option<&Id>, content: Digest) -> (usize, bool) {
    let mut repeated = 1;
    let mut answers: Vec<Option<Digest>> = Vec::new();
    let mut answers_in_run = 0;
    for line in lines.iter().rev() {
        if line.from == from {
            if line.content != Some(content) || line.flow != flow {
                break;
            }
            repeated += 1;
            answers_in_run = answers.len();
        } else if line.flow == flow {
            answers.push(line.content);
        }
    }
    let answers = &answers[..answers_in_run];
    let differ = answers.contains(&None) || answers.iter().any(|answer| *answer != answers[0]);
    (repeated, differ)
}
