//! What the entries of a machine can be found by in the audit log of a team.

use std::collections::HashMap;

use callgate_store::LedgerEntry;
use callgate_team_store::{AuditLabels, LONGEST_NAME};
use callgate_wire::ledger::LedgerKind;

/// How many questions have their labels remembered, for each machine.
const MOST_LABELS: usize = 256;

/// What the entries of a question can be found by: its first entry says it, the others do not.
#[derive(Default)]
pub(crate) struct QuestionLabels(HashMap<String, AuditLabels>);

impl QuestionLabels {
    /// Returns the labels of an entry, and remembers those of a question.
    pub(crate) fn of_entry(&mut self, entry: &LedgerEntry) -> AuditLabels {
        let event = entry.event();
        let (decision, who) = event.decision_and_author();
        let who = as_label(who);
        let call = event.into_call();
        let known = entry.question.as_ref().and_then(|question| self.0.get(question)).cloned();
        let mut labels = match call {
            Some(call) => AuditLabels {
                project: as_label(&call.cwd),
                agent: as_label(&call.agent.unwrap_or_default()),
                ..AuditLabels::default()
            },
            None => known.unwrap_or_default(),
        };
        if let (Some(id), true) = (&entry.question, entry.is_of_kind(LedgerKind::Asked)) {
            self.remember(id.clone(), labels.clone());
        }
        if entry.is_of_kind(LedgerKind::Closed) {
            // Nothing follows that would need the labels of the question.
            entry.question.as_ref().map(|question| self.0.remove(question));
        }
        (labels.who, labels.decision) = (who, decision);
        labels
    }

    pub(crate) fn remember(&mut self, question: String, labels: AuditLabels) {
        // Whatever is forgotten here is looked up in the log when it is needed again.
        if self.0.len() >= MOST_LABELS {
            self.0.clear();
        }
        self.0.insert(question, labels);
    }

    /// Returns the questions of these entries whose labels are not known.
    pub(crate) fn unknown_among(&self, entries: &[LedgerEntry]) -> Vec<String> {
        let asked = |id: &String| {
            let mut firsts = entries.iter().filter(|entry| entry.is_of_kind(LedgerKind::Asked));
            firsts.any(|entry| entry.question.as_ref() == Some(id))
        };
        let mut unknown: Vec<String> = Vec::new();
        for id in entries.iter().filter_map(|entry| entry.question.as_ref()) {
            if !self.0.contains_key(id) && !unknown.contains(id) && !asked(id) {
                unknown.push(id.clone());
            }
        }
        unknown
    }
}

fn as_label(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| storable_name(text))
}

/// Returns a text as the team's database takes it: PostgreSQL has no zero byte in a text.
pub(crate) fn storable_text(text: &str) -> String {
    text.replace('\0', "")
}

/// Returns a text as the name of something in the team's database: one line of a bounded length.
pub(crate) fn storable_name(text: &str) -> String {
    let mut name: String = text.chars().filter(|it| !it.is_control()).collect();
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
    // The store refuses an empty name.
    if name.is_empty() { "-".to_owned() } else { name }
}

#[cfg(test)]
mod tests;
