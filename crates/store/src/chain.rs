//! The chain: what is hashed, and how its end is written down. Pure.

use std::fmt::{self, Display};
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// What stands first in everything that is hashed, so that no other program's hash is one of ours.
const DOMAIN: &[u8] = b"callgate ledger 1\n";

/// A SHA-256, written in 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// What the first entry follows.
    pub(crate) const NONE: Self = Self([0; 32]);
}

impl Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = NotAHead;

    fn from_str(text: &str) -> Result<Self, NotAHead> {
        let mut hash = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(NotAHead);
        }
        for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = str::from_utf8(digits).map_err(|_| NotAHead)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NotAHead)?;
        }
        Ok(Self(hash))
    }
}

/// The end of a chain: the number of its last entry, and that entry's hash. Noted elsewhere, it
/// tells later whether what it stood for is still there; it is written `SEQ:HASH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last entry's number, or 0 when there was none.
    pub seq: u64,
    /// Its hash.
    pub hash: [u8; 32],
}

impl Head {
    pub(crate) const NONE: Self = Self { seq: 0, hash: Hash::NONE.0 };
}

impl Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, Hash(self.hash))
    }
}

/// A text that is no head of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a head is a number, a colon and 64 hex digits, as `callgate log --verify` prints it")]
pub struct NotAHead;

impl FromStr for Head {
    type Err = NotAHead;

    fn from_str(text: &str) -> Result<Self, NotAHead> {
        let (seq, hash) = text.trim().split_once(':').ok_or(NotAHead)?;
        let is_number = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
        let seq = seq.parse().ok().filter(|_| is_number).ok_or(NotAHead)?;
        Ok(Self { seq, hash: hash.parse::<Hash>()?.0 })
    }
}

/// What an entry says, as bytes: a damaged one need not be text.
pub(crate) struct Content<'a> {
    pub(crate) seq: u64,
    pub(crate) at_ms: i64,
    pub(crate) kind: &'a [u8],
    pub(crate) question: Option<&'a [u8]>,
    pub(crate) body: &'a [u8],
}

/// The hash of an entry that follows `previous`.
pub(crate) fn link(previous: &[u8; 32], content: &Content<'_>) -> [u8; 32] {
    Linker::default().link(previous, content)
}

/// Computes the hashes of entries, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Linker {
    /// What is hashed, in one piece: many small pieces take twice the time.
    bytes: Vec<u8>,
}

impl Linker {
    /// Returns the hash of an entry that follows `previous`. Every part of varying length has its
    /// length before it, so that no two contents give the same bytes.
    pub(crate) fn link(&mut self, previous: &[u8; 32], content: &Content<'_>) -> [u8; 32] {
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
        part(if content.question.is_some() { b"1" } else { b"0" });
        part(content.question.unwrap_or_default());
        part(content.body);
        Sha256::digest(&self.bytes).into()
    }
}

#[cfg(test)]
mod tests;
