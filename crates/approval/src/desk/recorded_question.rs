//! A question as the ledger has it: what is restored after a crash, and what viewers are shown.

use callgate_store::LedgerEntry;
use callgate_wire::approval::{ApprovalRequest, FirstAllow};
use callgate_wire::ledger::{LedgerEvent, LedgerKind, LedgerRuling, PersonPress, PressOutcome};
use serde_json::value::RawValue;

use super::digest::CallDigest;
use super::record;
use crate::card::Card;

#[derive(Debug)]
pub(crate) struct RecordedQuestion {
    /// The number of its first entry.
    pub(crate) seq: u64,
    pub(crate) card: Card,
    /// The request, masked, and cut if it is long and was not kept.
    pub(crate) request: ApprovalRequest,
    pub(super) digest: CallDigest,
    pub(super) first_allow: Option<FirstAllow>,
    pub(crate) ruling: LedgerRuling,
    /// Whether only the beginning and the end of the input are in the ledger.
    pub(crate) is_long: bool,
    /// Whether only these are known.
    pub(crate) is_cut: bool,
}

impl RecordedQuestion {
    /// Reads the entries of a question, and its whole input if that was kept beside them. Returns
    /// `None` if the first entry was damaged or is missing.
    pub(crate) fn from_entries(entries: &[LedgerEntry], input: Option<&str>) -> Option<Self> {
        let asked = entries.iter().find(|entry| entry.is_of_kind(LedgerKind::Asked))?;
        let LedgerEvent::Asked(fields) = asked.event() else { return None };
        let mut request =
            ApprovalRequest::decode_recorded(fields.request?.get().as_bytes()).ok()?;
        if let Some(LedgerEvent::Said(said)) = entries
            .iter()
            .rev()
            .find(|entry| entry.is_of_kind(LedgerKind::Said))
            .map(LedgerEntry::event)
        {
            request.context.get_or_insert_default().last_words = Some(said.last_words);
        }
        let is_long = record::was_cut(request.tool_input.get());
        if let Some(input) = input {
            request.tool_input = RawValue::from_string(input.to_owned()).ok()?;
        }
        let (ruling, demands) = (fields.ruling, fields.demands.unwrap_or_default());
        let mut card = Card::new(&request, request.tool_input.get(), asked.at_ms, fields.until_ms?);
        card.row.because = fields.because;
        match ruling {
            LedgerRuling::Guard => card.offers.clear(),
            LedgerRuling::Confirm => card.require_desk(true, demands),
            _ if !demands.is_empty() => card.require_desk(false, demands),
            _ => {}
        }
        // The last one counts: another person takes the place of one whose allow is void by now.
        let first_allow = entries.iter().rev().find_map(first_allow_in);
        card.row.allowed_by = first_allow.as_ref().map(|first| first.name.clone());
        let is_cut = is_long && input.is_none();
        let digest = CallDigest::parse(&fields.digest)?;
        let seq = asked.seq;
        Some(Self { seq, card, request, digest, first_allow, ruling, is_long, is_cut })
    }
}

fn first_allow_in(entry: &LedgerEntry) -> Option<FirstAllow> {
    if !entry.is_of_kind(LedgerKind::Pressed) {
        return None;
    }
    let LedgerEvent::Pressed(PersonPress { by, person, outcome, .. }) = entry.event() else {
        return None;
    };
    let first = FirstAllow { member: person, name: by };
    (outcome == Some(PressOutcome::OneOfTwo)).then_some(first)
}
