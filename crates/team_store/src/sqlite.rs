//! The team's store in a SQLite file, for one team desk.

mod audit_rows;
mod questions;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use callgate_link::sync::lock;
use callgate_store::{ChainHead, FileIdentity, StoreError, open_database};
use callgate_wire::approval::RequestId;
use rusqlite::{
    Connection, OptionalExtension, Params, Row, Transaction, TransactionBehavior, params,
};

use crate::audit::{AuditChain, AuditChainReport, AuditCopy, AuditProtection, AuditRecord};
use crate::audit_query::AuditFilter;
use crate::columns::{DOCUMENT_COLUMNS, QUESTION_COLUMNS};
use crate::document::{DocumentEdit, DocumentKind, EditReceipt, TeamDocument};
use crate::error::{TeamResult, TeamStoreError};
use crate::limits::{MOST_PENDING, MOST_ROWS, check_name, check_text};
use crate::question::{AnswerReceipt, AskReceipt, QuestionNote, TeamAnswer, TeamAsk, TeamQuestion};
use crate::{TeamChange, TeamStore, TeamStoreStatus};

/// The application id in the file's header.
const APPLICATION: i64 = 0x4347_746d;
/// The migrations from an empty file. A released step is never changed.
const STEPS: [&str; 2] = [include_str!("sqlite/v1.sql"), include_str!("sqlite/v2.sql")];
/// The time, in milliseconds since 1970.
const NOW: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/// The number of the next change. The newest change is never removed.
const NEXT: &str = "(SELECT 1 + max(coalesce((SELECT max(changed) FROM questions), 0),
     coalesce((SELECT max(changed) FROM documents), 0)))";

/// The team's store in a SQLite file. Only one process uses it.
#[derive(Debug)]
pub struct SqliteTeamStore {
    connection: Connection,
    path: PathBuf,
    file: FileIdentity,
    desk: String,
    kept_days: u32,
    signal: Arc<ChangeSignal>,
    /// The rows that lists have left out.
    unread: Vec<String>,
}

/// Wakes those who wait for changes of a file.
#[derive(Debug, Default)]
struct ChangeSignal {
    /// How many transactions have changed something.
    count: Mutex<u64>,
    changed: Condvar,
}

impl SqliteTeamStore {
    /// Opens the file, and creates it if it does not exist. `desk` names the chain of this desk;
    /// audit entries and closed questions are kept for `kept_days`.
    pub fn open(path: &Path, desk: &str, kept_days: u32) -> TeamResult<Self> {
        check_name("the name of a desk", desk)?;
        Self::open_with(path, desk, kept_days, Arc::default())
    }

    fn open_with(
        path: &Path,
        desk: &str,
        kept_days: u32,
        signal: Arc<ChangeSignal>,
    ) -> TeamResult<Self> {
        let (connection, path) = open_database(path, APPLICATION, &STEPS)?;
        // Those who wait for an answer are on other machines, and go on when this one loses power.
        connection
            .pragma_update(None, "synchronous", "FULL")
            .map_err(|error| StoreError::sqlite(&path, "open", error))?;
        let file = FileIdentity::for_path(&path)?;
        let (desk, unread) = (desk.to_owned(), Vec::new());
        Ok(Self { connection, path, file, desk, kept_days, signal, unread })
    }

    /// Runs `work` in a transaction in which nobody else writes, and wakes those who wait for
    /// changes. The transaction is rolled back if `work` fails.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &str) -> TeamResult<T>,
    ) -> TeamResult<T> {
        // What is written to a removed file is lost.
        self.file.check_unchanged()?;
        let failed = |error| StoreError::sqlite(&self.path, "write to", error);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let done = work(&transaction, &self.desk).map_err(|error| with_path(error, &self.path))?;
        transaction.commit().map_err(failed)?;
        // Before the commit, those who are woken would see nothing.
        *lock(&self.signal.count) += 1;
        self.signal.changed.notify_all();
        Ok(done)
    }

    /// Runs `work` in a transaction that sees one state of the file.
    fn read<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> TeamResult<T>) -> TeamResult<T> {
        let failed = |error| StoreError::sqlite(&self.path, "read", error);
        self.file.check_unchanged()?;
        let view = self.connection.transaction().map_err(failed)?;
        work(&view).map_err(|error| with_path(error, &self.path))
    }
}

impl SqliteTeamStore {
    /// Reads a list, and remembers what was left out of it.
    fn list<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &mut Vec<String>) -> TeamResult<T>,
    ) -> TeamResult<T> {
        let mut unread = Vec::new();
        let found = self.read(|view| work(view, &mut unread))?;
        self.unread.extend(unread);
        self.unread.truncate(MOST_ROWS);
        Ok(found)
    }
}

/// Puts the path of the file into an error of SQLite, which has none.
fn with_path(error: TeamStoreError, path: &Path) -> TeamStoreError {
    match error {
        TeamStoreError::File(StoreError::Sqlite { doing, source, .. }) => {
            StoreError::sqlite(path, doing, source).into()
        }
        error => error,
    }
}

