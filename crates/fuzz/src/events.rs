//! Events as `sprag decide` and the API read them, and the canonical form of their payloads.

use sprag::Judge;
use sprag_core::{DigestKey, Digester, Event, Policy, Timestamp, canonical_json as canonical};

/// The canonical form of any JSON is JSON, stays the same when made again, and means the same.
pub(crate) fn canonical_json(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(form) = canonical(text) else {
        return;
    };
    let again = canonical(&form).expect("a canonical form is JSON");
    assert_eq!(again, form);
    serde_json::from_str::<serde_json::Value>(text).expect("canonical only if it is JSON");
}

/// Each line is judged or refused with an error; what parses is written and read again as the same event.
pub(crate) fn event_line(data: &[u8]) {
    let policy = Policy::default();
    let digester = Digester::new(DigestKey::fixed());
    let mut judge = Judge::new(policy.clone());
    let lines = data.split(|byte| *byte == b'\n');
    for (line, default) in lines.zip((0..).step_by(1000)) {
        let Ok(event) = Event::parse(line) else {
            continue;
        };
        let written = serde_json::to_vec(&event).expect("an event can be written");
        Event::parse(&written).expect("what was written can be read");
        let at = event.at().unwrap_or(Timestamp(default));
        if let Ok(observation) = digester.observe(&event, at, &policy) {
            let text = serde_json::to_string(&observation).expect("an observation can be written");
            let back = serde_json::from_str(&text).expect("what was written can be read");
            assert_eq!(observation, back);
            let _ = judge.fold(observation);
        }
    }
}
