//! The output of a command, of which only the first and the last part are kept.

use std::collections::VecDeque;

use callgate_mask::text::counted_noun;

/// The beginning and the end of one stream.
#[derive(Debug)]
pub(super) struct KeptOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// The limit of each of the two, in bytes.
    half: usize,
    total: u64,
}

impl KeptOutput {
    /// Creates an empty value that keeps at most about `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: most.div_ceil(2), total: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) =
            bytes.split_at(bytes.len().min(self.half.saturating_sub(self.head.len())));
        self.head.extend_from_slice(first);
        // Cut before it is appended, so that one large piece does not make the buffer grow.
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let too_many = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..too_many);
        self.tail.extend(rest);
    }

    /// Returns the output in at most `most` bytes of text, with a note about what is left out, if
    /// anything is. Bytes that are not UTF-8 are replaced.
    pub(super) fn text(&mut self, most: usize) -> (String, bool) {
        let tail = self.tail.make_contiguous();
        let is_whole = self.total == (self.head.len() + tail.len()) as u64;
        if is_whole {
            self.head.extend_from_slice(tail);
            self.tail.clear();
            let text = String::from_utf8_lossy(&self.head);
            // Replaced bytes take three each, so the text may be longer than the output.
            if text.len() <= most {
                return (text.into_owned(), false);
            }
        }
        let (first, used) = longest_beginning(&self.head, most / 2);
        let (head, tail) = (&self.head[used..], self.tail.make_contiguous());
        let (last, used_last) = longest_ending(if is_whole { head } else { tail }, most / 2);
        let left_out = self.total - (used + used_last) as u64;
        let left_out = counted_noun(left_out, "byte");
        (format!("{first}\n… {left_out} left out …\n{last}"), true)
    }
}

/// Returns the longest beginning whose text has at most `most` bytes, and the number of its
/// original bytes.
fn longest_beginning(bytes: &[u8], most: usize) -> (String, usize) {
    let mut end = bytes.len().min(most);
    loop {
        end -= unfinished_bytes(&bytes[..end]);
        let text = String::from_utf8_lossy(&bytes[..end]);
        if text.len() <= most {
            return (text.into_owned(), end);
        }
        // A byte becomes three at most.
        end -= (text.len() - most).div_ceil(3).min(end);
    }
}

/// Returns the same from the end.
fn longest_ending(bytes: &[u8], most: usize) -> (String, usize) {
    let mut start = bytes.len() - bytes.len().min(most);
    loop {
        start += bytes[start..].iter().take(3).take_while(|byte| is_inner(**byte)).count();
        let text = String::from_utf8_lossy(&bytes[start..]);
        if text.len() <= most {
            return (text.into_owned(), bytes.len() - start);
        }
        start += (text.len() - most).div_ceil(3).min(bytes.len() - start);
    }
}

/// Returns true if this is a continuation byte of a character.
pub(super) fn is_inner(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Returns the number of bytes of an incomplete character at the end.
pub(super) fn unfinished_bytes(bytes: &[u8]) -> usize {
    let Some(back) = bytes.iter().rev().take(3).position(|byte| !is_inner(*byte)) else { return 0 };
    let needed = match bytes[bytes.len() - 1 - back] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    if needed > back + 1 { back + 1 } else { 0 }
}

#[cfg(test)]
mod tests;
