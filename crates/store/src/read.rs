//! Reading the ledger: what matches a filter, and the questions that are open or were closed last.

use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};

use crate::chain::ChainHead;
use crate::error::StoreError;
use crate::ledger;
use crate::{EntryFilter, LedgerEntry, MemberMatch, Store};

const COLUMNS: &str = "e.seq, e.at_ms, e.kind, e.question, e.body, e.hash";

impl Store {
    /// Returns the first `limit` entries after the number `after` that match `filter`, in order.
    pub fn entries_after(
        &self,
        filter: &EntryFilter,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let mut wanted = EntryQuery::new(filter);
        let after = wanted.bind_number(i64::try_from(after).unwrap_or(i64::MAX));
        wanted.add_condition(format!("e.seq > {after}"));
        self.read_entries(wanted, "ASC", limit)
    }

    /// Returns the last `limit` entries before the number `before` that match `filter`, in order.
    pub fn entries_before(
        &self,
        filter: &EntryFilter,
        before: u64,
        limit: usize,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let mut wanted = EntryQuery::new(filter);
        let before = wanted.bind_number(i64::try_from(before).unwrap_or(i64::MAX));
        wanted.add_condition(format!("e.seq < {before}"));
        let mut entries = self.read_entries(wanted, "DESC", limit)?;
        entries.reverse();
        Ok(entries)
    }

    /// Returns the number of the last entry ever written, or 0.
    pub fn last_seq(&self) -> Result<u64, StoreError> {
        Ok(self.chain_head()?.seq)
    }

    /// Returns the head of the chain, to be noted elsewhere.
    pub fn chain_head(&self) -> Result<ChainHead, StoreError> {
        ledger::last_written(&self.connection).map_err(self.explain_failure("read"))
    }

    /// Returns a number that changes when another process writes to the file. What this connection
    /// writes does not change it.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        let version = self.read_row("PRAGMA data_version", [], |row| row.get(0))?;
        Ok(version.unwrap_or_default())
    }

    pub fn question_ids_with_prefix(
        &self,
        beginning: &str,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        // The comparison lets the index be used. The prefix itself is compared as text, because
        // `LIKE` would give a meaning to `%` and `_`.
        let query = "SELECT DISTINCT question FROM entries
                     WHERE question >= ?1 AND substr(question, 1, length(?1)) = ?1 LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read_rows(query, params![beginning, limit], |row| row.get(0))
    }

    pub fn has_question(&self, id: &str) -> Result<bool, StoreError> {
        let query = "SELECT 1 FROM entries WHERE question = ? LIMIT 1";
        Ok(self.read_row(query, [id], |_| Ok(()))?.is_some())
    }

    /// Returns the entries of each question that was asked at `since_ms` or later and is not
    /// closed, grouped by question, the oldest question first.
    pub fn open_questions(&self, since_ms: i64) -> Result<Vec<Vec<LedgerEntry>>, StoreError> {
        let query = format!(
            // `CROSS JOIN` keeps this order. Few questions are open, and SQLite could begin with
            // all entries instead.
            "SELECT {COLUMNS} FROM open_questions q CROSS JOIN entries e ON e.question = q.question
             WHERE q.at_ms >= ? ORDER BY q.first, e.seq"
        );
        Ok(by_question(self.read_rows(&query, [since_ms], entry_from_row)?))
    }

    /// Returns the entries of each of the `limit` questions that were closed last, grouped by
    /// question, the latest first.
    pub fn recently_closed(&self, limit: usize) -> Result<Vec<Vec<LedgerEntry>>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM entries e JOIN (
                 SELECT question, seq AS last FROM entries closed
                 WHERE kind = 'closed' AND question IS NOT NULL AND NOT EXISTS (
                     SELECT 1 FROM entries later WHERE later.question = closed.question
                     AND later.kind = 'closed' AND later.seq > closed.seq)
                 ORDER BY seq DESC LIMIT ?
             ) q ON e.question = q.question ORDER BY q.last DESC, e.seq"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(by_question(self.read_rows(&query, [limit], entry_from_row)?))
    }

    fn read_entries(
        &self,
        mut wanted: EntryQuery,
        order: &str,
        limit: usize,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let limit = wanted.bind_number(i64::try_from(limit).unwrap_or(i64::MAX));
        let conditions = wanted.conditions.join(" AND ");
        let query = format!(
            "SELECT {COLUMNS} FROM entries e WHERE {conditions} ORDER BY e.seq {order} LIMIT {limit}"
        );
        self.read_rows(&query, params_from_iter(wanted.values), entry_from_row)
    }
}

