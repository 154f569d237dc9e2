//! Reads entries page by page and writes those that match.

use std::io::Write;

use callgate_store::{EntryFilter, LedgerEntry, Store};
use callgate_wire::ledger::LedgerKind;

use super::Failure;
use super::entry_text::call_subject;
use super::entry_writer::{EntryWriter, QuestionSummary, is_detail};
use super::exported_entry::LedgerRow;

/// How many entries are in memory at a time.
const PAGE: usize = 200;

/// The entries of a ledger that match, and how far they have been written.
pub(super) struct LedgerPages<'a, W> {
    store: &'a Store,
    filter: &'a EntryFilter,
    hides_details: bool,
    format: EntryWriter<W>,
    machine: String,
    after: u64,
    is_empty: bool,
}

impl<'a, W: Write> LedgerPages<'a, W> {
    pub(super) fn new(
        store: &'a Store,
        filter: &'a EntryFilter,
        hides_details: bool,
        format: EntryWriter<W>,
        machine: String,
    ) -> Self {
        Self { store, filter, hides_details, format, machine, after: 0, is_empty: true }
    }

    /// Returns true if nothing has been written.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Writes the last `limit` entries, of those after a number; a limit of 0 stands for all.
    pub(super) fn write_last(&mut self, limit: usize, after: u64) -> Result<(), Failure> {
        let end = self.store.last_seq()?;
        self.after = self.start_of_last(limit, end)?.max(after);
        self.write_rest()?;
        // Otherwise following would look again at the entries that the filter leaves out.
        self.after = self.after.max(end);
        Ok(())
    }

    /// Returns the number after which the last `limit` entries begin.
    fn start_of_last(&self, limit: usize, end: u64) -> Result<u64, Failure> {
        let mut before = end + 1;
        let mut missing = limit;
        if limit == 0 {
            return Ok(0);
        }
        loop {
            let page = self.store.entries_before(self.filter, before, PAGE)?;
            let Some(first) = page.first() else { return Ok(0) };
            before = first.seq;
            for entry in page.iter().rev().filter(|entry| self.is_wanted(entry)) {
                missing -= 1;
                if missing == 0 {
                    return Ok(entry.seq - 1);
                }
            }
        }
    }

    /// Writes all entries since the last one written.
    pub(super) fn write_rest(&mut self) -> Result<(), Failure> {
        loop {
            let page = self.store.entries_after(self.filter, self.after, PAGE)?;
            for entry in &page {
                self.after = entry.seq;
                if self.is_wanted(entry) {
                    self.is_empty = false;
                    let question = self.question_of(entry)?;
                    let row = LedgerRow { machine: &self.machine, entry, labels: None };
                    self.format.write(&row, &question)?;
                }
            }
            if page.len() < PAGE {
                self.format.flush()?;
                return Ok(());
            }
        }
    }

    fn is_wanted(&self, entry: &LedgerEntry) -> bool {
        !(self.hides_details && is_detail(entry))
    }

    /// Reads the other entries of a question, for entries whose row mentions them.
    fn question_of(&self, entry: &LedgerEntry) -> Result<QuestionSummary, Failure> {
        let is_decided = entry.is_of_kind(LedgerKind::Decided);
        if !(is_decided || entry.is_of_kind(LedgerKind::Closed)) || entry.question.is_none() {
            return Ok(QuestionSummary::default());
        }
        let first = |kind| {
            let kinds = vec![kind];
            let filter =
                EntryFilter { question: entry.question.clone(), kinds, ..EntryFilter::default() };
            self.store.entries_after(&filter, 0, 1)
        };
        let asked = first(LedgerKind::Asked)?;
        let asked = asked.first().map(call_subject).unwrap_or_default();
        let is_decided = is_decided || !first(LedgerKind::Decided)?.is_empty();
        Ok(QuestionSummary { asked, is_decided })
    }
}
