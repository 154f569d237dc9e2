//! Reading the ledger: what matches a filter, and the questions that are open or were closed last.

use rusqlite::types::Value;
use rusqlite::{Params, Row, params, params_from_iter};

use crate::chain::Head;
use crate::error::StoreError;
use crate::ledger;
use crate::{Entry, Filter, Member, Store};

const COLUMNS: &str = "e.seq, e.at_ms, e.kind, e.question, e.body, e.hash";

impl Store {
    /// The first `limit` entries after the number `after` that `filter` wants, in order.
    pub fn entries(
        &self,
        filter: &Filter,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut wanted = Wanted::new(filter);
        let after = wanted.number(i64::try_from(after).unwrap_or(i64::MAX));
        wanted.and(format!("e.seq > {after}"));
        self.wanted(wanted, "ASC", limit)
    }

    /// The last `limit` entries before the number `before` that `filter` wants, in order.
    pub fn latest(
        &self,
        filter: &Filter,
        before: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut wanted = Wanted::new(filter);
        let before = wanted.number(i64::try_from(before).unwrap_or(i64::MAX));
        wanted.and(format!("e.seq < {before}"));
        let mut entries = self.wanted(wanted, "DESC", limit)?;
        entries.reverse();
        Ok(entries)
    }

    /// The number of the last entry that was ever written, or 0.
    pub fn last_seq(&self) -> Result<u64, StoreError> {
        Ok(self.head()?.seq)
    }

    /// The end of the chain, to be noted elsewhere.
    pub fn head(&self) -> Result<Head, StoreError> {
        ledger::last_written(&self.connection).map_err(self.failed("read"))
    }

    /// A number that is another one after somebody else has written to the file.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        self.connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut query| query.query_row([], |row| row.get(0)))
            .map_err(self.failed("read"))
    }

    /// The ids of questions that begin so, at most `limit` of them.
    pub fn questions(&self, beginning: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let query = "SELECT DISTINCT question FROM entries
                     WHERE question >= ?1 AND substr(question, 1, length(?1)) = ?1 LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = || {
            let mut query = self.connection.prepare_cached(query)?;
            query.query_map(params![beginning, limit], |row| row.get(0))?.collect::<Result<_, _>>()
        };
        read().map_err(self.failed("read"))
    }

    /// Whether any entry belongs to this question.
    pub fn has_question(&self, id: &str) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached("SELECT 1 FROM entries WHERE question = ? LIMIT 1")
            .and_then(|mut query| query.exists([id]))
            .map_err(self.failed("read"))
    }

    /// All entries of each question that was asked at `since_ms` or later and has no entry of the
    /// kind `closed`; the question that was asked first comes first.
    pub fn open_questions(&self, since_ms: i64) -> Result<Vec<Vec<Entry>>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM open_questions q CROSS JOIN entries e ON e.question = q.question
             WHERE q.at_ms >= ? ORDER BY q.first, e.seq"
        );
        Ok(by_question(self.query(&query, [since_ms])?))
    }

    /// All entries of each of the `limit` questions that were closed last; the one that was closed
    /// last comes first.
    pub fn recently_closed(&self, limit: usize) -> Result<Vec<Vec<Entry>>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM entries e JOIN (
                 SELECT question, seq AS last FROM entries closed
                 WHERE kind = 'closed' AND question IS NOT NULL AND NOT EXISTS (
                     SELECT 1 FROM entries later WHERE later.question = closed.question
                     AND later.kind = 'closed' AND later.seq > closed.seq)
                 ORDER BY seq DESC LIMIT ?
             ) q ON e.question = q.question ORDER BY q.last DESC, e.seq"
        );
        Ok(by_question(self.query(&query, [i64::try_from(limit).unwrap_or(i64::MAX)])?))
    }

    fn wanted(
        &self,
        mut wanted: Wanted,
        order: &str,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let limit = wanted.number(i64::try_from(limit).unwrap_or(i64::MAX));
        let conditions = wanted.conditions.join(" AND ");
        let query = format!(
            "SELECT {COLUMNS} FROM entries e WHERE {conditions} ORDER BY e.seq {order} LIMIT {limit}"
        );
        self.query(&query, params_from_iter(wanted.values))
    }

    fn query(&self, query: &str, values: impl Params) -> Result<Vec<Entry>, StoreError> {
        let mut statement = self.connection.prepare_cached(query).map_err(self.failed("read"))?;
        let entries = statement.query_map(values, entry).and_then(Iterator::collect);
        entries.map_err(self.failed("read"))
    }
}

