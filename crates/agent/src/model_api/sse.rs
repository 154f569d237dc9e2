//! Cuts a stream of bytes into server-sent events.
//!
//! The decoder owns its buffer, so a cancelled wait loses nothing. Any chunking of the same bytes
//! yields the same events. A line ends with LF, CRLF or CR; an event ends with a blank line, and
//! one without `data` is ignored. An incomplete event at the end of the stream is not returned.

use std::ops::Range;

use memchr::memchr2;

/// The longest event, without its blank line. The API's own events are far shorter; this leaves
/// room for a whole block in one event.
pub(crate) const LONGEST_EVENT: usize = 4 * 1024 * 1024;

/// Cuts a stream into events.
#[derive(Debug, Default)]
pub(super) struct SseDecoder {
    limit: usize,
    buffer: Vec<u8>,
    /// The start of the current event in the buffer.
    start: usize,
    /// The start of its current line.
    line: usize,
    /// How far that line was searched for its end.
    searched: usize,
    /// The value of its `event` line.
    name: Range<usize>,
    /// The value of its first `data` line.
    data: Option<Range<usize>>,
    /// All of its data if there is more than one line, otherwise empty.
    joined: Vec<u8>,
    /// Whether the last line ended with CR, so that an LF directly after it belongs to it.
    after_cr: bool,
    /// Whether no line has arrived yet, so that a byte order mark may follow.
    is_new: bool,
    is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SseEvent<'a> {
    /// Its name; empty if it has none.
    pub(super) name: &'a [u8],
    /// Its data, several lines joined by newlines.
    pub(super) data: &'a [u8],
}

/// The error for an event over the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventTooLong;

impl SseDecoder {
    /// Creates a decoder of events of at most [`LONGEST_EVENT`] bytes.
    pub(super) fn new() -> Self {
        Self::with_limit(LONGEST_EVENT)
    }

    fn with_limit(limit: usize) -> Self {
        Self { limit, is_new: true, ..Self::default() }
    }

    /// Adds bytes that have arrived.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        // Never more bytes are moved than have arrived since, so the copying takes linear time.
        if self.start >= self.buffer.len() - self.start {
            self.drop_taken();
        }
        self.buffer.extend_from_slice(chunk);
    }

    /// Returns the next complete event. After an event that is too long there are no more.
    pub(super) fn next_event(&mut self) -> Result<Option<SseEvent<'_>>, EventTooLong> {
        while !self.is_over
            && let Some(line) = self.next_line()
        {
            self.is_over = line.end - self.start > self.limit;
            if !line.is_empty() {
                self.read(line);
            } else if self.data.is_some() && !self.is_over {
                return Ok(Some(self.whole()));
            } else {
                self.name = 0..0;
            }
            if self.name.is_empty() && self.data.is_none() {
                // Nothing has arrived of the event so far; comments may be of any length.
                self.start = self.line;
            }
        }
        self.is_over |= self.buffer.len() - self.start > self.limit;
        if self.is_over { Err(EventTooLong) } else { Ok(None) }
    }

    /// Returns the next complete line, without its end.
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
    fn read(&mut self, line: Range<usize>) {
        let bytes = &self.buffer[line.clone()];
        if let Some(skipped) = value(bytes, b"data") {
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
        } else if let Some(skipped) = value(bytes, b"event") {
            self.name = line.start + skipped..line.end;
        }
    }

    /// Returns the event that a blank line completes.
    fn whole(&mut self) -> SseEvent<'_> {
        let name = std::mem::replace(&mut self.name, 0..0);
        let data = self.data.take().unwrap_or_default();
        self.start = self.line;
        let data = if self.joined.is_empty() { &self.buffer[data] } else { &self.joined };
        SseEvent { name: &self.buffer[name], data }
    }

    /// Releases the events that were returned.
    fn drop_taken(&mut self) {
        let count = std::mem::take(&mut self.start);
        self.buffer.drain(..count);
        for range in [&mut self.name].into_iter().chain(&mut self.data) {
            *range = range.start.saturating_sub(count)..range.end.saturating_sub(count);
        }
        self.line -= count;
        self.searched = self.searched.saturating_sub(count);
    }
}

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Returns the start of the value, if the line is the field of that name.
fn value(line: &[u8], name: &[u8]) -> Option<usize> {
    match line.strip_prefix(name)? {
        [] => Some(name.len()),
        [b':', b' ', ..] => Some(name.len() + 2),
        [b':', ..] => Some(name.len() + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
