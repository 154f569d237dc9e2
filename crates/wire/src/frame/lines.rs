//! The decoder of messages that end with a newline.

use memchr::memchr;

use super::buffer::Buffer;
use crate::scan::IdScan;

/// Splits a stream into lines of at most `limit` bytes.
///
/// A line ends with `\n` or `\r\n`; blank lines are ignored. A line over the limit is dropped while
/// it arrives, and reported with its size and its `id`, so that its sender can be notified.
#[derive(Debug)]
pub struct LineDecoder {
    buffer: Buffer,
    limit: usize,
    /// How many of the pending bytes have been searched for a newline, so that a long line is not
    /// searched again for each piece of it.
    searched: usize,
    dropping: Option<DroppedPart>,
    has_skipped_blank: bool,
}

/// The part so far of a line that is over the limit and still arriving.
#[derive(Debug, Default)]
struct DroppedPart {
    size: usize,
    scan: IdScan,
}

#[derive(Debug, PartialEq, Eq)]
pub enum DecodedLine<'a> {
    /// A line within the limit, without its line end.
    Whole(&'a [u8]),
    /// A line over the limit; its bytes are gone.
    TooLong(OverlongLine),
}

impl DecodedLine<'_> {
    /// Returns its length in bytes, without the line end.
    pub fn size(&self) -> usize {
        match self {
            Self::Whole(line) => line.len(),
            Self::TooLong(line) => line.size,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct OverlongLine {
    /// Its length in bytes, without the line end.
    pub size: usize,
    /// Its top-level `id`, as JSON text, if it had a readable one.
    pub id: Option<String>,
}

impl LineDecoder {
    /// Creates a decoder for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: Buffer::default(),
            limit,
            searched: 0,
            dropping: None,
            has_skipped_blank: false,
        }
    }

    /// Returns room to read into; never empty.
    pub fn space(&mut self) -> &mut [u8] {
        self.buffer.space(0)
    }

    /// Marks `count` bytes of the last [`space`](Self::space) as received.
    pub fn mark_filled(&mut self, count: usize) {
        self.buffer.mark_filled(count);
    }

    /// Appends a chunk that is already in memory.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.push(chunk);
    }

    /// Returns how many bytes have arrived and not been taken.
    pub fn buffered(&self) -> usize {
        self.buffer.pending().len()
    }

    /// Returns true if the line that is arriving is already over the limit.
    pub fn is_dropping(&self) -> bool {
        self.dropping.is_some()
    }

    /// Returns true if a blank line has been skipped, for protocols in which that is an error.
    pub fn has_skipped_blank(&self) -> bool {
        self.has_skipped_blank
    }

    /// Returns the next whole line, if one has arrived.
    pub fn next_frame(&mut self) -> Option<DecodedLine<'_>> {
        loop {
            let pending = self.buffer.pending();
            let Some(offset) = memchr(b'\n', &pending[self.searched..]) else {
                self.searched = pending.len();
                self.drop_if_over();
                return None;
            };
            let length = self.searched + offset;
            self.searched = 0;
            if self.dropping.is_some() || is_over(&pending[..length], self.limit) {
                // The size and the id count the rest of the line, too, so this comes before it is
                // taken.
                let line = self.end_dropped_line(length);
                self.buffer.take_bytes(length + 1);
                return Some(DecodedLine::TooLong(line));
            }
            if !is_blank(&pending[..length]) {
                return Some(DecodedLine::Whole(trim_line_end(
                    &self.buffer.take_bytes(length + 1)[..length],
                )));
            }
            self.buffer.take_bytes(length + 1);
            self.has_skipped_blank = true;
        }
    }

    /// Returns the last line, if the stream has ended without a newline.
    pub fn finish(&mut self) -> Option<DecodedLine<'_>> {
        let length = self.buffer.pending().len();
        self.searched = 0;
        if self.dropping.is_some() || is_over(self.buffer.pending(), self.limit) {
            let line = self.end_dropped_line(length);
            self.buffer.clear();
            return Some(DecodedLine::TooLong(line));
        }
        let last = trim_line_end(self.buffer.take_bytes(length));
        (!is_blank(last)).then_some(DecodedLine::Whole(last))
    }

    /// Drops the beginning of a line once it is certainly over the limit. One byte more than the
    /// limit is not certain: it may be the `\r` of the line end.
    fn drop_if_over(&mut self) {
        let pending = self.buffer.pending();
        if self.dropping.is_none() && pending.len() <= self.limit + 1 {
            return;
        }
        // The last byte stays: only the next one tells whether it belongs to the line end.
        let count = pending.len() - 1;
        let dropping = self.dropping.get_or_insert_default();
        dropping.add_bytes(&pending[..count]);
        self.buffer.take_bytes(count);
        self.searched = 1;
    }

    /// Ends the dropped line with the first `length` pending bytes.
    fn end_dropped_line(&mut self, length: usize) -> OverlongLine {
        let mut dropping = self.dropping.take().unwrap_or_default();
        dropping.add_bytes(trim_line_end(&self.buffer.pending()[..length]));
        OverlongLine { size: dropping.size, id: dropping.scan.finish() }
    }
}

impl DroppedPart {
    fn add_bytes(&mut self, bytes: &[u8]) {
        self.size += bytes.len();
        self.scan.push(bytes);
    }
}

fn trim_line_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_over(line: &[u8], limit: usize) -> bool {
    trim_line_end(line).len() > limit
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}