impl From<rusqlite::Error> for TeamStoreError {
    fn from(source: rusqlite::Error) -> Self {
        StoreError::Sqlite { doing: "use", path: PathBuf::new(), source }.into()
    }
}

impl TeamStore for SqliteTeamStore {
    fn connect_again(&self) -> TeamResult<Box<dyn TeamStore>> {
        let signal = Arc::clone(&self.signal);
        Ok(Box::new(Self::open_with(&self.path, &self.desk, self.kept_days, signal)?))
    }

    fn ask_question(&mut self, ask: &TeamAsk) -> TeamResult<AskReceipt> {
        ask.check()?;
        self.write(|transaction, desk| questions::ask(transaction, desk, ask))
    }

    fn answer_question(&mut self, answer: &TeamAnswer) -> TeamResult<AnswerReceipt> {
        answer.check()?;
        self.write(|transaction, desk| questions::answer(transaction, desk, answer))
    }

    fn withdraw_question(
        &mut self,
        machine: &str,
        question: &RequestId,
        text: &str,
    ) -> TeamResult<Option<TeamQuestion>> {
        check_text("the end of a question", text)?;
        self.write(|transaction, desk| {
            questions::withdraw(transaction, desk, machine, question.as_str(), text)
        })
    }

    fn note_question(
        &mut self,
        question: &RequestId,
        note: &QuestionNote,
    ) -> TeamResult<Option<TeamQuestion>> {
        note.check()?;
        self.write(|transaction, desk| questions::note(transaction, desk, question.as_str(), note))
    }

