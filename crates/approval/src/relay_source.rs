//! What a relay reads from the ledger of its desk: the questions that people have to answer.

use callgate_store::{EntryFilter, LedgerEntry, Store, StoreError, now_ms};
use callgate_wire::approval::RequestId;
use callgate_wire::ledger::{ClosedHow, LedgerEvent, LedgerKind, LedgerRuling};
use callgate_wire::relay::{ClosedOutcome, RelayedQuestion};

use crate::desk::{RecordedQuestion, input_key};

/// No question waits longer than this, so an older one is not open.
const OLDEST_MS: i64 = 2 * 3_600_000;

#[derive(Debug)]
pub enum QuestionStanding {
    /// People have to answer it.
    Open(Box<RelayedQuestion>),
    /// It is decided, and the agent is about to read it; or nobody above is asked about it.
    Settling,
    Over(ClosedOutcome),
}

pub fn open_for_people(store: &Store) -> Result<Vec<RelayedQuestion>, StoreError> {
    let open = store.open_questions(now_ms() - OLDEST_MS)?;
    // Each is read again by itself, with the input that is kept beside the ledger.
    let ids = open.iter().filter_map(|entries| entries.first()?.question.clone());
    let ids: Vec<RequestId> = ids.filter_map(|id| RequestId::parse(&id)).collect();
    let mut questions = Vec::new();
    for id in ids {
        if let QuestionStanding::Open(question) = standing_of_question(store, &id)? {
            questions.push(*question);
        }
    }
    Ok(questions)
}

pub fn standing_of_question(store: &Store, id: &RequestId) -> Result<QuestionStanding, StoreError> {
    let filter = EntryFilter { question: Some(id.as_str().to_owned()), ..EntryFilter::default() };
    let entries = store.entries_after(&filter, 0, usize::MAX)?;
    let find = |kind| entries.iter().rev().find(|entry| entry.is_of_kind(kind));
    let decided = find(LedgerKind::Decided);
    if let Some(closed) = find(LedgerKind::Closed) {
        return Ok(QuestionStanding::Over(outcome_of(id, closed, decided)));
    }
    let input = store.kept_value(&input_key(id))?;
    Ok(match RecordedQuestion::from_entries(&entries, input.as_deref()) {
        _ if decided.is_some() => QuestionStanding::Settling,
        // Those of machines below are answered here.
        Some(question) if question.request.machine.is_none() => {
            QuestionStanding::Open(Box::new(relayed_question(question)))
        }
        Some(_) => QuestionStanding::Settling,
        None => QuestionStanding::Over(ClosedOutcome {
            question: id.clone(),
            decision: None,
            by: None,
            text: "It is not in the ledger of its machine".to_owned(),
        }),
    })
}

fn relayed_question(question: RecordedQuestion) -> RelayedQuestion {
    let RecordedQuestion { card, request, ruling, .. } = question;
    let left_ms = u64::try_from(card.row.until_ms - now_ms()).unwrap_or_default();
    // A rule may allow a call that its agent has blocked; people are asked all the same.
    let ruling = if ruling.is_for_people() { ruling } else { LedgerRuling::Ask };
    let (because, demands) = (card.row.because.clone(), card.row.demands);
    RelayedQuestion { request, ruling, because, demands, seconds: left_ms.div_ceil(1_000) }
}

fn outcome_of(
    id: &RequestId,
    closed: &LedgerEntry,
    decided: Option<&LedgerEntry>,
) -> ClosedOutcome {
    let (is_answered, text) = match closed.event() {
        LedgerEvent::Closed(closed) => (closed.how == Some(ClosedHow::Answered), closed.text),
        _ => (false, "It is over".to_owned()),
    };
    let decided = match decided.filter(|_| is_answered).map(LedgerEntry::event) {
        Some(LedgerEvent::Decided(decided)) => Some(decided),
        _ => None,
    };
    ClosedOutcome {
        question: id.clone(),
        decision: decided.as_ref().and_then(|decided| decided.decision),
        by: decided.map(|decided| decided.by),
        text,
    }
}