fn by_question(entries: Vec<LedgerEntry>) -> Vec<Vec<LedgerEntry>> {
    // The queries return the entries of each question one after the other.
    let mut questions: Vec<Vec<LedgerEntry>> = Vec::new();
    for entry in entries {
        match questions.last_mut() {
            Some(same) if same[0].question == entry.question => same.push(entry),
            _ => questions.push(vec![entry]),
        }
    }
    questions
}

fn entry_from_row(row: &Row<'_>) -> rusqlite::Result<LedgerEntry> {
    Ok(LedgerEntry {
        seq: ledger::read_unsigned(row, 0)?,
        at_ms: row.get(1)?,
        kind: row.get(2)?,
        question: row.get(3)?,
        body: row.get(4)?,
        hash: row.get(5)?,
    })
}

/// A filter as SQL: conditions that all have to hold, and the values of their parameters.
struct EntryQuery {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl EntryQuery {
    fn new(filter: &EntryFilter) -> Self {
        let EntryFilter { kinds, question, since_ms, until_ms, text, members } = filter;
        let mut wanted = Self { conditions: vec!["true".to_owned()], values: Vec::new() };
        if !kinds.is_empty() {
            let kinds: Vec<String> =
                kinds.iter().map(|kind| wanted.bind_text(kind.name())).collect();
            wanted.add_condition(format!("e.kind IN ({})", kinds.join(", ")));
        }
        if let Some(question) = question {
            let question = wanted.bind_text(question);
            wanted.add_condition(format!("e.question = {question}"));
        }
        if let Some(since) = since_ms {
            let since = wanted.bind_number(*since);
            wanted.add_condition(format!("e.at_ms >= {since}"));
        }
        if let Some(until) = until_ms {
            let until = wanted.bind_number(*until);
            wanted.add_condition(format!("e.at_ms < {until}"));
        }
        if let Some(text) = text {
            let text = wanted.bind_text(text);
            // A body that is not JSON is searched as an empty object. Otherwise a single damaged
            // entry would make every search fail.
            wanted.add_condition(format!(
                "EXISTS (SELECT 1 FROM json_tree(iif(json_valid(e.body), e.body, '{{}}'))
                         WHERE instr(lower(atom), lower({text})) > 0)"
            ));
        }
        for (name, member) in members {
            wanted.and_member(name, member);
        }
        wanted
    }

    fn bind_text(&mut self, text: &str) -> String {
        self.bind_value(Value::Text(text.to_owned()))
    }

    fn bind_number(&mut self, number: i64) -> String {
        self.bind_value(Value::Integer(number))
    }

    /// Adds a value and returns its parameter.
    fn bind_value(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }

    fn add_condition(&mut self, condition: String) {
        self.conditions.push(condition);
    }

    /// Adds a condition on a member. A member counts for all entries of its question, since what
    /// was asked and what was decided are in different entries.
    fn and_member(&mut self, name: &str, member: &MemberMatch) {
        let (MemberMatch::Is(value) | MemberMatch::Begins(value) | MemberMatch::Within(value)) =
            member;
        let (name, value) = (self.bind_text(&format!("$.\"{name}\"")), self.bind_text(value));
        let has = |entry: &str| {
            let body = format!("{entry}.body");
            let text = format!("json_extract({body}, {name})");
            let is = match member {
                MemberMatch::Is(_) => format!("{text} = {value} COLLATE NOCASE"),
                MemberMatch::Begins(_) => format!("substr({text}, 1, length({value})) = {value}"),
                MemberMatch::Within(_) => format!(
                    "instr('/' || trim({text}, '/') || '/', '/' || trim({value}, '/') || '/') > 0"
                ),
            };
            format!("iif(json_valid({body}), json_type({body}, {name}) = 'text' AND {is}, false)")
        };
        let (own, of_another) = (has("e"), has("o"));
        self.add_condition(format!(
            "({own} OR EXISTS
                 (SELECT 1 FROM entries o WHERE o.question = e.question AND {of_another}))"
        ));
    }
}
