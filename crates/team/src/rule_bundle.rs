//! A team's rules with a signature over them.

use std::fmt;

use callgate_wire::hex::hex_digits;
use serde::{Deserialize, Serialize, Serializer};

use crate::hex::deserialize_digits;
use crate::team_key::{TeamKey, TeamSigner};

/// The prefix of everything that is signed, so that a signature made for anything else is not valid
/// here.
const DOMAIN: &str = "callgate team rules 1";
/// The largest bundle, in bytes of JSON. The largest file of rules fits however it is escaped.
pub const LARGEST_BUNDLE: usize = 2 * 1024 * 1024;
pub const LONGEST_TEAM_NAME: usize = 64;

/// A team's rules: which, of when, and who has signed them. However a bundle was read, its own key
/// has signed it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedBundle")]
pub struct RuleBundle {
    team: String,
    serial: u64,
    signed_at_ms: i64,
    rules: String,
    key: TeamKey,
    #[serde(serialize_with = "serialize_signature")]
    signature: [u8; 64],
}

/// A bundle as it is written, before its signature is checked.
#[derive(Deserialize)]
struct UncheckedBundle {
    team: String,
    serial: u64,
    signed_at_ms: i64,
    rules: String,
    key: TeamKey,
    #[serde(deserialize_with = "deserialize_digits")]
    signature: [u8; 64],
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    #[error("it is not a bundle of rules: {0}")]
    Malformed(String),
    #[error("it is larger than {LARGEST_BUNDLE} bytes")]
    TooLarge,
    #[error(
        "a team's name is 1 to {LONGEST_TEAM_NAME} letters, digits, `-`, `_` and `.` without spaces"
    )]
    TeamName,
    #[error("its signature is wrong: it was altered, or the key {0} did not sign it")]
    Signature(TeamKey),
}

impl RuleBundle {
    /// Signs rules. A later bundle of the team needs a higher `serial`.
    pub fn sign(
        signer: &TeamSigner,
        team: &str,
        serial: u64,
        signed_at_ms: i64,
        rules: &str,
    ) -> Result<Self, BundleError> {
        check_team_name(team)?;
        let signature = signer.sign(&signed_bytes(team, serial, signed_at_ms, rules));
        let (team, rules) = (team.to_owned(), rules.to_owned());
        Ok(Self { team, serial, signed_at_ms, rules, key: signer.public_key(), signature })
    }

    /// Parses a bundle and checks that its own key has signed it. Whether that key is the team's is
    /// for [`TeamRules::take`](crate::TeamRules::take) to decide.
    pub fn from_json(text: &str) -> Result<Self, BundleError> {
        // The text may come from a server that need not be trusted.
        if text.len() > LARGEST_BUNDLE {
            return Err(BundleError::TooLarge);
        }
        let unchecked: UncheckedBundle = serde_json::from_str(text)
            .map_err(|error| BundleError::Malformed(error.to_string()))?;
        Self::try_from(unchecked)
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn team(&self) -> &str {
        &self.team
    }

    /// Returns the number by which bundles of the team are ordered.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns when it was signed, in milliseconds since 1970, by the clock of whoever signed it.
    pub fn signed_at_ms(&self) -> i64 {
        self.signed_at_ms
    }

    /// Returns the rules, in TOML.
    pub fn rules(&self) -> &str {
        &self.rules
    }

    /// Returns the key that has signed it.
    pub fn key(&self) -> TeamKey {
        self.key
    }

    /// Returns the bundle's name, as people see it in verdicts: `team acme, rules 7`.
    pub fn render_name(&self) -> String {
        format!("team {}, rules {}", self.team, self.serial)
    }
}

impl TryFrom<UncheckedBundle> for RuleBundle {
    type Error = BundleError;

    fn try_from(unchecked: UncheckedBundle) -> Result<Self, BundleError> {
        let UncheckedBundle { team, serial, signed_at_ms, rules, key, signature } = unchecked;
        // Before the signature, whose bytes are unambiguous only for a name without line ends.
        check_team_name(&team)?;
        if !key.has_signed(&signed_bytes(&team, serial, signed_at_ms, &rules), &signature) {
            return Err(BundleError::Signature(key));
        }
        Ok(Self { team, serial, signed_at_ms, rules, key, signature })
    }
}

impl fmt::Debug for RuleBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleBundle")
            .field("team", &self.team)
            .field("serial", &self.serial)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Returns what is signed. No two bundles have the same bytes: a team's name has no line end, and
/// neither has a number.
fn signed_bytes(team: &str, serial: u64, signed_at_ms: i64, rules: &str) -> Vec<u8> {
    format!("{DOMAIN}\n{team}\n{serial}\n{signed_at_ms}\n{rules}").into_bytes()
}

fn check_team_name(name: &str) -> Result<(), BundleError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let fits = (1..=LONGEST_TEAM_NAME).contains(&name.len()) && name.bytes().all(is_plain);
    if fits { Ok(()) } else { Err(BundleError::TeamName) }
}

fn serialize_signature<S: Serializer>(signature: &[u8; 64], target: S) -> Result<S::Ok, S::Error> {
    target.serialize_str(&hex_digits(signature))
}

#[cfg(test)]
mod tests;
