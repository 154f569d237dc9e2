//! The hash chain: what is hashed, and how the end of the chain is written. Pure.

use std::fmt::{self, Display};
use std::str::FromStr;

use callgate_wire::hex::{hex_digits, parse_hex_digits};
use sha2::{Digest, Sha256};

/// The prefix of everything that is hashed, so that no other program's hash is valid here.
const DOMAIN: &[u8] = b"callgate ledger 1\n";

/// A SHA-256 hash, written as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256Hash(pub [u8; 32]);

impl Sha256Hash {
    /// The hash that the first entry follows.
    pub(crate) const NONE: Self = Self([0; 32]);

    pub fn hash_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl Display for Sha256Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex_digits(&self.0))
    }
}

impl fmt::Debug for Sha256Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl FromStr for Sha256Hash {
    type Err = NotAHead;

    fn from_str(text: &str) -> Result<Self, NotAHead> {
        parse_hex_digits(text).map(Self).ok_or(NotAHead)
    }
}

/// The end of a chain: the number of its last entry, and that entry's hash. A head that was noted
/// elsewhere shows later whether the chain still contains it. It is written `SEQ:HASH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHead {
    /// The last entry's number, or 0 when there was none.
    pub seq: u64,
    pub hash: [u8; 32],
}

impl ChainHead {
    /// The head that the first entry of a chain follows.
    pub const NONE: Self = Self { seq: 0, hash: Sha256Hash::NONE.0 };
}

impl Display for ChainHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, Sha256Hash(self.hash))
    }
}

/// The error for a text that is not a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a head is a number, a colon and 64 hex digits, as `callgate log --verify` prints it")]
pub struct NotAHead;

impl FromStr for ChainHead {
    type Err = NotAHead;

    fn from_str(text: &str) -> Result<Self, NotAHead> {
        let (seq, hash) = text.trim().split_once(':').ok_or(NotAHead)?;
        // `parse` alone would accept a plus, and one head would have two spellings.
        let is_number = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
        let seq = seq.parse().ok().filter(|_| is_number).ok_or(NotAHead)?;
        Ok(Self { seq, hash: hash.parse::<Sha256Hash>()?.0 })
    }
}

/// The content of an entry, as bytes: in a damaged file it need not be UTF-8.
pub(crate) struct EntryContent<'a> {
    pub(crate) seq: u64,
    pub(crate) at_ms: i64,
    pub(crate) kind: &'a [u8],
    pub(crate) question: Option<&'a [u8]>,
    pub(crate) body: &'a [u8],
}

pub(crate) fn hash_entry(previous: &[u8; 32], content: &EntryContent<'_>) -> [u8; 32] {
    Linker::default().hash_entry(previous, content)
}

/// Computes the hashes of entries, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Linker {
    /// The bytes to be hashed, in one piece: many small pieces take twice the time.
    bytes: Vec<u8>,
}

impl Linker {
    /// Returns the hash of an entry that follows `previous`. Each part is preceded by its length,
    /// so that no two contents give the same bytes.
    pub(crate) fn hash_entry(
        &mut self,
        previous: &[u8; 32],
        content: &EntryContent<'_>,
    ) -> [u8; 32] {
        self.bytes.clear();
        let mut part = |bytes: &[u8]| {
            self.bytes.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
            self.bytes.extend_from_slice(bytes);
        };
        part(DOMAIN);
        part(previous);
        part(&content.seq.to_be_bytes());
        part(&content.at_ms.to_be_bytes());
        part(content.kind);
        // An empty id is not the same as none.
        part(if content.question.is_some() { b"1" } else { b"0" });
        part(content.question.unwrap_or_default());
        part(content.body);
        Sha256::digest(&self.bytes).into()
    }
}

#[cfg(test)]
mod tests;
