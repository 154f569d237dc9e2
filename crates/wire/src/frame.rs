//! Splits a byte stream into messages: lines ([`LineDecoder`]) or length-prefixed frames
//! ([`FrameDecoder`]).
//!
//! A decoder owns its buffer, so a cancelled read loses nothing. A driver asks for
//! [`space`](LineDecoder::space), reads into it, reports how much was
//! [`filled`](LineDecoder::mark_filled), and takes frames until there are none. Any chunking of the
//! same bytes yields the same frames.

mod buffer;
mod lines;
mod prefixed;
#[cfg(test)]
mod tests;

pub use lines::{DecodedLine, LineDecoder, OverlongLine};
pub use prefixed::{CutFrame, FrameDecoder, OversizedFrame, PREFIX, length_prefix};
