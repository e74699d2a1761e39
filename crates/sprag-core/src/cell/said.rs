//! What a model last said in a session.

/// The last answer, how often it came in a row, and how many answers repeated themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) words: u64,
    pub(crate) times: u16,
    pub(crate) chants: u16,
}

impl Said {
    /// Something else happened: the next answer begins a row.
    pub(crate) fn interrupted(&mut self) {
        self.times = 0;
    }
}
