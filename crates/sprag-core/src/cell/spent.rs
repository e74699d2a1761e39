//! Tokens and money spent, on which models, what is reserved, and which budgets were already warned about.
//!
//! Bounded by: [`MAX_MODELS`] models by name, the rest as one; [`MAX_RESERVED`] reservations, of which
//! the one that expires first is forgotten for a new one.

use crate::id::Id;
use crate::time::{Millis, Timestamp};

/// This many models are kept apart.
pub(crate) const MAX_MODELS: usize = 4;
/// This many reservations are kept.
pub(crate) const MAX_RESERVED: usize = 64;
/// How long a reservation counts if nothing settles it.
pub(crate) const RESERVED_FOR: Millis = Millis(10 * Millis::MINUTE.0);

/// What was spent in one scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Spending {
    /// All but what came from a provider's cache.
    pub(crate) tokens: u64,
    pub(crate) cost_micros: u64,
    pub(crate) cache_read_tokens: u64,
    /// Tokens of models without a known price.
    pub(crate) unpriced_tokens: u64,
    /// One bit a budget.
    pub(super) warned: u8,
    /// In the order in which they were first used; the last one stands for all others if it has no name.
    pub(crate) models: Vec<ModelSpending>,
    pub(super) reserved: Vec<Reservation>,
}

/// What was spent on one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelSpending {
    /// None stands for all models that are not kept apart.
    pub(crate) model: Option<Id>,
    pub(crate) tokens: u64,
    pub(crate) cost_micros: u64,
}

/// What a request that is under way may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reservation {
    pub(super) id: u64,
    pub(super) tokens: u64,
    pub(super) cost_micros: u64,
    pub(super) until: Timestamp,
}

/// What one usage adds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Amount<'u> {
    pub(crate) model: Option<&'u Id>,
    pub(crate) tokens: u64,
    pub(crate) cost_micros: u64,
    pub(crate) cache_read_tokens: u64,
    pub(crate) unpriced: bool,
}

impl Spending {
    /// What a new session has spent.
    pub(super) const NOTHING: Self = Self {
        tokens: 0,
        cost_micros: 0,
        cache_read_tokens: 0,
        unpriced_tokens: 0,
        warned: 0,
        models: Vec::new(),
        reserved: Vec::new(),
    };

    pub(crate) fn add(&mut self, amount: Amount<'_>) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.tokens, amount.tokens);
        add(&mut self.cost_micros, amount.cost_micros);
        add(&mut self.cache_read_tokens, amount.cache_read_tokens);
        if amount.unpriced {
            add(&mut self.unpriced_tokens, amount.tokens);
        }
        let Some(model) = amount.model else {
            return;
        };
        let known = |held: &ModelSpending| held.model.as_ref() == Some(model);
        let at = match self.models.iter().position(known) {
            Some(at) => at,
            None => self.new_model(model),
        };
        if let Some(held) = self.models.get_mut(at) {
            add(&mut held.tokens, amount.tokens);
            add(&mut held.cost_micros, amount.cost_micros);
        }
    }

    /// A place for `model`: its own, or the one for all others.
    fn new_model(&mut self, model: &Id) -> usize {
        let named = self.models.len() < MAX_MODELS;
        if self.models.len() <= MAX_MODELS {
            self.models.push(ModelSpending {
                model: Some(model.clone()).filter(|_| named),
                tokens: 0,
                cost_micros: 0,
            });
        }
        self.models.len().saturating_sub(1)
    }

    /// Holds `amount` back until it is settled or expires.
    pub(crate) fn reserve(&mut self, id: u64, amount: Amount<'_>, now: Timestamp) {
        self.settle(id, now);
        if self.reserved.len() >= MAX_RESERVED {
            let first = self.reserved.iter().enumerate();
            let first = first.min_by_key(|(_, held)| held.until).map(|(at, _)| at);
            if let Some(at) = first {
                self.reserved.remove(at);
            }
        }
        self.reserved.push(Reservation {
            id,
            tokens: amount.tokens,
            cost_micros: amount.cost_micros,
            until: now.plus(RESERVED_FOR),
        });
    }

    /// Forgets a reservation, and all that have expired.
    pub(crate) fn settle(&mut self, id: u64, now: Timestamp) {
        self.reserved
            .retain(|held| held.id != id && held.until > now);
    }

    /// Tokens and money that others than `id` have reserved.
    pub(crate) fn reserved_beside(&self, id: u64, now: Timestamp) -> (u64, u64) {
        let live = |held: &&Reservation| held.id != id && held.until > now;
        let sum = |(tokens, cost): (u64, u64), held: &Reservation| {
            (
                tokens.saturating_add(held.tokens),
                cost.saturating_add(held.cost_micros),
            )
        };
        self.reserved.iter().filter(live).fold((0, 0), sum)
    }

    /// Whether nothing was ever spent or reserved.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Warns about none of its budgets from now on.
    pub(super) fn warn_never(&mut self) {
        self.warned = u8::MAX;
    }

    /// Whether this is the first time that budget number `bit` is warned about.
    pub(crate) fn warn_once(&mut self, bit: u8) -> bool {
        let mask = 1 << bit;
        let first = self.warned & mask == 0;
        self.warned |= mask;
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_models_are_kept_apart_and_the_rest_together() {
        let mut spent = Spending::default();
        for n in 0..7_u64 {
            let model = Id::new(&format!("m{n}")).unwrap();
            for _ in 0..2 {
                spent.add(Amount {
                    model: Some(&model),
                    tokens: 1,
                    cost_micros: 10,
                    ..Amount::default()
                });
            }
        }
        let names: Vec<_> = spent
            .models
            .iter()
            .map(|held| (held.model.as_ref().map(Id::as_str), held.tokens))
            .collect();
        let (named, others) = names.split_at(MAX_MODELS);
        assert!(
            named
                .iter()
                .all(|(name, tokens)| name.is_some() && *tokens == 2)
        );
        assert_eq!(others, [(None, 6)]);
        assert_eq!((spent.tokens, spent.cost_micros), (14, 140));
    }

    #[test]
    fn a_reservation_counts_until_it_is_settled_replaced_or_ten_minutes_old() {
        let amount = |tokens| Amount {
            tokens,
            ..Amount::default()
        };
        let mut spent = Spending::default();
        let start = Timestamp(1_000);
        spent.reserve(1, amount(5), start);
        spent.reserve(2, amount(7), start);
        spent.reserve(2, amount(8), start);
        assert_eq!(spent.reserved_beside(0, start), (13, 0));
        assert_eq!(spent.reserved_beside(2, start), (5, 0));
        spent.settle(1, start);
        assert_eq!(spent.reserved_beside(0, start), (8, 0));
        let end = start.plus(RESERVED_FOR);
        assert_eq!(spent.reserved_beside(0, Timestamp(end.0 - 1)), (8, 0));
        assert_eq!(spent.reserved_beside(0, end), (0, 0));
    }

    #[test]
    fn no_more_reservations_than_the_bound_are_kept() {
        let mut spent = Spending::default();
        for id in 0..1000 {
            spent.reserve(id, Amount::default(), Timestamp(id));
        }
        assert_eq!(spent.reserved.len(), MAX_RESERVED);
    }
}
