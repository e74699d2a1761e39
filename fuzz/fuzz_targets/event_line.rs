//! Lines as `sprag decide` reads them: judged or refused with an error, never a panic; what parses
//! is written and read again as the same event.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sprag::Judge;
use sprag_core::{DigestKey, Digester, Event, Policy, Timestamp};

fuzz_target!(|data: &[u8]| {
    let policy = Policy::default();
    let digester = Digester::new(DigestKey::fixed());
    let mut judge = Judge::new(policy.clone());
    for (n, line) in data.split(|byte| *byte == b'\n').enumerate() {
        let Ok(event) = Event::parse(line) else {
            continue;
        };
        let written = serde_json::to_vec(&event).expect("an event can be written");
        Event::parse(&written).expect("what was written can be read");
        let at = event.at().unwrap_or(Timestamp(n as u64 * 1000));
        if let Ok(observation) = digester.observe(&event, at, &policy) {
            let text = serde_json::to_string(&observation).expect("an observation can be written");
            let back = serde_json::from_str(&text).expect("and read");
            assert_eq!(observation, back);
            let _ = judge.fold(observation);
        }
    }
});
