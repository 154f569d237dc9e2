//! The rules of the team to which a machine belongs: the key that it trusts, and the newest bundle.

use serde::{Deserialize, Serialize};

use crate::rule_bundle::{BundleError, LARGEST_BUNDLE, RuleBundle};
use crate::team_key::TeamKey;

/// The key that a machine trusts, the bundle that it has taken last, and where newer ones are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedRules")]
pub struct TeamRules {
    key: TeamKey,
    bundle: Option<RuleBundle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// What is kept, before it is known that the bundle is signed with the key beside it.
#[derive(Deserialize)]
struct UncheckedRules {
    key: TeamKey,
    bundle: Option<RuleBundle>,
    source: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenBundle {
    /// It replaces an older one, or is the first.
    New,
    /// It is the one that applies already.
    Same,
}

/// Why a bundle is not taken. What applied before still does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleRefusal {
    #[error(transparent)]
    Broken(#[from] BundleError),
    #[error("it is signed with another key than the team's: {signed}, not {trusted}")]
    ForeignKey { signed: TeamKey, trusted: TeamKey },
    #[error("it is of the team `{named}`, and this machine belongs to the team `{joined}`")]
    ForeignTeam { named: String, joined: String },
    #[error("it is older than the rules that apply: it has the number {serial}, they have {kept}")]
    Older { serial: u64, kept: u64 },
    #[error("there are other rules with the same number, {serial}: sign them again")]
    Conflicting { serial: u64 },
}

impl TeamRules {
    /// Returns the rules of a team of which no bundle is known yet.
    pub fn trusting(key: TeamKey) -> Self {
        Self { key, bundle: None, source: None }
    }

    /// Parses what [`TeamRules::to_json`] wrote, and checks its signature again.
    pub fn from_json(text: &str) -> Result<Self, BundleError> {
        if text.len() > LARGEST_BUNDLE {
            return Err(BundleError::TooLarge);
        }
        serde_json::from_str(text).map_err(|error| BundleError::Malformed(error.to_string()))
    }

    /// Returns everything as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn key(&self) -> TeamKey {
        self.key
    }

    pub fn bundle(&self) -> Option<&RuleBundle> {
        self.bundle.as_ref()
    }

    /// Returns the address at which newer bundles are.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Sets the address at which newer bundles are.
    pub fn set_source(&mut self, address: &str) {
        self.source = Some(address.to_owned());
    }

    /// Takes a bundle in place of the one that applies, unless that is newer.
    pub fn take(&mut self, bundle: RuleBundle) -> Result<TakenBundle, BundleRefusal> {
        if bundle.key() != self.key {
            return Err(BundleRefusal::ForeignKey { signed: bundle.key(), trusted: self.key });
        }
        if let Some(kept) = &self.bundle {
            // A member that asks every minute gets the same bundle, so it must not be an error.
            if *kept == bundle {
                return Ok(TakenBundle::Same);
            }
            if kept.team() != bundle.team() {
                let (named, joined) = (bundle.team().to_owned(), kept.team().to_owned());
                return Err(BundleRefusal::ForeignTeam { named, joined });
            }
            let (serial, kept) = (bundle.serial(), kept.serial());
            if serial < kept {
                return Err(BundleRefusal::Older { serial, kept });
            }
            if serial == kept {
                return Err(BundleRefusal::Conflicting { serial });
            }
        }
        self.bundle = Some(bundle);
        Ok(TakenBundle::New)
    }
}

impl TryFrom<UncheckedRules> for TeamRules {
    type Error = BundleRefusal;

    fn try_from(unchecked: UncheckedRules) -> Result<Self, BundleRefusal> {
        let mut rules = Self { source: unchecked.source, ..Self::trusting(unchecked.key) };
        if let Some(bundle) = unchecked.bundle {
            // The file may have been changed by hand, so a kept bundle is held to the same as a new
            // one.
            rules.take(bundle)?;
        }
        Ok(rules)
    }
}

#[cfg(test)]
mod tests;
