//! A line that has come, or is to be sent.

use std::sync::Arc;

use callgate_wire::frame::DecodedLine;

/// How many lines may wait to be sent. Sending never waits, so a line whose other end falls behind
/// by more ends.
pub(crate) const MOST_UNSENT: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineArrival {
    Line(Vec<u8>),
    /// A line that was dropped because it is too long.
    TooLong {
        /// How many bytes it has.
        size: usize,
    },
    /// So much is on its way from all machines that this one has to end.
    NoRoom,
}

impl LineArrival {
    /// Returns how many bytes of it are in memory.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Line(line) => line.len(),
            Self::TooLong { .. } | Self::NoRoom => 0,
        }
    }
}

/// A line to be sent, which may go to many machines. Rules have up to 2 MiB, so all lines send one
/// copy.
pub type SharedLine = Arc<Vec<u8>>;

impl From<DecodedLine<'_>> for LineArrival {
    fn from(line: DecodedLine<'_>) -> Self {
        match line {
            DecodedLine::Whole(line) => Self::Line(line.to_vec()),
            DecodedLine::TooLong(line) => Self::TooLong { size: line.size },
        }
    }
}
