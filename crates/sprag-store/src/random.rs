//! Fresh flow ids and store secrets.

use sprag_core::Id;

use crate::error::StoreError;

/// A correlation id that nobody can guess: 128 random bits.
pub(crate) fn fresh_flow() -> Result<Id, StoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(StoreError::Random)?;
    let text = format!("{:032x}", u128::from_be_bytes(bytes));
    Id::new(&text).map_err(|error| StoreError::Damaged {
        place: "a fresh id".to_owned(),
        what: error.to_string(),
    })
}

/// The secret of a new store.
pub(crate) fn secret() -> Result<[u8; 32], StoreError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(StoreError::Random)?;
    Ok(bytes)
}
