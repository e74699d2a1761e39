//! Lines of a recording, told apart by run.
//!
//! A file holds many runs, and a rule may only see one: what another run did must not be in its
//! world. The run and the number of the step ride on the wire events as `trace` and `seq`, which the
//! engine does not know.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use sprag::replay::assumed_time;
use sprag_core::{Event, Millis, Timestamp};

/// An event of a recorded run.
#[derive(Debug, Clone)]
pub(crate) struct TracedEvent {
    /// The number of the recorded step; without one, the line in the file.
    pub(crate) seq: u64,
    /// When it happened.
    pub(crate) at: Timestamp,
    /// What happened.
    pub(crate) event: Event,
}

/// The events of one run, and the lines that were none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    pub(crate) name: String,
    /// Whether the lines themselves say that they belong together.
    pub(crate) is_named: bool,
    pub(crate) events: Vec<TracedEvent>,
    /// The number of a line, from 1, and what is wrong with it.
    pub(crate) flaws: Vec<(u64, String)>,
}

#[derive(Deserialize)]
struct TraceFields<'a> {
    #[serde(borrow)]
    trace: Option<Cow<'a, str>>,
    seq: Option<u64>,
}

/// The runs in the lines of `bytes`, in the order in which they begin. Lines that name no run are
/// one run together, `otherwise`.
pub(crate) fn split(bytes: &[u8], otherwise: &str) -> Vec<Trace> {
    let mut traces: Vec<Trace> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (number, line) in (1_u64..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let rider = serde_json::from_slice::<TraceFields<'_>>(line).unwrap_or(TraceFields {
            trace: None,
            seq: None,
        });
        let name = rider.trace.as_deref().unwrap_or(otherwise);
        let place = places.get(name).copied().unwrap_or_else(|| {
            traces.push(Trace {
                name: name.to_owned(),
                is_named: rider.trace.is_some(),
                ..Trace::default()
            });
            places.insert(name.to_owned(), traces.len() - 1);
            traces.len() - 1
        });
        if let Some(trace) = traces.get_mut(place) {
            trace.take(line, number, rider.seq.unwrap_or(number));
        }
    }
    traces
}

impl Trace {
    fn take(&mut self, line: &[u8], number: u64, seq: u64) {
        let event = match Event::parse(line) {
            Ok(event) => event,
            Err(error) => return self.flaws.push((number, error.to_string())),
        };
        let last = self.events.last().map(|last| last.at);
        let at = event.at().unwrap_or_else(|| assumed_time(last));
        self.events.push(TracedEvent { seq, at, event });
    }

    /// Puts its recorded steps `pace` apart: what would a slower or faster model have got? The result
    /// of a step comes a second after its call.
    pub(crate) fn set_pace(&mut self, pace: Millis) {
        let mut now = assumed_time(None);
        let mut seq = self.events.first().map(|first| first.seq);
        for traced in &mut self.events {
            if seq.replace(traced.seq) != Some(traced.seq) {
                now = now.plus(pace);
            }
            let result = matches!(traced.event, Event::Step(_));
            if result {
                now = now.plus(Millis::SECOND);
            }
            traced.at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_told_apart_even_where_they_interleave() {
        let text = br#"{"trace":"a","seq":0,"at":5000,"type":"call","session":"s","tool":"x"}
{"trace":"b","seq":7,"type":"call","session":"s","tool":"x"}

{"trace":"a","seq":1,"type":"call","session":"s","tool":"x"}
{"type":"call","session":"s","tool":"x"}"#;
        let traces = split(text, "rest");
        let told: Vec<_> = traces
            .iter()
            .map(|trace| {
                let events = trace.events.iter().map(|event| (event.seq, event.at.0));
                (trace.name.as_str(), events.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(
            told,
            [
                ("a", vec![(0, 5000), (1, 6000)]),
                ("b", vec![(7, assumed_time(None).0)]),
                ("rest", vec![(5, assumed_time(None).0)])
            ]
        );
    }

    #[test]
    fn a_pace_puts_the_same_time_before_every_step() {
        let text = br#"{"seq":0,"at":5000,"type":"call","session":"s","tool":"x","id":"0"}
{"seq":0,"at":5000,"type":"step","session":"s","id":"0"}
{"seq":1,"at":5001,"type":"call","session":"s","tool":"x","id":"1"}
{"seq":1,"at":99000,"type":"step","session":"s","id":"1"}"#;
        let mut trace = split(text, "rest").remove(0);
        trace.set_pace(Millis(60_000));
        let start = assumed_time(None).0;
        let times: Vec<u64> = trace
            .events
            .iter()
            .map(|event| event.at.0 - start)
            .collect();
        assert_eq!(times, [0, 1_000, 61_000, 62_000]);
    }

    #[test]
    fn a_line_that_is_no_event_is_told_and_costs_no_other() {
        let text = b"{\"trace\":\"a\",\"type\":\"call\",\"session\":\"s\",\"tool\":\"\"}\nrubbish\n{\"trace\":\"a\",\"type\":\"call\",\"session\":\"s\",\"tool\":\"x\"}\n";
        let traces = split(text, "rest");
        assert_eq!(traces[0].events.len(), 1);
        assert_eq!(traces[0].flaws.len(), 1);
        assert_eq!((traces[1].events.len(), traces[1].flaws[0].0), (0, 2));
    }
}
