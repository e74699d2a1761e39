//! What a request will cost, before it is sent: as much as the last answer of its session, else the
//! last one of the same model. A model that was never asked here is estimated by the size of the
//! request alone, and low: an estimate that is too high would refuse honest work.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::limits::MODELS;
use crate::request::Tokens;

/// A token is rarely longer than this.
const BYTES_A_TOKEN: usize = 8;

/// What answers of each model cost last.
#[derive(Debug, Default)]
pub(crate) struct Estimates {
    models: Mutex<HashMap<String, Tokens>>,
}

impl Estimates {
    /// What a first request of `bytes` to `model` will cost.
    pub(crate) fn first(&self, model: Option<&str>, bytes: usize) -> Tokens {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let known = model.and_then(|model| models.get(model)).copied();
        known.unwrap_or_else(|| Tokens {
            input: u64::try_from(bytes / BYTES_A_TOKEN).unwrap_or_default(),
            ..Tokens::default()
        })
    }

    /// An answer of `model` cost this much.
    pub(crate) fn learn(&self, model: &str, tokens: Tokens) {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if models.len() < MODELS || models.contains_key(model) {
            models.insert(model.to_owned(), tokens);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_estimated_by_its_last_answer_and_a_new_one_by_the_request() {
        let all = Estimates::default();
        assert_eq!(all.first(Some("m"), 800).input, 100);
        let cost = Tokens {
            output: 7,
            ..Tokens::default()
        };
        all.learn("m", cost);
        assert_eq!(all.first(Some("m"), 800), cost);
        assert_eq!(all.first(None, 80).input, 10);
    }

    #[test]
    fn models_are_bounded() {
        let all = Estimates::default();
        for n in 0..MODELS * 2 {
            all.learn(&n.to_string(), Tokens::default());
        }
        assert_eq!(all.models.lock().unwrap().len(), MODELS);
    }
}
