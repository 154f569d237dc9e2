//! Open questions as viewers see them, made from the ledger: a viewer is shown exactly what the
//! desk would restore after a crash.

use callgate_mask::text::shortened_text;
use callgate_store::{EntryFilter, LedgerEntry, Store, now_ms};
use callgate_wire::approval::RequestId;
use callgate_wire::desk::{
    AskedRuling, CardContent, CommandSegment, DeskInbox, InboxRow, QuestionCard, RiskKind, RiskNote,
};
use callgate_wire::ledger::{LedgerKind, LedgerRuling};

use super::familiar::FamiliarCalls;
use super::past_calls::LONGEST_SUMMARY;
use crate::card::{Card, HIDDEN_COULD_RUN};
use crate::daemon::OLDEST_MS;
use crate::desk::{RecordedQuestion, input_key};
use crate::rule_desk::{RecordedCall, RuleDesk};

const MOST_ROWS: usize = 2_000;

pub(super) struct InboxReader<'a> {
    pub(super) store: &'a Store,
    pub(super) rules: Option<&'a dyn RuleDesk>,
    pub(super) familiar: &'a FamiliarCalls,
}

impl InboxReader<'_> {
    /// Returns the open questions, those that run out first on top.
    pub(super) fn read_inbox(&self) -> Result<DeskInbox, String> {
        // The head is read first: what comes later may be in the list, and is not missed.
        let head = self.store.last_seq().map_err(|error| error.to_string())?;
        let mut open = self.open_questions()?;
        open.sort_by_key(|(seq, question)| (question.card.row.until_ms, *seq));
        let count = open.len() as u64;
        let rows = open.iter().take(MOST_ROWS).map(|(seq, question)| self.row(*seq, question));
        Ok(DeskInbox { head, open: count, rows: rows.collect() })
    }

    /// Returns one open question in full, or `None` if it is over.
    pub(super) fn card(&self, id: &RequestId) -> Result<Option<QuestionCard>, String> {
        let question = Some(id.as_str().to_owned());
        let filter = EntryFilter { question, ..EntryFilter::default() };
        let entries =
            self.store.entries_after(&filter, 0, usize::MAX).map_err(|e| e.to_string())?;
        let input = self.store.kept_value(&input_key(id)).map_err(|error| error.to_string())?;
        Ok(waiting_question(&entries, input.as_deref())
            .map(|(seq, question)| self.full_card(seq, &question)))
    }

    fn open_questions(&self) -> Result<Vec<(u64, RecordedQuestion)>, String> {
        // The inputs that are kept beside the ledger are left out: a row shows none, and each may
        // have megabytes.
        let since = now_ms() - OLDEST_MS;
        let open = self.store.open_questions(since).map_err(|error| error.to_string())?;
        Ok(open.iter().filter_map(|entries| waiting_question(entries, None)).collect())
    }

    fn row(&self, seq: u64, question: &RecordedQuestion) -> InboxRow {
        let row = &question.card.row;
        let is_guarded = question.ruling == LedgerRuling::Guard;
        InboxRow {
            seq,
            summary: shortened_text(&row.summary, LONGEST_SUMMARY),
            ruling: if is_guarded { AskedRuling::Guard } else { AskedRuling::Ask },
            risks: self.risks_of_question(seq, question),
            alike: similarity_key(question, is_guarded),
            ..row.clone()
        }
    }

    /// Returns what is unusual about a question, each kind once.
    fn risks_of_question(&self, seq: u64, question: &RecordedQuestion) -> Vec<RiskNote> {
        let RecordedQuestion { card, request, .. } = question;
        let call = RecordedCall {
            tool: request.tool_name.clone(),
            input: request.tool_input.get().to_owned(),
            project: request.cwd.clone(),
            agent: request.agent.clone().unwrap_or_default(),
        };
        let note = |kind, text: &str| RiskNote { kind, text: text.to_owned() };
        let mut risks = Vec::new();
        risks.extend(card.hides_what_runs.then(|| note(RiskKind::Hidden, HIDDEN_COULD_RUN)));
        if card.row.machine.is_some() {
            // Its folders are not on the disk here.
            return risks;
        }
        risks.extend(self.rules.map(|rules| rules.risks_of_call(&call)).unwrap_or_default());
        if is_of_agent(card) {
            let InboxRow { project, tool, summary, .. } = &card.row;
            let first = self.familiar.first_time(seq, project, tool, summary);
            risks.extend(first.map(|text| note(RiskKind::FirstTime, &text)));
        }
        risks
    }

    fn full_card(&self, seq: u64, question: &RecordedQuestion) -> QuestionCard {
        let mut shown = question.card.shown.clone();
        shown.row = self.row(seq, question);
        shown.is_cut = question.is_cut;
        let command = shown.body.command();
        if let CardContent::Command { segments, .. } = &mut shown.body
            && let Some(pieces) = self.rules.map(|rules| rules.split_command(&command))
            && is_split(&command, &pieces)
        {
            *segments = pieces;
        }
        shown
    }
}

/// Returns true if the pieces are the whole command: nothing that will run may be missing in a
/// card.
fn is_split(command: &str, pieces: &[CommandSegment]) -> bool {
    pieces.iter().map(|piece| piece.text.as_str()).collect::<String>() == command
}

/// Returns the question of these entries and the number of its first one, if it waits for an
/// answer.
fn waiting_question(
    entries: &[LedgerEntry],
    input: Option<&str>,
) -> Option<(u64, RecordedQuestion)> {
    if entries
        .iter()
        .any(|entry| entry.is_of_kind(LedgerKind::Decided) || entry.is_of_kind(LedgerKind::Closed))
    {
        return None;
    }
    let question = RecordedQuestion::from_entries(entries, input)?;
    Some((question.seq, question))
}

/// Returns true for a call of an agent; callgate's own questions and those of scripts are not.
fn is_of_agent(card: &Card) -> bool {
    !matches!(card.body, CardContent::Ask { .. } | CardContent::Plan { .. })
}

/// Returns what questions that may be answered together have in common. What needs a look of its
/// own is answered alone.
fn similarity_key(question: &RecordedQuestion, is_guarded: bool) -> Option<String> {
    let RecordedQuestion { card, is_long, .. } = question;
    let needs_look = is_guarded
        || *is_long
        || card.is_for_desk()
        || card.blocked.is_some()
        || card.hides_what_runs
        || !card.pickers.is_empty();
    if needs_look || !is_of_agent(card) {
        return None;
    }
    let command = card.body.command();
    let program = command.split_whitespace().next().unwrap_or_default();
    let InboxRow { agent, project, tool, machine, .. } = &card.row;
    let key = [agent, project, tool, program].join("\n");
    Some(machine.iter().fold(key, |key, machine| format!("{key}\n{machine}")))
}
