//! An owner that guards while it is still reading its file.

use sprag_core::Decision;
use sprag_store::{SessionQuery, SessionState, Store};

use crate::observations::{call, draft, id, kill, policy};
use crate::place::Place;
use crate::sqlite::{owned, verified};

const SESSIONS: u64 = 3_000;

#[test]
fn kills_hold_and_nothing_is_missing_while_the_file_is_still_read() {
    let (place, policy) = (Place::new(), policy());
    let store = owned(&place);
    for number in 0..SESSIONS {
        let event = call(number, &format!("s{number}"), number);
        store.decide(draft(event, &policy)).unwrap();
    }
    store.decide(draft(kill(SESSIONS, "s7"), &policy)).unwrap();
    drop(store);
    for round in 1..4 {
        let store = owned(&place);
        let at = SESSIONS + round * 10;
        let refused = store.decide(draft(call(at, "s7", at), &policy)).unwrap();
        assert_eq!(refused.verdict.decision, Decision::Kill);
        let below = store
            .decide(draft(call(at, "s7/helper", at), &policy))
            .unwrap();
        assert_eq!(below.verdict.decision, Decision::Kill);
        store.decide(draft(call(at, "s42", at), &policy)).unwrap();
        let known = store.session(&id("s42")).unwrap().unwrap();
        assert_eq!(known.summary.tally.events, 1 + round);
        let census = store.census().unwrap();
        assert_eq!((census.active, census.killed), (SESSIONS, 1));
        let killed = SessionQuery {
            state: Some(SessionState::Killed),
            ..SessionQuery::default()
        };
        assert_eq!(store.sessions(&killed).unwrap().items.len(), 1);
        let found = verified(&store);
        assert!(found.is_sound(), "{found:?}");
    }
}
