//! The last lines that were sent, for a front end that wants them again.

use std::collections::VecDeque;

/// How many bytes of lines are kept for a front end that can ask for them.
const KEPT: usize = 1024 * 1024;
/// How many before it has said that it can.
const KEPT_AT_FIRST: usize = 64 * 1024;

/// The last lines, each with its number. One line that is larger than all that is kept is not.
#[derive(Debug)]
pub(super) struct ReplayBuffer {
    most: usize,
    bytes: VecDeque<u8>,
    lengths: VecDeque<usize>,
    /// The number of the next line.
    next: u64,
}

impl Default for ReplayBuffer {
    fn default() -> Self {
        let (bytes, lengths) = (VecDeque::new(), VecDeque::new());
        Self { most: KEPT_AT_FIRST, bytes, lengths, next: 1 }
    }
}

impl ReplayBuffer {
    /// From now on as much is kept as can be.
    pub(super) fn widen(&mut self) {
        self.most = KEPT;
    }

    /// Keeps a line, newline included.
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

    /// Copies all lines from this number on, each with its number in it; the oldest number that
    /// is left when that one is not.
    pub(super) fn copy(&self, from: u64, into: &mut Vec<u8>) -> Result<(), u64> {
        let oldest = self.oldest();
        if from < oldest {
            return Err(oldest);
        }
        let mut start = 0;
        for (seq, length) in (oldest..).zip(&self.lengths) {
            if seq >= from {
                let line: Vec<u8> = self.bytes.range(start..start + length).copied().collect();
                numbered(&line, seq, into);
            }
            start += length;
        }
        Ok(())
    }
}

/// A line with its number, which lines from before `hello` do not have.
fn numbered(line: &[u8], seq: u64, into: &mut Vec<u8>) {
    let number = format!(",\"seq\":{seq}}}\n");
    match line.strip_suffix(b"}\n") {
        Some(open) if !line.ends_with(number.as_bytes()) => {
            into.extend_from_slice(open);
            into.extend_from_slice(number.as_bytes());
        }
        _ => into.extend_from_slice(line),
    }
}
