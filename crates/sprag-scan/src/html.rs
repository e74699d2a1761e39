//! The report as one page that can be shown around.
//!
//! One file that asks for nothing: no script, no font, no picture from anywhere, and a policy in its head that forbids it. It
//! holds what agents handled, so every text goes through [`escape`]; secrets are gone before, in `brief`. Colours are
//! those of the dashboard.

mod card;
mod escape;
mod timeline;

use sprag::rfc3339;
use sprag_core::Timestamp;

use crate::amounts::{count, counted, rough, size, span};
use crate::found_loop::Loop;
use crate::report::{ScanReport, Totals};
use card::card;
use escape::escape;

/// The dashboard's colours and sizes, and what is the page's own.
const TOKENS: &str = include_str!("tokens.css");
const STYLE: &str = include_str!("html/page.css");
/// How many loops the page shows.
const SHOWN: usize = 40;

/// The page, as of `now`.
#[must_use]
pub fn page(report: &ScanReport, now: Timestamp) -> String {
    let total = &report.total;
    let title = match total.loops {
        0 => "No loops".to_owned(),
        loops => counted(loops, "loop"),
    };
    let mut out = String::with_capacity(64 * 1024);
    out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n",
    );
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    out.push_str(&format!(
        "<title>{title} in {} · Sprag</title>\n",
        counted(total.sessions, "session")
    ));
    out.push_str(&format!(
        "<style>\n{TOKENS}{STYLE}</style>\n</head>\n<body>\n"
    ));
    head(&mut out, &title, total, now);
    out.push_str("<main>\n");
    tiles(&mut out, total);
    sources(&mut out, report);
    loops(&mut out, report);
    warned(&mut out, report);
    sweeping(&mut out, report);
    next(&mut out, report);
    skipped(&mut out, report);
    out.push_str("</main>\n<footer><p>Made by <code>sprag scan</code> from transcripts on one machine. Nothing was sent anywhere; what looks like a secret was taken out.</p></footer>\n</body>\n</html>\n");
    out
}

fn head(out: &mut String, title: &str, total: &Totals, now: Timestamp) {
    let day = rfc3339(now);
    let day = day.get(..10).unwrap_or_default();
    out.push_str(&format!(
        "<header><p class=\"brand\"><span class=\"mark\" aria-hidden=\"true\"></span>sprag scan <span class=\"day\">{day}</span></p>\n<h1>{title} in {}</h1>\n",
        counted(total.sessions, "session")
    ));
    let told = if total.loops == 0 {
        "No session went around in circles long enough to be stopped.".to_owned()
    } else {
        format!(
            "A guard would have saved <strong>{}</strong>, <strong>{}</strong> and <strong>{} tokens</strong>.",
            counted(total.saved_calls, "call"),
            span(total.saved_seconds),
            rough(total.saved_tokens)
        )
    };
    out.push_str(&format!("<p class=\"lead\">{told}</p></header>\n"));
}

fn tiles(out: &mut String, total: &Totals) {
    let about = if total.estimated { "about " } else { "" };
    let number = |number: usize| count(u64::try_from(number).unwrap_or(u64::MAX));
    let tiles = [
        (
            "Loops",
            number(total.loops),
            format!("and {}", counted(total.warned, "warning")),
        ),
        (
            "Calls in loops",
            number(total.loop_calls),
            format!("of {}", counted(total.calls, "call")),
        ),
        (
            "Time in loops",
            span(total.loop_seconds),
            format!("{} saved", span(total.saved_seconds)),
        ),
        (
            "Tokens in loops",
            rough(total.loop_tokens),
            format!("{about}{} saved", rough(total.saved_tokens)),
        ),
        (
            "Perhaps wrong",
            number(total.perhaps_wrong),
            "stops of runs that got out by themselves".to_owned(),
        ),
    ];
    out.push_str("<dl class=\"tiles\">\n");
    for (name, value, note) in tiles {
        out.push_str(&format!(
            "<div><dt>{name}</dt><dd class=\"value\">{value}</dd><dd class=\"note\">{note}</dd></div>\n"
        ));
    }
    out.push_str("</dl>\n");
}