fn by_question(entries: Vec<Entry>) -> Vec<Vec<Entry>> {
    let mut questions: Vec<Vec<Entry>> = Vec::new();
    for entry in entries {
        match questions.last_mut() {
            Some(same) if same[0].question == entry.question => same.push(entry),
            _ => questions.push(vec![entry]),
        }
    }
    questions
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        seq: ledger::unsigned(row, 0)?,
        at_ms: row.get(1)?,
        kind: row.get(2)?,
        question: row.get(3)?,
        body: row.get(4)?,
        hash: row.get(5)?,
    })
}

/// A filter as SQL: conditions that all have to hold, and what stands for their `?1`, `?2`, ...
struct Wanted {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Wanted {
    fn new(filter: &Filter) -> Self {
        let Filter { kinds, question, since_ms, until_ms, text, members } = filter;
        let mut wanted = Self { conditions: vec!["true".to_owned()], values: Vec::new() };
        if !kinds.is_empty() {
            let kinds: Vec<String> = kinds.iter().map(|kind| wanted.text(kind)).collect();
            wanted.and(format!("e.kind IN ({})", kinds.join(", ")));
        }
        if let Some(question) = question {
            let question = wanted.text(question);
            wanted.and(format!("e.question = {question}"));
        }
        if let Some(since) = since_ms {
            let since = wanted.number(*since);
            wanted.and(format!("e.at_ms >= {since}"));
        }
        if let Some(until) = until_ms {
            let until = wanted.number(*until);
            wanted.and(format!("e.at_ms < {until}"));
        }
        if let Some(text) = text {
            let text = wanted.text(text);
            wanted.and(format!(
                "EXISTS (SELECT 1 FROM json_tree(iif(json_valid(e.body), e.body, '{{}}'))
                         WHERE instr(lower(atom), lower({text})) > 0)"
            ));
        }
        for (name, member) in members {
            wanted.and_member(name, member);
        }
        wanted
    }

    fn text(&mut self, text: &str) -> String {
        self.value(Value::Text(text.to_owned()))
    }

    fn number(&mut self, number: i64) -> String {
        self.value(Value::Integer(number))
    }

    /// Takes a value and gives what stands for it.
    fn value(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }

    fn and(&mut self, condition: String) {
        self.conditions.push(condition);
    }

    /// A member counts for all entries of its question: what was asked and what was decided
    /// stand in different ones.
    fn and_member(&mut self, name: &str, member: &Member) {
        let (Member::Is(value) | Member::Begins(value) | Member::Within(value)) = member;
        let (name, value) = (self.text(&format!("$.\"{name}\"")), self.text(value));
        let has = |entry: &str| {
            let body = format!("{entry}.body");
            let text = format!("json_extract({body}, {name})");
            let is = match member {
                Member::Is(_) => format!("{text} = {value} COLLATE NOCASE"),
                Member::Begins(_) => format!("substr({text}, 1, length({value})) = {value}"),
                Member::Within(_) => format!(
                    "instr('/' || trim({text}, '/') || '/', '/' || trim({value}, '/') || '/') > 0"
                ),
            };
            format!("iif(json_valid({body}), json_type({body}, {name}) = 'text' AND {is}, false)")
        };
        let (own, of_another) = (has("e"), has("o"));
        self.and(format!(
            "({own} OR EXISTS
                 (SELECT 1 FROM entries o WHERE o.question = e.question AND {of_another}))"
        ));
    }
}
