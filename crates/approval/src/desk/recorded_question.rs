//! A question as the ledger has it: what is restored after a crash, and what viewers are shown.

use callgate_store::LedgerEntry;
use callgate_wire::approval::ApprovalRequest;
use callgate_wire::ledger::{LedgerEvent, LedgerRuling};

use super::digest::CallDigest;
use super::record;
use crate::card::Card;

/// A question as the ledger has it.
#[derive(Debug)]
pub(crate) struct RecordedQuestion {
    pub(crate) card: Card,
    /// The request, masked, and cut if it is long.
    pub(crate) request: ApprovalRequest,
    pub(super) digest: CallDigest,
    /// What the rules said.
    pub(crate) ruling: LedgerRuling,
    /// Whether only the beginning and the end of the input were recorded.
    pub(crate) is_cut: bool,
}

impl RecordedQuestion {
    /// Reads the entry of a question. Returns `None` if it was damaged.
    pub(crate) fn read(asked: &LedgerEntry) -> Option<Self> {
        let LedgerEvent::QuestionAsked(fields) = asked.event() else { return None };
        let request = ApprovalRequest::decode(fields.request?.get().as_bytes()).ok()?;
        let ruling = fields.ruling;
        let mut card = Card::new(&request, request.tool_input.get(), asked.at_ms, fields.until_ms?);
        card.because = fields.because.map(Into::into);
        match ruling {
            LedgerRuling::Guard => card.offers.clear(),
            LedgerRuling::Confirm => card.require_confirmation(),
            _ => {}
        }
        let is_cut = record::was_cut(request.tool_input.get());
        let digest = CallDigest::parse(&fields.digest)?;
        Some(Self { card, request, digest, ruling, is_cut })
    }
}
