//! A question as the ledger has it: what is restored after a crash, and what viewers are shown.

use callgate_store::LedgerEntry;
use callgate_wire::approval::ApprovalRequest;
use serde_json::Value;

use super::digest::CallDigest;
use super::record;
use crate::card::Card;

/// A question as the ledger has it.
#[derive(Debug)]
pub(crate) struct RecordedQuestion {
    /// The number of its first entry.
    pub(crate) seq: u64,
    pub(crate) card: Card,
    /// The request, masked, and cut if it is long.
    pub(crate) request: ApprovalRequest,
    pub(super) digest: CallDigest,
    /// What the rules said: `ask`, `guard`, `confirm`, `allow` or `deny`.
    pub(crate) ruling: String,
    /// Whether only the beginning and the end of the input were recorded.
    pub(crate) is_cut: bool,
}

impl RecordedQuestion {
    /// Reads the entries of a question. Returns `None` if the first was damaged or is missing.
    pub(crate) fn read(entries: &[LedgerEntry]) -> Option<Self> {
        let asked = entries.iter().find(|entry| entry.kind == "asked")?;
        let fields: Value = serde_json::from_str(&asked.body).ok()?;
        let mut request = ApprovalRequest::decode(fields["request"].to_string().as_bytes()).ok()?;
        if let Some(said) = entries.iter().rev().find(|entry| entry.kind == "said") {
            let words = said.json()["last_words"].as_str().map(str::to_owned);
            request.context.get_or_insert_default().last_words = words;
        }
        let until_ms = fields["until_ms"].as_i64()?;
        let ruling = fields["ruling"].as_str().unwrap_or_default().to_owned();
        let mut card = Card::new(&request, request.tool_input.get(), asked.at_ms, until_ms);
        card.row.because = fields["because"].as_str().map(str::to_owned);
        match ruling.as_str() {
            "guard" => card.offers.clear(),
            "confirm" => card.require_confirmation(),
            _ => {}
        }
        let is_cut = record::was_cut(request.tool_input.get());
        let digest = CallDigest::parse(fields["digest"].as_str()?)?;
        Some(Self { seq: asked.seq, card, request, digest, ruling, is_cut })
    }
}
