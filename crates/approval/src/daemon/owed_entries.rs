//! The ends of questions that the ledger could not take: they are written as soon as it can, so
//! that no question stays open for those who read the ledger.

use std::collections::HashSet;

use callgate_store::{EntryDraft, Store};
use callgate_wire::approval::RequestId;
use callgate_wire::ledger::LedgerKind;

use crate::desk::{DeskStep, dropped_event};

/// What is to be written once the ledger can be written. The ledger has the beginning of each of
/// these questions, so there are no more of them than can be open.
#[derive(Debug, Default)]
pub(super) struct OwedEntries {
    drafts: Vec<EntryDraft>,
    keeps: Vec<(String, Option<String>)>,
}

impl OwedEntries {
    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Takes the ends of questions from a step that could not be written.
    pub(super) fn add_lost_ends(&mut self, lost: &DeskStep, unrecorded: &HashSet<RequestId>) {
        let is_recorded = |id: &str| !unrecorded.iter().any(|other| other.as_str() == id);
        let ends = lost.records.iter().filter(|draft| draft.kind == LedgerKind::Closed.name());
        for end in ends {
            let Some(id) = end.question.as_deref().filter(|id| is_recorded(id)) else { continue };
            let is_decision_lost = lost.records.iter().any(|draft| {
                draft.kind == LedgerKind::Decided.name() && draft.question.as_deref() == Some(id)
            });
            self.drafts.push(if is_decision_lost {
                EntryDraft::new(end.at_ms, end.question.clone(), &dropped_event())
            } else {
                end.clone()
            });
            let is_of_it = |(key, value): &&(String, Option<String>)| {
                value.is_none() && key.split('/').any(|part| part == id)
            };
            self.keeps.extend(lost.keeps.iter().filter(is_of_it).cloned());
        }
    }

    /// Takes the ends of the questions that the desk has given up for that.
    pub(super) fn add_dropped(&mut self, step: &mut DeskStep) {
        self.drafts.append(&mut step.records);
        self.keeps.append(&mut step.keeps);
    }

    /// Writes them. Returns the number of the last entry; `None` if they still cannot be written.
    pub(super) fn write(&mut self, store: &mut Store) -> Option<u64> {
        let entries = store.append_with(&self.drafts, &self.keeps).ok()?;
        *self = Self::default();
        entries.last().map(|last| last.seq)
    }
}

/// Returns the questions that begin in a step.
pub(super) fn begun_questions(step: &DeskStep) -> HashSet<RequestId> {
    let begins = step.records.iter().filter(|draft| draft.kind == LedgerKind::Asked.name());
    begins.filter_map(|draft| RequestId::parse(draft.question.as_deref()?)).collect()
}