    fn expire_questions(&mut self) -> TeamResult<Vec<TeamQuestion>> {
        let due = self.read(|view| questions::find_due(view))?;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|transaction, desk| questions::expire(transaction, desk, &due))
    }

    fn find_question(&mut self, id: &RequestId) -> TeamResult<Option<TeamQuestion>> {
        self.read(|view| rows::find_question(view, id.as_str()))
    }

    fn open_questions(&mut self) -> TeamResult<Vec<TeamQuestion>> {
        let query = format!(
            "SELECT {QUESTION_COLUMNS}, {NOW} FROM questions WHERE state = 'open' ORDER BY changed
             LIMIT {MOST_PENDING}"
        );
        self.list(|view, unread| rows::read_questions(view, unread, &query, []))
    }

    fn pending_questions(&mut self, machine: Option<&str>) -> TeamResult<Vec<TeamQuestion>> {
        let query = format!(
            "SELECT {QUESTION_COLUMNS}, {NOW} FROM questions
             WHERE (state = 'open' OR (state = 'answered' AND outcome IS NULL))
             AND machine = coalesce(?, machine) ORDER BY changed LIMIT {MOST_PENDING}"
        );
        self.list(|view, unread| rows::read_questions(view, unread, &query, [machine]))
    }

    fn edit_document(&mut self, edit: &DocumentEdit) -> TeamResult<EditReceipt> {
        edit.check()?;
        self.write(|transaction, desk| {
            let write = format!(
                "INSERT INTO documents ({DOCUMENT_COLUMNS})
                 SELECT ?1, ?2, ?3 + 1, ?4, ?5, ?6, {NOW}, {NEXT}
                 WHERE ?3 = coalesce(
                     (SELECT version FROM documents WHERE kind = ?1 AND name = ?2), 0)
                 ON CONFLICT (kind, name) DO UPDATE SET version = excluded.version,
                     body = excluded.body, edit_id = excluded.edit_id,
                     edited_by = excluded.edited_by, edited_ms = excluded.edited_ms,
                     changed = excluded.changed"
            );
            let DocumentEdit { kind, name, id, by, body, .. } = edit;
            let replaced = edit.replaced_version();
            let values = params![kind.name(), name, replaced, body, id.as_str(), by];
            let is_written = transaction.prepare_cached(&write)?.execute(values)? == 1;
            let found = rows::find_document(transaction, *kind, name)?;
            match found {
                Some(document) if is_written => {
                    audit_rows::append_own(transaction, desk, document.audit_entry())?;
                    Ok(EditReceipt::Recorded(document))
                }
                found => Ok(edit.receipt_for(found)),
            }
        })
    }

    fn find_document(
        &mut self,
        kind: DocumentKind,
        name: &str,
    ) -> TeamResult<Option<TeamDocument>> {
        self.read(|view| rows::find_document(view, kind, name))
    }

    fn list_documents(&mut self, kind: DocumentKind) -> TeamResult<Vec<TeamDocument>> {
        let query = format!(
            "SELECT {DOCUMENT_COLUMNS} FROM documents WHERE kind = ? AND body IS NOT NULL
             ORDER BY name"
        );
        self.list(|view, unread| rows::read_documents(view, unread, &query, [kind.name()]))
    }

    fn last_change(&mut self) -> TeamResult<u64> {
        let last = self.read(|view| {
            let last = view.query_row(&format!("SELECT {NEXT} - 1"), [], |row| row.get(0));
            Ok(last.map_err(|error| StoreError::sqlite(Path::new(""), "read", error))?)
        })?;
        Ok(i64::cast_unsigned(last))
    }

    fn read_clock(&mut self) -> TeamResult<i64> {
        self.read(|view| Ok(view.query_row(&format!("SELECT {NOW}"), [], |row| row.get(0))?))
    }

    fn changes_after(&mut self, after: u64) -> TeamResult<Vec<TeamChange>> {
        let after = crate::audit::sql_number(after);
        let questions = format!(
            "SELECT {QUESTION_COLUMNS}, {NOW} FROM questions WHERE changed > ? ORDER BY changed
             LIMIT {MOST_ROWS}"
        );
        let documents = format!(
            "SELECT {DOCUMENT_COLUMNS} FROM documents WHERE changed > ? ORDER BY changed
             LIMIT {MOST_ROWS}"
        );
        let (questions, documents) = self.list(|view, unread| {
            let questions = rows::read_questions(view, unread, &questions, [after])?;
            Ok((questions, rows::read_documents(view, unread, &documents, [after])?))
        })?;
        Ok(crate::order_changes(questions, documents))
    }

    fn wait_for_changes(&mut self, after: u64, limit: Duration) -> TeamResult<Vec<TeamChange>> {
        let deadline = Instant::now() + limit;
        let signal = Arc::clone(&self.signal);
        loop {
            // Before the look, so that nothing that is written after it is missed.
            let seen = *lock(&signal.count);
            let changes = self.changes_after(after)?;
            let left = deadline.saturating_duration_since(Instant::now());
            if !changes.is_empty() || left.is_zero() {
                return Ok(changes);
            }
            let count = lock(&signal.count);
            drop(signal.changed.wait_timeout_while(count, left, |count| *count == seen));
        }
    }

    fn take_unread(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unread)
    }

    fn copy_entries(
        &mut self,
        machine: &str,
        after: ChainHead,
        copies: &[AuditCopy],
    ) -> TeamResult<ChainHead> {
        crate::audit::check_copies(machine, after, copies)?;
        self.write(|transaction, _| audit_rows::copy_entries(transaction, machine, after, copies))
    }

    fn chain_heads(&mut self, machine: Option<&str>) -> TeamResult<Vec<AuditChain>> {
        self.read(|view| audit_rows::read_chain_heads(view, machine))
    }

    fn chain_entries(&mut self, chain: &str, after: u64) -> TeamResult<Vec<AuditRecord>> {
        self.read(|view| audit_rows::read_chain_entries(view, chain, after))
    }

    fn search_audit(&mut self, filter: &AuditFilter) -> TeamResult<Vec<AuditRecord>> {
        self.read(|view| audit_rows::search(view, filter))
    }

    fn verify_chain(&mut self, machine: &str) -> TeamResult<Option<AuditChainReport>> {
        self.read(|view| audit_rows::verify(view, machine))
    }

    fn set_kept_days(&mut self, days: u32) -> TeamResult<Option<u32>> {
        let before = std::mem::replace(&mut self.kept_days, days);
        Ok(Some(before).filter(|before| *before != days))
    }

    fn tend_audit(&mut self) -> TeamResult<()> {
        let kept_days = self.kept_days;
        self.write(|transaction, _| audit_rows::remove_old(transaction, kept_days))
    }

    fn read_status(&mut self) -> TeamResult<TeamStoreStatus> {
        let kept_days = self.kept_days;
        self.read(|view| {
            let size = |query| view.query_row(query, [], |row| row.get::<_, i64>(0));
            let bytes = size("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")?;
            // An estimate: SQLite does not know the pages of one table without reading them all.
            let audit = size(
                "SELECT coalesce(sum(length(body) + 200), 0) FROM (SELECT body FROM audit LIMIT 1000)",
            )?;
            let sample = size("SELECT count(*) FROM (SELECT 1 FROM audit LIMIT 1000)")?.max(1);
            let entries = size("SELECT coalesce(sum(head_seq - start_seq), 0) FROM chains")?;
            let audit_bytes = (audit / sample * entries).min(bytes);
            let of_day = size(
                "SELECT count(*) FROM audit
                 WHERE recorded_ms / 86400000 = unixepoch() / 86400 - 1",
            )?;
            let day_bytes = Some(audit / sample * of_day).filter(|bytes| *bytes > 0);
            Ok(TeamStoreStatus {
                bytes: bytes.unsigned_abs(),
                audit_bytes: audit_bytes.unsigned_abs(),
                day_bytes: day_bytes.map(i64::unsigned_abs),
                kept_days,
                // The desk owns the file. Its triggers refuse, but whoever owns it can remove them.
                protection: AuditProtection::Nobody,
            })
        })
    }
}

fn select<T>(
    connection: &Connection,
    query: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> TeamResult<Vec<T>> {
    let mut query = connection.prepare_cached(query)?;
    let rows = query.query_map(values, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn select_one<T>(
    connection: &Connection,
    query: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> TeamResult<Option<T>> {
    Ok(connection.prepare_cached(query)?.query_row(values, read).optional()?)
}
