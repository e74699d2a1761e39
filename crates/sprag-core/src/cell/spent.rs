//! Tokens and money spent, and which budgets were already warned about.

/// What was spent in one scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spending {
    pub(crate) tokens: u64,
    pub(crate) cost_micros: u64,
    /// One bit a budget.
    pub(super) warned: u8,
}

impl Spending {
    pub(crate) fn add(&mut self, tokens: u64, cost_micros: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost_micros = self.cost_micros.saturating_add(cost_micros);
    }

    /// Whether this is the first time that budget number `bit` is warned about.
    pub(crate) fn warn_once(&mut self, bit: u8) -> bool {
        let mask = 1 << bit;
        let first = self.warned & mask == 0;
        self.warned |= mask;
        first
    }
}
