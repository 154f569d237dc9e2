//! Cuts a stream of bytes into server-sent events.
//!
//! The decoder owns its buffer, so a cancelled wait loses nothing. Any chunking of the same bytes
//! yields the same events. A line ends with LF, CRLF or CR; an event ends with a blank line. One
//! that has nothing but a name is ignored, one that is too long is reported and skipped, and an
//! incomplete one at the end of the stream is not returned.

use std::ops::Range;

use memchr::memchr2;

#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    limit: usize,
    buffer: Vec<u8>,
    /// The start of the current event in the buffer.
    start: usize,
    /// The start of its current line.
    line: usize,
    /// How far that line was searched for its end.
    searched: usize,
    /// The values of its `event`, `id` and `retry` lines.
    name: Range<usize>,
    id: Option<Range<usize>>,
    retry: Option<Range<usize>>,
    /// The value of its first `data` line.
    data: Option<Range<usize>>,
    /// All of its data if there is more than one line, otherwise empty.
    joined: Vec<u8>,
    /// Whether the last line ended with CR, so that an LF directly after it belongs to it.
    after_cr: bool,
    /// Whether no line has arrived yet, so that a byte order mark may follow.
    is_new: bool,
    /// Set while the rest of an event that is too long is skipped; true if the beginning of its
    /// current line was skipped already.
    skipping: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SseEvent<'a> {
    /// Its name; empty if it has none.
    pub(crate) name: &'a [u8],
    /// Its data, several lines joined by newlines.
    pub(crate) data: Option<&'a [u8]>,
    pub(crate) id: Option<&'a [u8]>,
    pub(crate) retry: Option<&'a [u8]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventTooLong;

impl SseDecoder {
    /// Creates a decoder of events of at most `limit` bytes, without their blank lines.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, is_new: true, ..Self::default() }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        // Never more bytes are moved than have arrived since, so the copying takes linear time.
        if self.start >= self.buffer.len() - self.start {
            self.drop_taken();
        }
        self.buffer.extend_from_slice(chunk);
    }

    /// Returns the next complete event. An event that is too long is an error, once.
    pub(crate) fn next_event(&mut self) -> Result<Option<SseEvent<'_>>, EventTooLong> {
        while let Some(line) = self.next_line() {
            let is_blank = line.is_empty();
            if let Some(is_begun) = self.skipping {
                self.skipping = (is_begun || !is_blank).then_some(false);
                self.start = self.line;
            } else if line.end - self.start > self.limit {
                self.skip(!is_blank);
                return Err(EventTooLong);
            } else if !is_blank {
                self.add_line(line);
            } else if self.has_content() {
                return Ok(Some(self.take_event()));
            } else {
                self.name = 0..0;
            }
            if self.name.is_empty() && !self.has_content() {
                // Nothing has arrived of the event so far; comments may be of any length.
                self.start = self.line;
            }
        }
        // Noticed before the event is whole, so that no more of it is held in memory.
        let is_over = self.skipping.is_none() && self.buffer.len() - self.start > self.limit;
        if is_over {
            self.skip(true);
        }
        if let Some(is_begun) = &mut self.skipping {
            *is_begun |= self.buffer.len() > self.line;
            self.buffer.clear();
            (self.start, self.line, self.searched) = (0, 0, 0);
        }
        if is_over { Err(EventTooLong) } else { Ok(None) }
    }

    /// Forgets the current event, the rest of which may still arrive.
    fn skip(&mut self, has_rest: bool) {
        self.skipping = has_rest.then_some(false);
        self.start = self.line;
        self.name = 0..0;
        (self.data, self.id, self.retry) = (None, None, None);
    }

    fn has_content(&self) -> bool {
        self.data.is_some() || self.id.is_some() || self.retry.is_some()
    }

    fn next_line(&mut self) -> Option<Range<usize>> {
        if self.after_cr && self.line < self.buffer.len() {
            self.after_cr = false;
            if self.buffer[self.line] == b'\n' {
                self.start += usize::from(self.start == self.line);
                self.line += 1;
            }
        }
        let from = self.searched.max(self.line);
        let Some(offset) = memchr2(b'\n', b'\r', &self.buffer[from..]) else {
            self.searched = self.buffer.len();
            return None;
        };
        let mut line = self.line..from + offset;
        self.after_cr = self.buffer[line.end] == b'\r';
        self.line = line.end + 1;
        if std::mem::take(&mut self.is_new) && self.buffer[line.clone()].starts_with(BOM) {
            line.start += BOM.len();
        }
        Some(line)
    }

    /// Adds a non-blank line to the event.
    fn add_line(&mut self, line: Range<usize>) {
        let bytes = &self.buffer[line.clone()];
        if let Some(skipped) = field_value_start(bytes, b"data") {
            let data = line.start + skipped..line.end;
            let Some(first) = &self.data else {
                self.joined.clear();
                self.data = Some(data);
                return;
            };
            if self.joined.is_empty() {
                self.joined.extend_from_slice(&self.buffer[first.clone()]);
            }
            self.joined.push(b'\n');
            self.joined.extend_from_slice(&self.buffer[data]);
        } else if let Some(skipped) = field_value_start(bytes, b"event") {
            self.name = line.start + skipped..line.end;
        } else if let Some(skipped) = field_value_start(bytes, b"id") {
            self.id = Some(line.start + skipped..line.end);
        } else if let Some(skipped) = field_value_start(bytes, b"retry") {
            self.retry = Some(line.start + skipped..line.end);
        }
    }

    /// Returns the event that a blank line completes.
    fn take_event(&mut self) -> SseEvent<'_> {
        let name = std::mem::replace(&mut self.name, 0..0);
        let (data, id, retry) = (self.data.take(), self.id.take(), self.retry.take());
        self.start = self.line;
        let bytes = |range| &self.buffer[range];
        let data = data.map(|data| if self.joined.is_empty() { bytes(data) } else { &self.joined });
        SseEvent { name: bytes(name), data, id: id.map(bytes), retry: retry.map(bytes) }
    }

    /// Releases the events that were returned.
    fn drop_taken(&mut self) {
        let count = std::mem::take(&mut self.start);
        self.buffer.drain(..count);
        let optional = [&mut self.data, &mut self.id, &mut self.retry].into_iter().flatten();
        for range in optional.chain([&mut self.name]) {
            *range = range.start.saturating_sub(count)..range.end.saturating_sub(count);
        }
        self.line -= count;
        self.searched = self.searched.saturating_sub(count);
    }
}

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Returns the start of the value, if the line is the field of that name.
fn field_value_start(line: &[u8], name: &[u8]) -> Option<usize> {
    match line.strip_prefix(name)? {
        [] => Some(name.len()),
        [b':', b' ', ..] => Some(name.len() + 2),
        [b':', ..] => Some(name.len() + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
