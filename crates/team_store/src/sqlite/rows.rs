//! Questions and documents as rows of SQLite.

use rusqlite::{Connection, Params};

use super::{NOW, audit_rows, select, select_one};
use crate::columns::{DOCUMENT_COLUMNS, QUESTION_COLUMNS};
use crate::document::{DocumentKind, DocumentRow, TeamDocument};
use crate::error::{TeamResult, TeamStoreError};
use crate::question::{QuestionChange, QuestionRow, TeamQuestion};

/// Records a change of a question in the audit log, and returns the question.
pub(super) fn record_question(
    connection: &Connection,
    desk: &str,
    id: &str,
    change: QuestionChange,
) -> TeamResult<TeamQuestion> {
    let found = find_question(connection, id)?;
    let question = found.ok_or(TeamStoreError::Damaged { what: "a question" })?;
    audit_rows::append_own(connection, desk, question.audit_entry(change))?;
    Ok(question)
}

pub(super) fn find_question(connection: &Connection, id: &str) -> TeamResult<Option<TeamQuestion>> {
    let query = format!("SELECT {QUESTION_COLUMNS}, {NOW} FROM questions WHERE id = ?");
    select_one(connection, &query, [id], QuestionRow::from_sqlite)?
        .map(QuestionRow::read)
        .transpose()
}

pub(super) fn read_questions(
    connection: &Connection,
    query: &str,
    values: impl Params,
) -> TeamResult<Vec<TeamQuestion>> {
    let rows = select(connection, query, values, QuestionRow::from_sqlite)?;
    rows.into_iter().map(QuestionRow::read).collect()
}

pub(super) fn find_document(
    connection: &Connection,
    kind: DocumentKind,
    name: &str,
) -> TeamResult<Option<TeamDocument>> {
    let query = format!("SELECT {DOCUMENT_COLUMNS} FROM documents WHERE kind = ? AND name = ?");
    let found = select_one(connection, &query, [kind.name(), name], DocumentRow::from_sqlite)?;
    found.map(DocumentRow::read).transpose()
}

pub(super) fn read_documents(
    connection: &Connection,
    query: &str,
    values: impl Params,
) -> TeamResult<Vec<TeamDocument>> {
    let rows = select(connection, query, values, DocumentRow::from_sqlite)?;
    rows.into_iter().map(DocumentRow::read).collect()
}
