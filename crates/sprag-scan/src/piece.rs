//! What a file comes apart into: lines, or the elements of an array.

use std::io;

/// A piece, or the word that there was one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// It, without what stands between pieces.
    Text(&'a [u8]),
    /// It was longer than is read.
    TooLong,
}

/// The pieces of a file, one after the other.
pub(crate) trait PieceReader {
    /// Nothing but blanks is no piece.
    const SKIPS_BLANKS: bool;

    /// The number of the piece that was handed out last, from 1.
    fn number(&self) -> u64;

    /// The next one; none at the end.
    fn next(&mut self) -> io::Result<Option<Piece<'_>>>;
}
