//! One loop: what went around, where, what it cost, what a guard would have done, and its calls.

use std::fmt::Write as _;

use sprag::rfc3339;
use sprag_core::Decision;

use super::escape::escape;
use super::timeline::timeline;
use crate::amounts::{counted, rough, span, took};
use crate::found_loop::{Ending, Loop, LoopStep, Reaction};

/// The card of `found`.
pub(super) fn card(out: &mut String, found: &Loop) {
    let _ = writeln!(out, "<li class=\"card\"><article>");
    let _ = writeln!(out, "<h3><code>{}</code></h3>", escape(&found.what));
    if !found.outcome.is_empty() {
        let _ = writeln!(
            out,
            "<p class=\"outcome\"><span aria-hidden=\"true\">→ </span>{}</p>",
            escape(&found.outcome)
        );
    }
    place(out, found);
    timeline(out, found);
    facts(out, found);
    said(out, "A warning", found.warned.as_ref());
    said(out, "The stop", found.stopped.as_ref());
    if found.perhaps_wrong {
        let after = counted(found.calls_after, "other call");
        let _ = writeln!(
            out,
            "<p class=\"careful\"><strong>Perhaps wrong.</strong> The agent got out by itself, went on with {after} and finished.</p>"
        );
    }
    calls(out, found);
    out.push_str("</article></li>\n");
}

fn place(out: &mut String, found: &Loop) {
    out.push_str("<p class=\"place\">");
    let _ = write!(out, "<span>{}</span>", escape(found.client.title()));
    if let Some(project) = &found.project {
        let _ = write!(out, "<span>{}</span>", escape(project));
    }
    if let Some(began) = found.began {
        let time = rfc3339(began);
        let shown = time.get(..16).unwrap_or_default().replace('T', " ");
        let _ = write!(out, "<time datetime=\"{time}\">{shown}</time>");
    }
    let _ = writeln!(
        out,
        "<span class=\"session\">session {}</span></p>",
        escape(&found.session)
    );
}

fn facts(out: &mut String, found: &Loop) {
    let about = if found.tokens.estimated { "about " } else { "" };
    let mut facts = vec![("Calls", counted(found.calls, "call"))];
    facts.extend(found.seconds.map(|seconds| ("Time", took(seconds))));
    facts.push(("Tokens", format!("{about}{}", rough(found.tokens.total))));
    if found.saved.calls > 0 {
        facts.push(("Saved", counted(found.saved.calls, "call")));
    }
    let ending = match found.ending {
        Ending::Finished => "the agent reported back",
        Ending::Interrupted => "a person stopped it",
        Ending::Open => "it broke off",
    };
    facts.push(("End", ending.to_owned()));
    out.push_str("<dl class=\"facts\">");
    for (name, value) in facts {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    out.push_str("</dl>\n");
}

fn said(out: &mut String, what: &str, reaction: Option<&Reaction>) {
    let Some(reaction) = reaction else {
        return;
    };
    let verdict = reaction.verdict;
    let _ = writeln!(
        out,
        "<p class=\"said\"><span class=\"badge {verdict}\">{verdict}</span> <span class=\"rule\">{}</span> {what} at call {}: “{}”</p>",
        reaction.rule,
        reaction.call,
        escape(&reaction.message)
    );
}

fn calls(out: &mut String, found: &Loop) {
    if found.steps.is_empty() {
        return;
    }
    out.push_str("<details><summary>Its calls</summary>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Calls\"><table class=\"calls\">\n<thead><tr><th scope=\"col\" class=\"number\">Call</th><th scope=\"col\" class=\"number\">After</th><th scope=\"col\">What</th><th scope=\"col\">Outcome</th><th scope=\"col\">A guard</th></tr></thead>\n<tbody>\n");
    let mut last = found.first_call.saturating_sub(1);
    for beat in &found.steps {
        if beat.call > last.saturating_add(1) {
            let gap = beat.call.saturating_sub(last).saturating_sub(1);
            let _ = writeln!(
                out,
                "<tr><td colspan=\"5\" class=\"note\">{} left out</td></tr>",
                counted(gap, "call")
            );
        }
        last = beat.call;
        row(out, found, beat);
    }
    out.push_str("</tbody></table></div></details>\n");
}

fn row(out: &mut String, found: &Loop, beat: &LoopStep) {
    let after = match found.seconds {
        Some(_) => span(beat.after_ms / 1_000),
        None => String::new(),
    };
    let failed = if beat.failed {
        "<span class=\"failed\">failed</span> "
    } else {
        ""
    };
    let verdict = match beat.verdict {
        Decision::Allow => String::new(),
        verdict => format!("<span class=\"badge {verdict}\">{verdict}</span>"),
    };
    let _ = writeln!(
        out,
        "<tr><td class=\"number\">{}</td><td class=\"number\">{after}</td><td><code>{}</code></td><td>{failed}{}</td><td>{verdict}</td></tr>",
        beat.call,
        escape(&beat.what),
        escape(&beat.outcome)
    );
}
