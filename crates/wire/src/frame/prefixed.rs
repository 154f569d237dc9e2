//! The decoder of messages that follow their length: four bytes, big-endian.

use super::buffer::Buffer;

pub const PREFIX: usize = 4;
/// How much is allocated for a frame of which only the length has arrived.
const FIRST_SPACE: usize = 64 * 1024;

/// Splits a stream into frames of at most `limit` payload bytes.
///
/// A frame over the limit is refused as soon as its length is known, before anything is allocated
/// for it. Nothing more can be read from the stream then: close it.
#[derive(Debug)]
pub struct FrameDecoder {
    buffer: Buffer,
    limit: usize,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct OversizedFrame {
    /// The size it announced.
    pub size: usize,
    pub limit: usize,
}

/// A stream that ended in the middle of a frame.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct CutFrame {
    /// How many bytes of the unfinished frame had arrived, prefix included.
    pub received: usize,
}

impl std::fmt::Display for OversizedFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a message of {} bytes is over the limit of {} bytes", self.size, self.limit)
    }
}

impl std::error::Error for OversizedFrame {}

impl std::fmt::Display for CutFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the stream ended inside a message, after {} bytes of it", self.received)
    }
}

impl std::error::Error for CutFrame {}

/// Returns the length prefix of a payload of `length` bytes, unless it is over `limit`.
pub fn length_prefix(length: usize, limit: usize) -> Result<[u8; PREFIX], OversizedFrame> {
    let too_large = OversizedFrame { size: length, limit };
    if length > limit {
        return Err(too_large);
    }
    // A limit above 4 GiB does not make a longer frame representable.
    u32::try_from(length).map(u32::to_be_bytes).map_err(|_| too_large)
}

impl FrameDecoder {
    /// Creates a decoder for payloads of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: Buffer::default(), limit }
    }

    /// Returns room to read into; never empty. It grows with what has arrived, up to the rest of
    /// the frame: a length alone costs nothing.
    pub fn space(&mut self) -> &mut [u8] {
        let pending = self.buffer.pending().len();
        let missing = match self.announced_size() {
            Ok(Some(length)) => (PREFIX + length).saturating_sub(pending),
            // `next_frame` reports an oversized frame. Nothing may be allocated for its payload.
            Ok(None) | Err(_) => 0,
        };
        self.buffer.space(missing.min(pending.max(FIRST_SPACE)))
    }

    /// Marks `count` bytes of the last [`space`](Self::space) as received.
    pub fn mark_filled(&mut self, count: usize) {
        self.buffer.mark_filled(count);
    }

    /// Appends a chunk that is already in memory.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    /// Returns true if a whole frame has arrived.
    pub fn is_ready(&self) -> Result<bool, OversizedFrame> {
        Ok(self
            .announced_size()?
            .is_some_and(|length| self.buffer.pending().len() >= PREFIX + length))
    }

    /// Returns the payload of the next whole frame, if one has arrived. It may be changed in place.
    pub fn next_frame(&mut self) -> Result<Option<&mut [u8]>, OversizedFrame> {
        match self.announced_size()? {
            Some(length) if self.buffer.pending().len() >= PREFIX + length => {
                Ok(Some(&mut self.buffer.take_bytes(PREFIX + length)[PREFIX..]))
            }
            _ => Ok(None),
        }
    }

    /// Returns how many bytes have arrived and not been taken.
    pub fn buffered(&self) -> usize {
        self.buffer.pending().len()
    }

    /// Returns an error if the stream ends inside a frame.
    pub fn finish(&self) -> Result<(), CutFrame> {
        match self.buffer.pending().len() {
            0 => Ok(()),
            received => Err(CutFrame { received }),
        }
    }

    fn announced_size(&self) -> Result<Option<usize>, OversizedFrame> {
        let Some(prefix) = self.buffer.pending().first_chunk::<PREFIX>() else { return Ok(None) };
        let size = u32::from_be_bytes(*prefix) as usize;
        if size > self.limit {
            Err(OversizedFrame { size, limit: self.limit })
        } else {
            Ok(Some(size))
        }
    }
}
