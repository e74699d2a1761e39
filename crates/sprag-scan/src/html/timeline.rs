//! A loop as a picture: one stroke for each call, from left to right in time, and where a guard would have spoken.
//!
//! Strokes keep their width however wide the page is, and words stand beside the picture, not in it, so that it can be read on
//! a phone. Without times, calls stand at equal distances.

use std::fmt::Write as _;

use crate::amounts::{counted, took};
use crate::found_loop::Loop;

/// How many strokes are drawn; of more calls, some are left out evenly.
const MAX_STROKES: usize = 300;
/// The width of the picture in its own units.
const WIDTH: f64 = 1_000.0;

/// The picture of `found`.
pub(super) fn timeline(out: &mut String, found: &Loop) {
    let places = places(found);
    if places.is_empty() {
        return;
    }
    let warned = found.warned.as_ref().map(|warned| warned.call);
    let stopped = found.stopped.as_ref().map(|stopped| stopped.call);
    let x_of = |call: usize| {
        let place = call.saturating_sub(found.first_call);
        places.get(place).or(places.last()).copied().unwrap_or(0.0)
    };
    out.push_str("<svg class=\"timeline\" viewBox=\"0 0 1000 48\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"");
    out.push_str(&label(found));
    out.push_str("\">\n");
    if let Some(stop) = stopped {
        let x = x_of(stop);
        let _ = writeln!(
            out,
            "<rect class=\"after\" x=\"{x:.1}\" y=\"0\" width=\"{:.1}\" height=\"48\"/>",
            WIDTH - x
        );
    }
    let step = places.len().div_ceil(MAX_STROKES).max(1);
    for (place, x) in places.iter().enumerate() {
        let call = found.first_call.saturating_add(place);
        let speaks = Some(call) == warned || Some(call) == stopped;
        if !speaks && !place.is_multiple_of(step) {
            continue;
        }
        let class = match (stopped, warned) {
            (Some(stop), _) if call == stop => "stop",
            (Some(stop), _) if call > stop => "saved",
            (_, Some(warn)) if call == warn => "warn",
            (_, Some(warn)) if call > warn => "warned",
            _ => "call",
        };
        let (top, bottom) = if speaks { (0, 48) } else { (12, 36) };
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>"
        );
    }
    out.push_str("</svg>\n");
    let end = found
        .seconds
        .filter(|_| has_span(found))
        .map_or_else(|| counted(found.calls, "call"), took);
    let _ = writeln!(
        out,
        "<p class=\"axis\" aria-hidden=\"true\"><span>0</span><span>{end}</span></p>"
    );
}

fn has_span(found: &Loop) -> bool {
    found.ticks.last().is_some_and(|last| *last > 0)
}

/// Where each call stands, from 8 to 992.
fn places(found: &Loop) -> Vec<f64> {
    let count = found.ticks.len();
    let longest = found.ticks.iter().copied().max().unwrap_or(0);
    let at = |part: f64| 8.0 + part * (WIDTH - 16.0);
    let by_time = has_span(found);
    let parts = found.ticks.iter().enumerate().map(|(place, tick)| {
        if by_time {
            f64::from(*tick) / f64::from(longest.max(1))
        } else {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            let last = u32::try_from(count.saturating_sub(1).max(1)).unwrap_or(u32::MAX);
            f64::from(place) / f64::from(last)
        }
    });
    parts.map(at).collect()
}

fn label(found: &Loop) -> String {
    let mut text = counted(found.calls, "call");
    if let Some(seconds) = found.seconds {
        let _ = write!(text, " in {}", took(seconds));
    }
    if let Some(warned) = &found.warned {
        let _ = write!(text, "; a warning at call {}", warned.call);
    }
    if let Some(stopped) = &found.stopped {
        let _ = write!(text, "; {} at call {}", stopped.verdict, stopped.call);
    }
    text
}
