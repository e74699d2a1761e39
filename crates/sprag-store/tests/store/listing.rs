//! Listings of sessions: the same pages from every store, in every order.

use sprag_core::Id;
use sprag_store::{MemoryStore, SessionQuery, SessionSort, SessionState, Store};

use crate::observations::{draft, policy};
use crate::place::Place;
use crate::sqlite::{owned, shared};
use crate::stream::Stream;

const SORTS: [SessionSort; 6] = [
    SessionSort::Touched,
    SessionSort::Events,
    SessionSort::Refused,
    SessionSort::Id,
    SessionSort::Agent,
    SessionSort::State,
];

/// All that a query finds, in pages of three.
fn all(store: &dyn Store, query: &SessionQuery) -> Vec<Id> {
    let mut query = SessionQuery {
        limit: 3,
        ..query.clone()
    };
    let mut found = Vec::new();
    loop {
        let page = store.sessions(&query).unwrap();
        found.extend(page.items.into_iter().map(|session| session.id));
        match page.next {
            Some(next) => query.after = Some(next),
            None => return found,
        }
    }
}

#[test]
fn every_store_lists_the_same_in_every_order() {
    let (one, other, policy) = (Place::new(), Place::new(), policy());
    let stores: [&dyn Store; 3] = [&MemoryStore::new().unwrap(), &owned(&one), &shared(&other)];
    for store in stores {
        let mut stream = Stream::new(9);
        for _ in 0..300 {
            // One that names a generation to come is refused by all alike.
            let _ = store.decide(draft(stream.observation(), &policy));
        }
    }
    let [memory, others @ ..] = stores;
    for sort in SORTS {
        for ascending in [true, false] {
            for (state, contains) in [
                (None, None),
                (Some(SessionState::Active), None),
                (None, Some("1")),
            ] {
                let query = SessionQuery {
                    sort,
                    ascending,
                    state,
                    contains: contains.map(str::to_owned),
                    ..SessionQuery::default()
                };
                let listed = all(memory, &query);
                assert!(!listed.is_empty(), "{query:?}");
                for store in others {
                    assert_eq!(all(store, &query), listed, "{query:?}");
                }
            }
        }
    }
}
