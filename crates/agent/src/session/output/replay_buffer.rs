//! The last lines that were sent, for `replay`.

use std::collections::VecDeque;

/// How many bytes are kept for a front end that can ask for them.
const KEPT: usize = 1024 * 1024;
/// How many bytes are kept before `hello`.
const KEPT_AT_FIRST: usize = 64 * 1024;

/// The last lines with their numbers. A line that is larger than the whole buffer is not kept.
#[derive(Debug)]
pub(super) struct ReplayBuffer {
    most: usize,
    bytes: VecDeque<u8>,
    lengths: VecDeque<usize>,
    next: u64,
}

impl Default for ReplayBuffer {
    fn default() -> Self {
        let (bytes, lengths) = (VecDeque::new(), VecDeque::new());
        Self { most: KEPT_AT_FIRST, bytes, lengths, next: 1 }
    }
}

impl ReplayBuffer {
    /// Keeps the largest number of bytes from now on.
    pub(super) fn widen(&mut self) {
        self.most = KEPT;
    }

    /// Keeps a line with its newline.
    pub(super) fn push(&mut self, seq: u64, line: &[u8]) {
        self.next = seq + 1;
        self.bytes.extend(line);
        self.lengths.push_back(line.len());
        while self.bytes.len() > self.most {
            let Some(length) = self.lengths.pop_front() else { break };
            self.bytes.drain(..length);
        }
    }

    fn oldest(&self) -> u64 {
        self.next - self.lengths.len() as u64
    }

    /// Copies all lines from this number on, each with its number. The error is the oldest number
    /// that is kept, if this one is not.
    pub(super) fn copy(&self, from: u64, into: &mut Vec<u8>) -> Result<(), u64> {
        let oldest = self.oldest();
        if from < oldest {
            return Err(oldest);
        }
        let mut start = 0;
        for (seq, length) in (oldest..).zip(&self.lengths) {
            if seq >= from {
                let line: Vec<u8> = self.bytes.range(start..start + length).copied().collect();
                append_numbered(&line, seq, into);
            }
            start += length;
        }
        Ok(())
    }
}

/// Appends a line with its number, which lines from before `hello` do not have. A number is always
/// the last member of a line.
fn append_numbered(line: &[u8], seq: u64, into: &mut Vec<u8>) {
    let number = format!(",\"seq\":{seq}}}\n");
    match line.strip_suffix(b"}\n") {
        Some(open) if !line.ends_with(number.as_bytes()) => {
            into.extend_from_slice(open);
            into.extend_from_slice(number.as_bytes());
        }
        _ => into.extend_from_slice(line),
    }
}
