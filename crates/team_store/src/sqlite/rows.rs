//! Questions and documents as rows of SQLite.

use rusqlite::{Connection, Params};

use super::{NOW, audit_rows, select, select_one};
use crate::columns::{DOCUMENT_COLUMNS, QUESTION_COLUMNS};
use crate::document::{DocumentKind, DocumentRow, TeamDocument, document_name};
use crate::error::{TeamResult, TeamStoreError};
use crate::question::{QuestionChange, QuestionRow, TeamQuestion, question_name};

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

/// Reads questions, and notes those that cannot be read in `unread`.
pub(super) fn read_questions(
    connection: &Connection,
    unread: &mut Vec<String>,
    query: &str,
    values: impl Params,
) -> TeamResult<Vec<TeamQuestion>> {
    let rows = select(connection, query, values, QuestionRow::from_sqlite)?;
    let read = |row: QuestionRow| {
        let name = question_name(&row.id);
        row.read().map_err(|_| unread.push(name)).ok()
    };
    Ok(rows.into_iter().filter_map(read).collect())
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

/// Reads documents, and notes those that cannot be read in `unread`.
pub(super) fn read_documents(
    connection: &Connection,
    unread: &mut Vec<String>,
    query: &str,
    values: impl Params,
) -> TeamResult<Vec<TeamDocument>> {
    let rows = select(connection, query, values, DocumentRow::from_sqlite)?;
    let read = |row: DocumentRow| {
        let name = document_name(&row.kind, &row.name);
        row.read().map_err(|_| unread.push(name)).ok()
    };
    Ok(rows.into_iter().filter_map(read).collect())
}
