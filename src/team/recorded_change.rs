//! The ledger's entry about a change of the team's rules or roles.

use callgate_store::{EntryDraft, Sha256Hash, Store, now_ms};
use callgate_wire::ledger::{AnswerChannel, LedgerEvent, RulesSaved};

use crate::config::Config;

/// What is changed when a team's rules are, as the ledger has it.
pub(crate) const RULES_CHANGE: &str = "team rules";

/// Records a change of the team's rules or roles in the ledger; `tool` says which.
pub(crate) fn record_change(
    config: &Config,
    tool: &str,
    by: &str,
    summary: String,
    count: usize,
    rules: &str,
) -> Result<(), String> {
    let saved = LedgerEvent::Saved(RulesSaved {
        by: by.to_owned(),
        channel: Some(AnswerChannel::Terminal),
        tool: tool.to_owned(),
        summary,
        count,
        hash: Sha256Hash::hash_bytes(rules.as_bytes()).to_string(),
    });
    let draft = EntryDraft::new(now_ms(), None, &saved);
    let recorded =
        Store::open(&config.database).and_then(|mut store| store.append_entries(&[draft]));
    recorded.map(drop).map_err(|error| format!("cannot record it: {error}"))
}
