//! How much one walk may do, counted in bytes that are read, copied or parsed.
//!
//! The length of a text bounds nothing by itself: functions and loops repeat, a variable holds what another
//! holds twice, and each subshell has variables of its own.

/// What a walk may spend.
const MAX_BYTES: usize = 1 << 20;
/// What a command costs beside its text.
pub(crate) const COMMAND: usize = 256;

#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: MAX_BYTES }
    }
}

impl Budget {
    /// Takes `bytes`; false if there are not that many left, and from then on.
    pub(crate) fn spend(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => self.left = 0,
        }
        self.left > 0
    }
}
