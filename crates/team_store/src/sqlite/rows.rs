//! Questions and documents as rows of SQLite.

use rusqlite::{Connection, Params, Row};

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
    select_one(connection, &query, [id], question_row)?.map(QuestionRow::read).transpose()
}

pub(super) fn read_questions(
    connection: &Connection,
    query: &str,
    values: impl Params,
) -> TeamResult<Vec<TeamQuestion>> {
    let rows = select(connection, query, values, question_row)?;
    rows.into_iter().map(QuestionRow::read).collect()
}

pub(super) fn find_document(
    connection: &Connection,
    kind: DocumentKind,
    name: &str,
) -> TeamResult<Option<TeamDocument>> {
    let query = format!("SELECT {DOCUMENT_COLUMNS} FROM documents WHERE kind = ? AND name = ?");
    let found = select_one(connection, &query, [kind.name(), name], document_row)?;
    found.map(DocumentRow::read).transpose()
}

pub(super) fn read_documents(
    connection: &Connection,
    query: &str,
    values: impl Params,
) -> TeamResult<Vec<TeamDocument>> {
    let rows = select(connection, query, values, document_row)?;
    rows.into_iter().map(DocumentRow::read).collect()
}

fn question_row(row: &Row<'_>) -> rusqlite::Result<QuestionRow> {
    Ok(QuestionRow {
        id: row.get(0)?,
        machine: row.get(1)?,
        project: row.get(2)?,
        agent: row.get(3)?,
        act: row.get(4)?,
        asked_ms: row.get(5)?,
        deadline_ms: row.get(6)?,
        state: row.get(7)?,
        closed_ms: row.get(8)?,
        closed_text: row.get(9)?,
        last_words: row.get(10)?,
        first_allow: row.get(11)?,
        answer_id: row.get(12)?,
        answered_by: row.get(13)?,
        decision: row.get(14)?,
        answer: row.get(15)?,
        outcome: row.get(16)?,
        changed: row.get(17)?,
        now_ms: row.get(18)?,
    })
}

fn document_row(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    Ok(DocumentRow {
        kind: row.get(0)?,
        name: row.get(1)?,
        version: row.get(2)?,
        body: row.get(3)?,
        edit_id: row.get(4)?,
        edited_by: row.get(5)?,
        edited_ms: row.get(6)?,
        changed: row.get(7)?,
    })
}
