//! The digester of this build: with a reader of effects, if the feature `effects` is on.

use sprag_core::{DigestKey, Digester};

/// A digester under `key`.
pub(crate) fn digester(key: DigestKey) -> Digester {
    let digester = Digester::new(key);
    #[cfg(feature = "effects")]
    let digester = digester.with_effects(std::sync::Arc::new(sprag_effects::CommandReader));
    digester
}
