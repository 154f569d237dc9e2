//! The growing buffer that both decoders read into.

/// The smallest room for a read; less is not worth a system call.
const LEAST_SPACE: usize = 16 * 1024;

/// The bytes that were received and not yet taken, `bytes[start..end]`.
///
/// Everything in `bytes` is initialised, so a plain `Read` can fill the rest without `unsafe`, and
/// nothing is zeroed again for each read.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    /// Returns the bytes received and not yet taken.
    pub(super) fn pending(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns room to read into, enough for `wanted` more bytes and never tiny.
    pub(super) fn space(&mut self, wanted: usize) -> &mut [u8] {
        let wanted = wanted.max(LEAST_SPACE);
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
        if self.bytes.len() - self.end < wanted {
            self.make_room(wanted);
        }
        &mut self.bytes[self.end..]
    }

    /// Moves the pending bytes to the front if that frees at least as much as it copies (so copying
    /// stays linear), and grows the buffer if that is not enough.
    fn make_room(&mut self, wanted: usize) {
        let pending = self.end - self.start;
        if self.start >= pending {
            self.bytes.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = pending;
        }
        if self.bytes.len() - self.end < wanted {
            // Grown by half, so that a long line is not copied again for each piece of it.
            self.bytes.resize(self.end + wanted.max(self.bytes.len() / 2), 0);
        }
    }

    /// Marks `count` bytes of the last [`space`](Self::space) as received.
    pub(super) fn mark_filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.bytes.len());
    }

    /// Appends `chunk`, for callers that already hold the bytes.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.space(chunk.len())[..chunk.len()].copy_from_slice(chunk);
        self.mark_filled(chunk.len());
    }

    /// Takes the first `count` pending bytes.
    pub(super) fn take_bytes(&mut self, count: usize) -> &mut [u8] {
        let start = self.start;
        self.start = (start + count).min(self.end);
        &mut self.bytes[start..self.start]
    }

    /// Drops everything pending.
    pub(super) fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }
}
