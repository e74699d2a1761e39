//! The limits on what models say.

use super::limit::Limit;
use super::limits::Threshold;

/// `[output]`.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputLimits {
    /// So many copies of one unit in an answer are a chant.
    pub chant: Limit,
    /// The same words in a row.
    pub repeat: Threshold,
}

impl Default for OutputLimits {
    fn default() -> Self {
        Self {
            chant: Limit::of(8),
            repeat: Threshold::of(3, 5),
        }
    }
}