fn sources(out: &mut String, report: &ScanReport) {
    let with_sessions = || report.sources.iter().filter(|one| one.numbers.sessions > 0);
    if with_sessions().count() == 0 {
        return;
    }
    out.push_str("<section><h2>Where</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Where\"><table>\n<thead><tr><th scope=\"col\">Agent</th>");
    for name in [
        "Read",
        "Sessions",
        "Calls",
        "Loops",
        "Calls in them",
        "Time",
        "Tokens",
    ] {
        out.push_str(&format!("<th scope=\"col\" class=\"number\">{name}</th>"));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for one in with_sessions() {
        let numbers = &one.numbers;
        let number = |number: usize| count(u64::try_from(number).unwrap_or(u64::MAX));
        let cells = [
            size(numbers.bytes),
            number(numbers.sessions),
            number(numbers.calls),
            number(numbers.loops),
            number(numbers.loop_calls),
            span(numbers.loop_seconds),
            rough(numbers.loop_tokens),
        ];
        out.push_str(&format!(
            "<tr><th scope=\"row\">{}</th>",
            escape(one.client.title())
        ));
        for cell in cells {
            out.push_str(&format!("<td class=\"number\">{cell}</td>"));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div></section>\n");
}

fn loops(out: &mut String, report: &ScanReport) {
    let stopped: Vec<&Loop> = report
        .loops
        .iter()
        .filter(|found| found.stopped.is_some())
        .collect();
    if stopped.is_empty() {
        return;
    }
    out.push_str("<section><h2>The loops, the worst first</h2>\n<p class=\"legend\"><span class=\"key call\">a call</span><span class=\"key warn\">a guard would have warned</span><span class=\"key stop\">and stopped</span><span class=\"key saved\">would not have happened</span></p>\n<ol class=\"cards\">\n");
    for found in stopped.iter().take(SHOWN) {
        card(out, found);
    }
    out.push_str("</ol>\n");
    let more = stopped.len().saturating_sub(SHOWN);
    if more > 0 {
        out.push_str(&format!(
            "<p class=\"note\">and {more} more; <code>sprag scan --json</code> lists them all</p>\n"
        ));
    }
    out.push_str("</section>\n");
}

fn warned(out: &mut String, report: &ScanReport) {
    let warned: Vec<&Loop> = report
        .loops
        .iter()
        .filter(|found| found.stopped.is_none())
        .collect();
    if warned.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<section><details><summary><h2>Only warned of: {}</h2></summary>\n<ul class=\"plain\">\n",
        counted(warned.len(), "short one")
    ));
    for found in warned.iter().take(SHOWN) {
        out.push_str(&format!(
            "<li><code>{}</code> <span class=\"note\">{}, {}</span></li>\n",
            escape(&found.what),
            counted(found.calls, "call"),
            escape(found.client.title())
        ));
    }
    out.push_str("</ul></details></section>\n");
}

fn sweeping(out: &mut String, report: &ScanReport) {
    if report.sweeping.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<section><h2>Sweeping commands: {}</h2>\n<p class=\"note\">Each takes a whole place where data lives at once. A guard asks before the first one, or refuses it.</p>\n<ul class=\"plain\">\n",
        count(u64::try_from(report.total.sweeping).unwrap_or(u64::MAX))
    ));
    for command in report.sweeping.iter().take(SHOWN) {
        out.push_str(&format!(
            "<li><code>{}</code> <span class=\"note\">{}, {}</span></li>\n",
            escape(&command.what),
            escape(&command.effects.join(", ")),
            escape(command.client.title())
        ));
    }
    out.push_str("</ul></section>\n");
}

fn next(out: &mut String, report: &ScanReport) {
    if !report.policy.is_empty() {
        out.push_str("<section><h2>Limits that fit this history</h2>\n<p class=\"note\">For the top of <code>~/.config/sprag/policy.toml</code>; try them in shadow first.</p>\n<pre tabindex=\"0\">");
        out.push_str(&escape(&report.policy.join("\n")));
        out.push_str("</pre></section>\n");
    }
    if !report.next.is_empty() {
        out.push_str("<section><h2>So that it does not happen again</h2>\n<pre tabindex=\"0\">");
        out.push_str(&escape(&report.next.join("\n")));
        out.push_str("</pre></section>\n");
    }
}

fn skipped(out: &mut String, report: &ScanReport) {
    if report.skipped.is_empty() {
        return;
    }
    out.push_str(
        "<section><details><summary><h2>Passed over</h2></summary>\n<ul class=\"plain\">\n",
    );
    for one in report.skipped.iter().take(SHOWN) {
        let place = one.line.map_or_else(String::new, |line| format!(":{line}"));
        out.push_str(&format!(
            "<li><code>{}{place}</code> {}</li>\n",
            escape(&one.file),
            escape(&one.why)
        ));
    }
    out.push_str("</ul></details></section>\n");
}
