//! What the fuzz targets run of what this crate keeps to itself.

pub use crate::relay::fuzz::relay_body;
