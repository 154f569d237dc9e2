//! Questions and documents as rows of the server.

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::audit_rows;
use super::database_link::ServerSession;
use super::faults::ServerFault;
use super::statements;
use crate::audit::AuditProtection;
use crate::document::{DocumentRow, TeamDocument};
use crate::error::TeamStoreError;
use crate::question::{QuestionChange, QuestionRow, TeamQuestion};
use crate::{TeamChange, TeamStoreStatus};

/// Begins a transaction in which nobody else changes questions or documents, so that changes have
/// the order of their numbers.
const BEGIN: &str = "BEGIN; SELECT pg_advisory_xact_lock(7021, 2)";

/// What a transaction is about to change.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Does `write`, which returns the columns of the changed question, and records the change in the
/// chain of `desk`. Returns `None` if it changed nothing.
pub(super) async fn change_question(
    session: &mut ServerSession,
    desk: &str,
    (change, write): (QuestionChange, &'static str),
    values: Values<'_>,
) -> Result<Option<TeamQuestion>, ServerFault> {
    let statement = session.prepare(write).await?;
    session.client.batch_execute(BEGIN).await?;
    let Some(row) = session.client.query_opt(&statement, values).await? else {
        session.client.batch_execute("ROLLBACK").await?;
        return Ok(None);
    };
    let question = read_question(&row)?;
    audit_rows::append_and_commit(session, desk, question.audit_entry(change)).await?;
    session.mark_seen(question.changed);
    Ok(Some(question))
}

/// Does the same with a document.
pub(super) async fn change_document(
    session: &mut ServerSession,
    desk: &str,
    write: &'static str,
    values: Values<'_>,
) -> Result<Option<TeamDocument>, ServerFault> {
    let statement = session.prepare(write).await?;
    session.client.batch_execute(BEGIN).await?;
    let Some(row) = session.client.query_opt(&statement, values).await? else {
        session.client.batch_execute("ROLLBACK").await?;
        return Ok(None);
    };
    let document = read_document(&row)?;
    audit_rows::append_and_commit(session, desk, document.audit_entry()).await?;
    session.mark_seen(document.changed);
    Ok(Some(document))
}

pub(super) async fn read_questions(
    session: &mut ServerSession,
    query: &'static str,
    values: Values<'_>,
) -> Result<Vec<TeamQuestion>, ServerFault> {
    let statement = session.prepare(query).await?;
    let rows = session.client.query(&statement, values).await?;
    let found: Vec<TeamQuestion> = rows.iter().map(read_question).collect::<Result<_, _>>()?;
    found.iter().map(|question| question.changed).max().inspect(|last| session.mark_seen(*last));
    Ok(found)
}

pub(super) async fn read_documents(
    session: &mut ServerSession,
    query: &'static str,
    values: Values<'_>,
) -> Result<Vec<TeamDocument>, ServerFault> {
    let statement = session.prepare(query).await?;
    let rows = session.client.query(&statement, values).await?;
    let found: Vec<TeamDocument> = rows.iter().map(read_document).collect::<Result<_, _>>()?;
    found.iter().map(|document| document.changed).max().inspect(|last| session.mark_seen(*last));
    Ok(found)
}

fn read_question(row: &Row) -> Result<TeamQuestion, TeamStoreError> {
    let row = QuestionRow {
        id: row.get(0),
        machine: row.get(1),
        project: row.get(2),
        agent: row.get(3),
        act: row.get(4),
        asked_ms: row.get(5),
        deadline_ms: row.get(6),
        state: row.get(7),
        closed_ms: row.get(8),
        closed_text: row.get(9),
        last_words: row.get(10),
        first_allow: row.get(11),
        answer_id: row.get(12),
        answered_by: row.get(13),
        decision: row.get(14),
        answer: row.get(15),
        outcome: row.get(16),
        changed: row.get(17),
        now_ms: row.get(18),
    };
    row.read()
}

fn read_document(row: &Row) -> Result<TeamDocument, TeamStoreError> {
    let row = DocumentRow {
        kind: row.get(0),
        name: row.get(1),
        version: row.get(2),
        body: row.get(3),
        edit_id: row.get(4),
        edited_by: row.get(5),
        edited_ms: row.get(6),
        changed: row.get(7),
    };
    row.read()
}

/// Reads changes of both kinds in one view, so that none between them is missed.
pub(super) async fn read_changes(
    session: &mut ServerSession,
    after: u64,
) -> Result<Vec<TeamChange>, ServerFault> {
    let after = crate::audit::sql_number(after);
    session.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let questions = read_questions(session, statements::CHANGED_QUESTIONS, &[&after]).await?;
    let documents = read_documents(session, statements::CHANGED_DOCUMENTS, &[&after]).await?;
    session.client.batch_execute("ROLLBACK").await?;
    Ok(crate::order_changes(questions, documents))
}

pub(super) async fn read_status(
    session: &mut ServerSession,
) -> Result<TeamStoreStatus, ServerFault> {
    let row = session.client.query_one(statements::STATUS, &[]).await?;
    let unsigned = |number: i64| u64::try_from(number).unwrap_or_default();
    let protection = match (row.get(3), row.get(4)) {
        (false, _) => AuditProtection::Login,
        (true, false) => AuditProtection::Role,
        (true, true) => AuditProtection::Nobody,
    };
    Ok(TeamStoreStatus {
        bytes: unsigned(row.get(0)),
        audit_bytes: unsigned(row.get(1)),
        day_bytes: row.get::<_, Option<i64>>(5).map(unsigned),
        kept_days: u32::try_from(row.get::<_, i32>(2)).unwrap_or_default(),
        protection,
    })
}
