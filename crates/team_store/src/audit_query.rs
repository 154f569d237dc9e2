//! What is read of the audit log, as the databases are asked for it. Pure.

use std::time::Duration;

use callgate_wire::approval::Decision;

use crate::audit::{AUDIT_COLUMNS, AuditPosition, SERIES_MARK};
use crate::limits::MOST_ROWS;

/// The character after [`SERIES_MARK`], where the names of a machine's further chains end.
pub(crate) const SERIES_END: char = '$';

/// Selects entries of the log. Each condition narrows the selection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The name of a machine, with all its chains, or of one chain.
    pub machine: Option<String>,
    /// A folder, with all below it.
    pub project: Option<String>,
    pub agent: Option<String>,
    pub who: Option<String>,
    pub decision: Option<Decision>,
    /// The id of a question, or its beginning.
    pub question: Option<String>,
    /// Recorded at most this long ago.
    pub within: Option<Duration>,
    /// Recorded before this one: the last of the previous page.
    pub before: Option<AuditPosition>,
    /// How many are wanted; at most [`MOST_ROWS`](crate::MOST_ROWS) are returned.
    pub most: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilterValue {
    Text(String),
    Number(i64),
}

impl AuditFilter {
    /// Returns the query for the selected entries with their machines, and its values. Only
    /// conditions that are set occur in it, so that the database sees which index serves. `now` is
    /// the time in the language of the database.
    pub(crate) fn build_query(&self, now: &str) -> (String, Vec<FilterValue>) {
        let mut values = Vec::new();
        let mut query = format!(
            "SELECT {AUDIT_COLUMNS}, (SELECT machine FROM chains WHERE key = chain) FROM audit \
             WHERE true"
        );
        let mut add = |condition: &str, new: &[FilterValue]| {
            query.push_str(" AND ");
            let mut parts = condition.split('?');
            query.push_str(parts.next().unwrap_or_default());
            for (part, value) in parts.zip(new) {
                values.push(value.clone());
                query.extend(["$", &values.len().to_string(), part]);
            }
        };
        let text = |value: &String| FilterValue::Text(value.clone());
        let conditions = [
            (&self.agent, "agent = ?"),
            (&self.who, "who = ?"),
            (&self.decision.map(|decision| decision.name().to_owned()), "decision = ?"),
        ];
        if let Some(project) = &self.project {
            // Whatever begins with the folder and a slash: `0` is the character after it.
            let below = [project.clone(), format!("{project}/"), format!("{project}0")];
            add("(project = ? OR (project >= ? AND project < ?))", &below.each_ref().map(text));
        }
        if let Some(question) = &self.question {
            // A range and not LIKE, so that the index serves and no character is a wildcard. No id
            // has a character above `~`.
            let range = [question.clone(), format!("{question}\u{7f}")];
            add("question >= ? AND question < ?", &range.each_ref().map(text));
        }
        if let Some(machine) = &self.machine {
            let [first, last] = [SERIES_MARK, SERIES_END].map(|mark| format!("{machine}{mark}"));
            add(
                "chain IN (SELECT key FROM chains WHERE machine = ? OR (machine >= ? AND machine < ?))",
                &[machine, &first, &last].map(text),
            );
        }
        for (value, condition) in conditions {
            if let Some(value) = value {
                add(condition, &[text(value)]);
            }
        }
        if let Some(within) = self.within {
            let within = i64::try_from(within.as_millis()).unwrap_or(i64::MAX / 2);
            add(&format!("recorded_ms >= {now} - ?"), &[FilterValue::Number(within)]);
        }
        if let Some(AuditPosition { recorded_ms, chain, seq }) = self.before {
            let position = [recorded_ms, chain, seq].map(FilterValue::Number);
            add("(recorded_ms, chain, seq) < (?, ?, ?)", &position);
        }
        let most = self.most.min(MOST_ROWS);
        let most = most.to_string();
        query.extend([" ORDER BY recorded_ms DESC, chain DESC, seq DESC LIMIT ", &most]);
        (query, values)
    }
}

/// Reads the ends of all chains, or of those of one machine.
pub(crate) const READ_HEADS: &str = "SELECT machine, head_seq, head_hash FROM chains
    WHERE CAST($1 AS text) IS NULL OR machine = $1 OR (machine >= $2 AND machine < $3) ORDER BY key";

pub(crate) fn chain_names(machine: Option<&str>) -> [Option<String>; 3] {
    let marked = |mark| machine.map(|machine| format!("{machine}{mark}"));
    [machine.map(str::to_owned), marked(SERIES_MARK), marked(SERIES_END)]
}

/// Returns the query for the entries of the chain `$1` after the entry `$2`.
pub(crate) fn read_chain_query() -> String {
    format!(
        "SELECT {AUDIT_COLUMNS} FROM audit
         WHERE chain = (SELECT key FROM chains WHERE machine = $1) AND seq > $2
         ORDER BY seq LIMIT {MOST_ROWS}"
    )
}
