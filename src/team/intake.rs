//! Takes a bundle of a team's rules: checks it, records it and keeps it.

use callgate_mask::text::counted_noun;
use callgate_policy::TeamFile;
use callgate_rules::{Problem, RuleFile, Trust};
use callgate_team::{RuleBundle, TakenBundle, TeamKey, TeamRules};
use jiff::Timestamp;

use super::recorded_change::{RULES_CHANGE, record_change};
use crate::config::Config;

/// How a bundle came here.
pub(crate) struct BundleIntake<'a> {
    pub(crate) config: &'a Config,
    /// The key that the user has named.
    pub(crate) key: Option<TeamKey>,
    /// Whether that key may take the place of another one that is trusted.
    pub(crate) replaces_key: bool,
    /// The address at which newer bundles are, if it is one.
    pub(crate) source: Option<&'a str>,
    /// Who takes it, as the ledger has it.
    pub(crate) by: &'a str,
}

pub(crate) struct BundleReceipt {
    /// What was taken, in one line.
    pub(crate) summary: String,
    /// Whether it did not apply before.
    pub(crate) is_new: bool,
    /// What is wrong with its rules.
    pub(crate) problems: Vec<Problem>,
}

impl BundleIntake<'_> {
    /// Takes a bundle, or says why it changes nothing.
    pub(crate) fn take(&self, text: &str) -> Result<BundleReceipt, String> {
        let bundle = RuleBundle::from_json(text).map_err(|error| error.to_string())?;
        let file = read_bundle(&bundle);
        let mut receipt = BundleReceipt {
            summary: describe_bundle(&bundle),
            is_new: false,
            problems: file.problems,
        };
        TeamFile::beside(&self.config.database).change(|kept| {
            let mut rules = self.trusted_rules(kept, &bundle)?;
            let taken = rules.take(bundle.clone()).map_err(|error| error.to_string())?;
            if taken == TakenBundle::New {
                receipt.is_new = true;
                receipt.summary = format!("Took {}", receipt.summary);
                let summary = receipt.summary.clone();
                let count = file.rules.len();
                // The entry precedes the file, which is written when this closure returns, so that
                // no rules apply that the ledger does not know.
                record_change(self.config, RULES_CHANGE, self.by, summary, count, bundle.rules())?;
            }
            // Also for a bundle that applies already, because the address may be new.
            if let Some(source) = self.source {
                rules.set_source(source);
            }
            Ok(rules)
        })?;
        Ok(receipt)
    }

    /// Returns the rules to which a bundle is added: those that are kept, or those of a key that
    /// the user trusts from now on.
    fn trusted_rules(
        &self,
        kept: Option<TeamRules>,
        bundle: &RuleBundle,
    ) -> Result<TeamRules, String> {
        match (kept, self.key) {
            (Some(rules), Some(key)) if rules.key() != key && self.replaces_key => {
                Ok(TeamRules::trusting(key))
            }
            (Some(rules), Some(key)) if rules.key() != key => Err(format!(
                "this machine trusts another key, {}; to trust the new one: callgate team leave, \
                 then take it again",
                rules.key()
            )),
            (Some(rules), _) => Ok(rules),
            (None, Some(key)) => Ok(TeamRules::trusting(key)),
            (None, None) => Err(format!(
                "this machine trusts no team yet. It is signed with the key {}. If that is your \
                 team's, give it with --key",
                bundle.key()
            )),
        }
    }
}

fn read_bundle(bundle: &RuleBundle) -> RuleFile {
    RuleFile::from_toml(&bundle.render_name(), bundle.rules(), Trust::Team)
}

/// Describes a bundle in one line: `3 rules (team acme, rules 7, signed 2026-11-18T11:00:00Z)`.
pub(crate) fn describe_bundle(bundle: &RuleBundle) -> String {
    let count = counted_noun(read_bundle(bundle).rules.len(), "rule");
    let at = Timestamp::from_millisecond(bundle.signed_at_ms()).unwrap_or_default();
    format!("{count} ({}, signed {at:.0})", bundle.render_name())
}
