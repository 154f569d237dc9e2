//! The team's key: its public half, which members trust, and its secret half, which signs.

use std::fmt;
use std::str::FromStr;

use callgate_wire::hex::{hex_digits, parse_hex_digits};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::hex::deserialize_digits;

/// The public half of a team's key (Ed25519), written as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TeamKey([u8; 32]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a team's key is 64 hex digits, as `callgate team rules sign` prints it")]
pub struct NotATeamKey;

impl TeamKey {
    /// Returns true if the secret half of this key has signed `message`.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, signature).is_ok()
    }
}

impl fmt::Display for TeamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex_digits(&self.0))
    }
}

impl fmt::Debug for TeamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for TeamKey {
    type Err = NotATeamKey;

    fn from_str(text: &str) -> Result<Self, NotATeamKey> {
        parse_hex_digits(text.trim()).map(Self).ok_or(NotATeamKey)
    }
}

impl Serialize for TeamKey {
    fn serialize<S: Serializer>(&self, target: S) -> Result<S::Ok, S::Error> {
        target.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TeamKey {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        deserialize_digits(source).map(Self)
    }
}

pub struct TeamSigner {
    pair: Ed25519KeyPair,
}

impl TeamSigner {
    /// Returns the key that belongs to a seed, which nobody else may know or guess. Returns `None`
    /// if the seed is not accepted; no such seed is known.
    pub fn from_seed(seed: &[u8; 32]) -> Option<Self> {
        // Unchecked refers to a public key that would be kept beside the seed. Only the seed is
        // kept.
        Ed25519KeyPair::from_seed_unchecked(seed).ok().map(|pair| Self { pair })
    }

    pub fn public_key(&self) -> TeamKey {
        let mut key = [0; 32];
        // A public key of Ed25519 always has 32 bytes, so the lengths are equal.
        key.copy_from_slice(self.pair.public_key().as_ref());
        TeamKey(key)
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; 64] {
        let mut signature = [0; 64];
        // A signature of Ed25519 always has 64 bytes.
        signature.copy_from_slice(self.pair.sign(message).as_ref());
        signature
    }
}

impl fmt::Debug for TeamSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamSigner").field("key", &self.public_key()).finish_non_exhaustive()
    }
}
