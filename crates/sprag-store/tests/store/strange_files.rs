//! Files that are something else, of a newer build, or damaged.

use rusqlite::Connection;
use sprag_store::{OwnedSqlite, SharedSqlite, SqliteOptions, Store, StoreError};

use crate::observations::{call, draft, policy};
use crate::place::Place;
use crate::sqlite::{owned, shared};

fn open(place: &Place) -> Result<SharedSqlite, StoreError> {
    SharedSqlite::open(&place.db(), &SqliteOptions::default())
}

#[test]
fn foreign_files_are_refused_and_left_as_they_are() {
    let place = Place::new();
    std::fs::write(
        place.db(),
        "my shopping list, which is quite long. ".repeat(99),
    )
    .unwrap();
    let before = std::fs::read(place.db()).unwrap();
    let error = open(&place).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .ends_with("is not a Sprag store: it is no database; it was left as it is")
    );
    assert_eq!(std::fs::read(place.db()).unwrap(), before);

    let place = Place::new();
    let other = Connection::open(place.db()).unwrap();
    other
        .execute("CREATE TABLE recipes(name TEXT)", [])
        .unwrap();
    drop(other);
    let before = std::fs::read(place.db()).unwrap();
    let error = open(&place).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    let error = OwnedSqlite::open(&place.db(), &SqliteOptions::default()).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
    assert_eq!(std::fs::read(place.db()).unwrap(), before);
}

#[test]
fn files_of_a_newer_build_are_left_alone() {
    let place = Place::new();
    drop(shared(&place));
    let conn = Connection::open(place.db()).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    let error = open(&place).unwrap_err().to_string();
    assert!(
        error.ends_with("has schema 99, this build knows 3; use a newer `sprag`"),
        "{error}"
    );
    conn.pragma_update(None, "user_version", 3).unwrap();
    conn.execute("UPDATE head SET rules_version = 99", [])
        .unwrap();
    let refused = open(&place)
        .unwrap()
        .decide(draft(call(1, "a", 1), &policy()));
    assert!(
        matches!(refused, Err(StoreError::Newer { what: "rules", .. })),
        "{refused:?}"
    );
    let refused = OwnedSqlite::open(&place.db(), &SqliteOptions::default());
    assert!(
        matches!(refused, Err(StoreError::Newer { what: "rules", .. })),
        "{refused:?}"
    );
}

#[test]
fn a_damaged_file_is_an_error_never_a_panic() {
    let place = Place::new();
    let store = owned(&place);
    for at in 0..300 {
        store
            .decide(draft(call(at, &format!("s{}", at % 20), at), &policy()))
            .unwrap();
    }
    drop(store);
    let whole = std::fs::read(place.db()).unwrap();
    let mut noticed = 0;
    for start in (0..whole.len()).step_by(4_096) {
        let mut bytes = whole.clone();
        let end = (start + 4_096).min(bytes.len());
        bytes[start..end].fill(0x5a);
        std::fs::write(place.db(), &bytes).unwrap();
        let _ = std::fs::remove_file(place.db().with_extension("db-wal"));
        let _ = std::fs::remove_file(place.db().with_extension("db-shm"));
        let sound = open(&place).and_then(|store| {
            store.decide(draft(call(9_999, "s1", 1), &policy()))?;
            let view = store.view()?;
            sprag_store::verify(&*view, &sprag_store::read_policy)
        });
        noticed += usize::from(!sound.is_ok_and(|found| found.is_sound()));
    }
    assert!(
        noticed * 4_096 * 3 > whole.len(),
        "{noticed} of {}",
        whole.len() / 4_096
    );
}
